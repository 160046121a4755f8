"""Delta attribution on threads whose true token counts are known: everything adds up, and nothing is blamed wrongly."""

from __future__ import annotations

from typing import Any

import pytest

from ctxlib import snapshot
from ctxlib.accounting.replay import Method, attribution
from ctxlib.tables import BlockKind

PREFIX = 20_000  # tokens of system prompt and tools, which no log holds
RATE = 2.7  # characters a token of claude-sonnet-4-5, where too few rises fit one


class Thread:
    """A session whose context is counted in true tokens: each step says how many it adds."""

    def __init__(self, make: Any, **options: Any) -> None:
        self.make, self.s, self.ctx, self.n = make, make.Session(**options), PREFIX, 0

    def prompt(self, tokens: int) -> Thread:
        self.s.prompt("x" * round(tokens * RATE))
        self.ctx += tokens
        return self

    def answer(self, tokens: int, *blocks: Any, output: int | None = None, final: bool = True) -> Thread:
        """A call at the context so far, whose answer then takes `tokens`."""
        stop = "end_turn" if final else None
        self.s.call(self.ctx, *(blocks or (self.text(tokens),)), output=tokens if output is None else output, stop=stop)
        self.ctx += tokens
        return self

    def text(self, tokens: int) -> Any:
        return self.make.said("x" * round(tokens * RATE))

    def tool(self, tokens: int, chars: int | None = None, said: int = 40, content: Any = None) -> Thread:
        self.n += 1
        self.answer(said, self.make.use("Bash", f"t{self.n}", command="x" * round(said * RATE)))
        size = round(tokens * RATE) if chars is None else chars
        self.s.result(f"t{self.n}", "x" * size if content is None else content)
        self.ctx += tokens
        return self


def took(logs: Any, kind: BlockKind, method: Method | None = None) -> list[int]:
    found, blocks = attribution(logs), logs.blocks
    keep = blocks["kind"] == kind
    if method is not None:
        keep &= found.method == method
    return [round(tokens) for tokens in found.tokens[keep].tolist()]


def others(logs: Any, calls: int) -> list[int]:
    return [snapshot(logs, turn=turn).shown()["other"] for turn in range(1, calls + 1)]


def test_a_dense_result_takes_what_it_measured(make: Any, scanned: Any) -> None:
    """10,000 characters that were 6,000 tokens: the rise knows it, no constant does; other stays what it was."""
    logs = scanned(Thread(make).prompt(100).tool(6000, chars=10_000).answer(50).s)
    assert took(logs, BlockKind.TOOL_RESULT) == [6000]
    assert others(logs, 2) == [PREFIX, PREFIX]


def test_the_answer_takes_its_output_and_the_results_the_rest(make: Any, scanned: Any) -> None:
    logs = scanned(Thread(make).prompt(100).tool(300, said=500).prompt(200).answer(5).s)
    assert took(logs, BlockKind.TOOL_INPUT) == [500]
    assert took(logs, BlockKind.TOOL_RESULT) == [300]
    assert took(logs, BlockKind.USER_TEXT) == [100, 200]
    assert others(logs, 2) == [PREFIX, PREFIX]


def test_output_that_is_not_final_is_no_size(make: Any, scanned: Any) -> None:
    """Up to 2.1.49 the logged output is where the stream began (1 to 9 tokens): the answer is not that small."""
    t = Thread(make).prompt(100)
    t.answer(1000, output=3, final=False).prompt(1000).answer(50)
    logs = scanned(t.s)
    (answer, _) = took(logs, BlockKind.ASSISTANT_TEXT)
    assert answer == pytest.approx(1000, rel=0.02)
    assert others(logs, 2) == [PREFIX, PREFIX]


def test_hidden_thinking_is_thinking_and_no_tool_result(make: Any, scanned: Any) -> None:
    """A rise of 22,744 with 22,690 output and 2,000 visible characters (accounting.md)."""
    t = Thread(make).prompt(100)
    t.answer(22_690, make.thought("", "c" * 4000), make.use("Bash", "t1", command="x" * 2000))
    t.s.result("t1", "x" * 146)
    t.ctx += 54
    t.answer(50)
    logs = scanned(t.s)
    assert took(logs, BlockKind.TOOL_RESULT) == [54]
    (thinking,) = took(logs, BlockKind.THINKING)
    assert thinking == pytest.approx(22_690 - 2000 / RATE, abs=10)


def test_an_unexplained_rise_is_injected_and_not_the_results(make: Any, scanned: Any) -> None:
    """Schemas loaded on demand arrive with no block: 9,000 tokens are not a small result's."""
    t = Thread(make).prompt(100).tool(60)
    t.ctx += 9000
    t.answer(50)
    logs = scanned(t.s)
    assert took(logs, BlockKind.TOOL_RESULT) == [60]
    assert others(logs, 2) == [PREFIX, PREFIX + 9000]
    assert snapshot(logs, turn=2).injected == pytest.approx(9000, abs=2)


def test_a_rise_without_any_block_is_injected(make: Any, scanned: Any) -> None:
    t = Thread(make).prompt(100).answer(50)
    t.ctx += 700
    t.answer(50)
    logs = scanned(t.s)
    assert snapshot(logs, turn=2).injected == pytest.approx(700, abs=2)
    assert others(logs, 2) == [PREFIX, PREFIX + 700]


