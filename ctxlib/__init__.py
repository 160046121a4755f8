"""Where does a coding agent's context go? Accounting and log-scan rules, for notebooks, reports and tests.

    import ctxlib as ctx
    logs = ctx.scan()                    # ~/.claude/projects and the others that exist; or roots, since, until, project
    ctx.sessions_df(logs)                # and calls_df, blocks_df, compactions_df, curves_df, rereads_df, tools_df, ...
    ctx.snapshot(logs, session="3ee1", turn=42)

Names are imported when first used, so that a command pays only for what it needs (pandas alone costs a quarter second).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "ctxlib.logs": ("Logs", "scan"),
    "ctxlib.parameters": ("open_logs",),
    "ctxlib.rules.blocks": ("blocks_df", "notes_df"),
    "ctxlib.rules.cache": ("cache_df",),
    "ctxlib.rules.compactions": ("compactions_df",),
    "ctxlib.rules.curves": ("calls_df", "curves_df", "sessions_df"),
    "ctxlib.accounting.rent": ("rent_df",),
    "ctxlib.rules.rebuilds": ("rebuilds_df",),
    "ctxlib.rules.rereads": ("rereads_df",),
    "ctxlib.rules.tools": ("tools_df",),
    "ctxlib.accounting.calibrate": ("fits_df",),
    "ctxlib.accounting.ground_truth": ("truths_df",),
    "ctxlib.accounting.snapshot": ("snapshots_df",),
    "ctxlib.accounting.told": ("stage_view", "told_snapshots", "told_snapshots_df"),
    "ctxlib.accounting.contract": ("Snapshot", "compose", "unnested"),
    "ctxlib.accounting.moment": ("counted_snapshots", "snapshot"),
    "ctxlib.findings": ("findings_df",),
    "ctxlib.readout": ("detail",),
    "ctxlib.accounting.kinds": ("kinds_df",),
    "ctxlib.rules.regrowth": ("regrowth_curves_df", "regrowth_df"),
    "ctxlib.rules.spend": ("spend_df",),
    "ctxlib.accounting.drift": ("drift_df",),
    "ctxlib.accounting.residents": ("residents_df",),
    "ctxlib.figures": (
        "plot_breakdown",
        "plot_compactions",
        "plot_curves",
        "plot_categories",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

if TYPE_CHECKING:
    from ctxlib.accounting.calibrate import fits_df
    from ctxlib.accounting.contract import Snapshot, compose, unnested
    from ctxlib.accounting.drift import drift_df
    from ctxlib.accounting.ground_truth import truths_df
    from ctxlib.accounting.kinds import kinds_df
    from ctxlib.accounting.moment import counted_snapshots, snapshot
    from ctxlib.accounting.rent import rent_df
    from ctxlib.accounting.residents import residents_df
    from ctxlib.accounting.snapshot import snapshots_df
    from ctxlib.accounting.told import stage_view, told_snapshots, told_snapshots_df
    from ctxlib.figures import plot_breakdown, plot_categories, plot_compactions, plot_curves
    from ctxlib.findings import findings_df
    from ctxlib.logs import Logs, scan
    from ctxlib.parameters import open_logs
    from ctxlib.readout import detail
    from ctxlib.rules.blocks import blocks_df, notes_df
    from ctxlib.rules.cache import cache_df
    from ctxlib.rules.compactions import compactions_df
    from ctxlib.rules.curves import calls_df, curves_df, sessions_df
    from ctxlib.rules.rebuilds import rebuilds_df
    from ctxlib.rules.regrowth import regrowth_curves_df, regrowth_df
    from ctxlib.rules.rereads import rereads_df
    from ctxlib.rules.spend import spend_df
    from ctxlib.rules.tools import tools_df

__all__ = [
    "Logs",
    "Snapshot",
    "blocks_df",
    "cache_df",
    "calls_df",
    "compactions_df",
    "compose",
    "counted_snapshots",
    "curves_df",
    "detail",
    "drift_df",
    "findings_df",
    "fits_df",
    "kinds_df",
    "notes_df",
    "open_logs",
    "plot_breakdown",
    "plot_categories",
    "plot_compactions",
    "plot_curves",
    "rebuilds_df",
    "regrowth_curves_df",
    "regrowth_df",
    "rent_df",
    "rereads_df",
    "residents_df",
    "scan",
    "sessions_df",
    "snapshot",
    "snapshots_df",
    "spend_df",
    "stage_view",
    "told_snapshots",
    "told_snapshots_df",
    "tools_df",
    "truths_df",
    "unnested",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'ctxlib' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})
