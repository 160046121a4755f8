"""What several tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def cases() -> Path:
    """The worked cases: made-up logs, each with the right values beside it."""
    return HERE / "cases"
