"""A wrong price, or $0 for an unknown one, makes every sum in USD of a report wrong without a trace."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlib.models import Price, listed, price, price_table, rates_at, read_overrides
from ctxlib.roots import cache_folder

BEFORE, AFTER = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)


def known(model: str, when: datetime = AFTER) -> Price:
    found = price(model, when=when)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("model", "prices"),
    [
        ("claude-sonnet-4-5-20250929", (3, 0.3, 3.75, 6, 15)),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", (1, 0.1, 1.25, 2, 5)),
        ("anthropic/claude-opus-4.6", (5, 0.5, 6.25, 10, 25)),
        ("claude-opus-4-8[1m]", (5, 0.5, 6.25, 10, 25)),
        ("claude-opus-4-1-20250805", (15, 1.5, 18.75, 30, 75)),
        ("claude-sonnet-4-20250514", (3, 0.3, 3.75, 6, 15)),
    ],
)
def test_the_list_prices_of_a_model(model: str, prices: tuple[float, ...]) -> None:
    found = known(model)
    assert (found.input, found.cache_read, found.cache_write_5m, found.cache_write_1h, found.output) == prices
    assert found.source.startswith("genai-prices ")
    assert found.derived == ()


@pytest.mark.parametrize(
    "model",
    [
        "opus-4",
        "opus-4-1",
        "opus-4-5",
        "opus-4-6",
        "opus-4-7",
        "opus-4-8",
        "opus-5",
        "sonnet-4",
        "sonnet-4-5",
        "sonnet-4-6",
        "sonnet-5",
        "haiku-4-5",
        "fable-5",
    ],
)
def test_the_list_agrees_with_the_rule_for_cache_prices(model: str) -> None:
    found = known(f"claude-{model}")
    assert found.cache_write_5m == pytest.approx(1.25 * found.input)
    assert found.cache_write_1h == pytest.approx(2 * found.input)
    assert found.cache_read == pytest.approx(0.1 * found.input)


@pytest.mark.parametrize(
    ("model", "read"), [("claude-opus-5-5", 0.2), ("claude-sonnet-5-5", 0.1), ("claude-3-haiku", 0.03)]
)
def test_the_lists_own_cache_price_wins_over_the_rule(model: str, read: float) -> None:
    assert known(model).cache_read == read != pytest.approx(0.1 * known(model).input)


def test_what_the_list_lacks_follows_the_rule_and_says_so() -> None:
    found = known("gpt-5.3-codex")
    assert (found.input, found.cache_read, found.output) == (1.75, 0.175, 14)
    assert found.cache_write_5m == pytest.approx(2.1875)
    assert found.cache_write_1h == pytest.approx(3.5)
    assert found.derived == ("cache_write_5m", "cache_write_1h")


def test_a_call_above_the_threshold_pays_the_premium_for_all_of_it() -> None:
    found = known("claude-sonnet-4-5")
    assert rates_at(found, 200_000) is found
    above = rates_at(found, 200_001)
    assert (above.input, above.cache_read, above.cache_write_5m, above.cache_write_1h, above.output) == (
        6,
        0.6,
        7.5,
        12,
        22.5,
    )


def test_the_threshold_is_the_lists_and_not_always_200k() -> None:
    found = known("gpt-5.4")
    assert [start for start, _ in found.tiers] == [272_000]
    assert rates_at(found, 250_000).input == 2.5
    assert rates_at(found, 300_000).input == 5


def test_the_price_is_that_of_the_day_of_the_call() -> None:
    assert rates_at(known("claude-opus-4-6", BEFORE), 300_000).input == 10
    assert rates_at(known("claude-opus-4-6", AFTER), 300_000).input == 5
    assert price("claude-opus-4-6") == known("claude-opus-4-6")


def test_fast_mode_is_never_sold_at_the_standard_price() -> None:
    assert known("claude-opus-4-8-fast").input == 10
    assert price("claude-opus-4-7-fast") is None


@pytest.mark.parametrize("model", ["", "<synthetic>", "claude-sonnet-99", "some-model", "gpt-99", "sonnet"])
def test_an_unknown_model_has_no_price_rather_than_none_to_pay(model: str) -> None:
    assert price(model) is None
    assert price_table([model]) == {model: None}


@settings(deadline=None)
@given(st.text(max_size=40))
def test_no_name_raises(name: str) -> None:
    found = price(name, when=AFTER)
    assert found is None or found.input >= 0


def test_a_table_keeps_the_names_it_was_asked_for() -> None:
    table = price_table(["claude-opus-4-8[1m]", "claude-opus-4.8", "nobody"], when=AFTER)
    assert list(table) == ["claude-opus-4-8[1m]", "claude-opus-4.8", "nobody"]
    assert table["claude-opus-4-8[1m]"] == table["claude-opus-4.8"] != table["nobody"]


def write(folder: Path, text: str) -> Path:
    path = folder / "models.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_users_own_price_wins_in_any_spelling(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        '[models."anthropic/claude-sonnet-4.5"]\ninput = 2\noutput = 8.5\ncache_read = 0.5\n'
        '[models."my-model"]\nwindow = 64000\n',
    )
    overrides = read_overrides(path)
    assert overrides == {
        "claude-sonnet-4-5": {"input": 2, "output": 8.5, "cache_read": 0.5},
        "my-model": {"window": 64000},
    }
    found = price("claude-sonnet-4-5-20250929", overrides=overrides)
    assert found == Price(2, 0.5, 2.5, 4, 8.5, "user file", ("cache_write_5m", "cache_write_1h"))
    assert price("my-model", overrides=overrides) is None
    assert known("claude-haiku-4-5") == price("claude-haiku-4-5", when=AFTER, overrides=overrides)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[models", "TOML"),
        ("[prices]\n", "prices"),
        ("models = 3\n", "models"),
        ("[models]\nx = 3\n", 'models."x"'),
        ('[models."x"]\ninput = "3"\noutput = 1\n', "input"),
        ('[models."x"]\ninput = -3\noutput = 1\n', "input"),
        ('[models."x"]\ninput = nan\noutput = 1\n', "input"),
        ('[models."x"]\ninput = true\noutput = 1\n', "input"),
        (f'[models."x"]\ninput = {10**400}\noutput = 1\n', "input"),
        ('[models."x"]\ninput = 3\n', "output is missing"),
        ('[models."x"]\ncache_read = 3\n', "input is missing"),
        ('[models."x"]\nprice = 3\n', "price"),
        ('[models."x"]\nwindow = 1.5\n', "window"),
        ('[models."x"]\nwindow = 0\n', "window"),
        ('[models."claude-opus-5"]\nwindow = 1\n[models."claude-5-opus"]\nwindow = 1\n', "claude-5-opus"),
    ],
)
def test_a_malformed_file_is_named_with_its_key(tmp_path: Path, text: str, key: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ValueError, match=r"models\.toml") as caught:
        read_overrides(path)
    assert key in str(caught.value)


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_bytes(b"\xff\xfe[\x00")
    with pytest.raises(ValueError, match=r"models\.toml"):
        read_overrides(path)


def test_the_list_is_not_loaded_before_a_price_is_asked_for() -> None:
    code = "import sys, ctxlib.models; sys.exit('genai_prices' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=False).returncode == 0


def test_the_list_that_comes_with_the_package_is_that_of_the_installed_version() -> None:
    """Else prices of yesterday, or none and a slow start. `make prices` renews it."""
    assert Path(listed.__file__).with_name("price-list.json").read_bytes() == listed.shipped()


def test_prices_of_claude_need_no_list_and_others_are_remembered(tmp_path: Path) -> None:
    """Importing the list takes longer than all else of a small question."""
    code = (
        "import sys; from ctxlib.models import price, remember; found = price(sys.argv[1]); remember();"
        "print(found, 'genai_prices' in sys.modules)"
    )

    def asking(model: str) -> str:
        argv = [sys.executable, "-c", code, model]
        return subprocess.run(argv, cwd=Path(__file__).parents[2], check=True, capture_output=True, text=True).stdout

    assert asking("claude-opus-4-6").endswith(" False\n")
    for model in ("gpt-5.1-codex", "nobody-knows-this-one"):
        first, again = asking(model), asking(model)
        assert first.endswith(" True\n")
        assert again == first.replace(" True\n", " False\n")


def test_a_remembered_list_of_another_version_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    file = cache_folder() / "price-list.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"list": "another", "models": {"gpt-5.1-codex": null}}')
    listed._memory.cache_clear()
    assert price("gpt-5.1-codex") is not None
    file.write_bytes(b"{ broken")
    listed._memory.cache_clear()
    assert price("gpt-5.1-codex") is not None
    listed._memory.cache_clear()


@given(
    st.sampled_from(["claude-opus-4-6", "claude-sonnet-4-6", "claude-opus-4-8-fast", "gpt-5.6-sol", "gpt-5.5"]),
    st.datetimes(datetime(2025, 1, 1), datetime(2027, 12, 31), timezones=st.just(UTC)),
)
@settings(max_examples=200, deadline=None)
def test_the_schedule_says_what_the_list_says_of_any_moment(model: str, when: datetime) -> None:
    found = listed._found(model)
    assert listed.listed_price(model, when) == (listed._price(found, model, when) if found else None)