def test_a_document_takes_its_rise(make: Any, scanned: Any) -> None:
    """Nothing else sizes a PDF; 30,000 tokens of it are not injected, nor the prompt's."""
    t = Thread(make).prompt(100).answer(50)
    pdf = {"type": "document", "source": {"type": "base64", "data": "JVBE"}}
    t.s.prompt([pdf, t.text(200)])
    t.ctx += 30_200
    t.answer(50)
    logs = scanned(t.s)
    assert took(logs, BlockKind.DOCUMENT)[0] == pytest.approx(30_000, rel=0.02)
    assert snapshot(logs, turn=2).injected == 0
    assert others(logs, 2) == [PREFIX, PREFIX]


def test_blocks_at_the_head_of_an_epoch_are_estimates(make: Any, scanned: Any) -> None:
    logs = scanned(Thread(make).prompt(100).answer(50).prompt(30).answer(20).s)
    assert took(logs, BlockKind.USER_TEXT, Method.ESTIMATE) == [100]
    assert took(logs, BlockKind.USER_TEXT, Method.DELTA) == [30]


def test_stripped_thinking_leaves_at_the_fall(make: Any, scanned: Any) -> None:
    """A new prompt may strip earlier thinking: ctx falls without a boundary, and other is not what fell."""
    t = Thread(make).prompt(100)
    t.answer(5000, make.thought("", "c" * 4000), t.text(100))
    t.prompt(50).answer(30)
    t.ctx -= 4900
    t.prompt(40).answer(20)
    logs = scanned(t.s)
    assert others(logs, 3) == pytest.approx([PREFIX] * 3, abs=60)
    messages = [snapshot(logs, turn=turn).shown()["messages"] for turn in (1, 2, 3)]
    assert messages == pytest.approx([100, 5150, 320], abs=60)


def test_a_fall_that_nothing_explains_comes_off_other_and_never_below_zero(make: Any, scanned: Any) -> None:
    t = Thread(make).prompt(100).answer(50).prompt(10)
    t.ctx = 90
    t.answer(20)
    snap = snapshot(scanned(t.s), turn=2)
    assert snap.total == 90
    assert min(part.shown for part in snap.parts) >= 0
    assert sum(part.shown for part in snap.parts) == 90


def test_a_change_of_model_begins_anew(make: Any, scanned: Any) -> None:
    """Another tokenizer counts the same text otherwise: the rise between two models measures no block."""
    t = Thread(make).prompt(100).answer(50)
    t.s.model = "claude-opus-4-8"
    t.ctx += 5000
    t.prompt(30).answer(20).prompt(40).answer(20)
    logs = scanned(t.s)
    assert took(logs, BlockKind.USER_TEXT, Method.DELTA) == [40]
    assert attribution(logs).injected.sum() == 0


def test_a_compaction_begins_anew(make: Any, scanned: Any) -> None:
    t = Thread(make).prompt(100).tool(5000).answer(50)
    t.s.boundary("auto", 26_000)
    t.s.summary("x" * round(800 * RATE))
    t.ctx = PREFIX + 800
    t.prompt(70).answer(30).prompt(20).answer(10)
    logs = scanned(t.s)
    assert others(logs, 4) == pytest.approx([PREFIX] * 4, abs=2)
    assert [snapshot(logs, turn=turn).shown()["messages"] for turn in (3, 4)] == pytest.approx([870, 920], abs=2)


def test_a_microcompaction_takes_what_the_results_had_taken(make: Any, scanned: Any) -> None:
    """6,000 measured tokens leave, not the 3,700 that their characters would say."""
    t = Thread(make).prompt(100).tool(6000, chars=10_000).answer(50)
    t.s.micro("t1")
    t.ctx -= 6000
    t.prompt(30).answer(20)
    logs = scanned(t.s)
    assert others(logs, 3) == [PREFIX] * 3
    assert snapshot(logs, turn=3).shown()["messages"] == 100 + 40 + 50 + 30


def test_a_rewind_takes_its_branch_away(make: Any, scanned: Any) -> None:
    t = Thread(make).prompt(100).answer(50)
    there, size = t.s.head, t.ctx
    t.prompt(3000).answer(400)
    t.s.head, t.ctx = there, size
    t.prompt(60).answer(20)
    logs = scanned(t.s)
    assert others(logs, 3) == [PREFIX] * 3
    assert snapshot(logs, turn=3).shown()["messages"] == 100 + 50 + 60


def test_threads_do_not_touch_each_other(make: Any, scanned: Any) -> None:
    """The figures of one session must not depend on what else was scanned."""
    one, two = (
        Thread(make, session="a").prompt(100).tool(900).answer(50),
        Thread(make, session="b").prompt(70).tool(4000).answer(9),
    )
    alone, both = scanned(one.s, root="alone"), scanned(one.s, two.s, root="both")
    for turn in (1, 2):
        assert snapshot(alone, "a", turn).shown() == snapshot(both, "a", turn).shown()


def test_a_steady_session_has_a_steady_other(make: Any, scanned: Any) -> None:
    """Over 60 calls of results far from any constant, other does not move by a token per call."""
    t = Thread(make).prompt(100)
    for i in range(60):
        t.tool(500 + 37 * i, chars=round((500 + 37 * i) * (1.8 + i % 3)))
    found = others(scanned(t.s), 60)
    assert max(found) - min(found) <= 2
