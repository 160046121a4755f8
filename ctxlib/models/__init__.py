"""What is known of models: their names in every spelling, list prices and context windows. Offline, always."""

from ctxlib.models.listed import Price, remember
from ctxlib.models.names import canonical, million_hint
from ctxlib.models.prices import Overrides, price, price_table, rates_at, read_overrides
from ctxlib.models.windows import decide, full_window, list_window

__all__ = [
    "Overrides",
    "Price",
    "canonical",
    "decide",
    "full_window",
    "list_window",
    "million_hint",
    "price",
    "price_table",
    "rates_at",
    "read_overrides",
    "remember",
]
