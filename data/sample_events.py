"""The planted events of the sample: one function per kind of session (see README.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sample_base import HAIKU, Line
from sample_media import WIDE
from sample_parts import context_report
from sample_work import Event, Worker

if TYPE_CHECKING:
    from make_sample import Sample


def pictures(_sample: Sample, w: Worker, calls: int) -> None:
    """Ordinary work with a look at some pictures."""
    look: Event = Worker.charts if w.t.setup.project == "quarry-etl" else (lambda w: w.screenshots([WIDE] * 3))
    w.work(calls, dict.fromkeys((7, 15, 22), look))


def plain(_sample: Sample, w: Worker, calls: int) -> None:
    """Nothing special."""
    w.work(calls)


def agents_progress(_sample: Sample, w: Worker, calls: int) -> None:
    """Two sub-agents of the version that also logs their responses as progress lines."""
    w.work(calls, {6: lambda w: w.agents(1, 6, HAIKU), 15: lambda w: w.agents(1, 7, HAIKU)})


def agents_parallel(_sample: Sample, w: Worker, calls: int) -> None:
    """Four sub-agents, two at once."""
    w.work(
        calls,
        {
            4: lambda w: w.agents(1, 8, HAIKU),
            9: lambda w: w.screenshots([WIDE] * 4, "shots/dashboard"),
            12: lambda w: w.agents(2, 5, HAIKU),
            25: lambda w: w.agents(1, 9, HAIKU, "Plan"),
        },
    )


def inline_sidechains(_sample: Sample, w: Worker, calls: int) -> None:
    """Sidechains in the main file, and a compaction that only its summary line shows."""
    w.work(calls, {7: lambda w: w.agents(2, 5, w.t.setup.model), 17: lambda w: w.t.compact("manual", 4200)})


def microcompact(_sample: Sample, w: Worker, calls: int) -> None:
    """Large reads, then the older ones are cleared."""

    def large_read(w: Worker) -> None:
        path = max(
            (p for p in w.t.world.paths if p not in [x["file_path"] for x in w.t.reads]),
            key=lambda p: sum(map(len, w.t.world.files[p])),
        )
        w.read(path)

    def clear(w: Worker) -> None:
        w.t.microcompact(3)
        w.step()

    w.work(calls, dict.fromkeys(range(2, 36, 2), large_read) | {44: clear})


def expiry_5m(_sample: Sample, w: Worker, calls: int) -> None:
    """Three pauses longer than the cache lives."""
    for stop, minutes in ((10, 7), (21, 13), (31, 42), (calls, 0)):
        w.work(stop)
        w.t.tick(minutes * 60_000 + 1, minutes * 60_000 + 40_000)


def long_gap(_sample: Sample, w: Worker, calls: int) -> None:
    """A pause of more than an hour in the middle; the supplier's format stands in a PDF."""
    w.work(calls // 2, {9: lambda w: w.document("ledger-format", 21), 24: Worker.charts})
    w.t.tick(78 * 60_000, 84 * 60_000)
    w.work(calls, dict.fromkeys((40, 50, 58), Worker.charts))


def damaged(_sample: Sample, w: Worker, calls: int) -> None:
    """An ordinary short session; the file is damaged when it is written."""
    w.work(calls)


def rewind(_sample: Sample, w: Worker, calls: int) -> None:
    """Two turns are thrown away after a while."""

    def back(w: Worker) -> None:
        w.t.rewind(min(3, len(w.t.prompts)))
        w.step()

    w.work(calls, {6: lambda w: w.screenshots([WIDE] * 4), 22: back})


def api_error(_sample: Sample, w: Worker, calls: int) -> None:
    """The API was overloaded once."""

    def error(w: Worker) -> None:
        t = w.t
        t.tick(20_000, 60_000)
        message: Line = {
            "id": t.uuid(),
            "model": "<synthetic>",
            "role": "assistant",
            "stop_reason": "stop_sequence",
            "stop_sequence": "",
            "type": "message",
            "usage": {
                "input_tokens": 0,
                "output_tokens": 0,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
                "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
                "service_tier": None,
            },
            "content": [{"type": "text", "text": "API Error: 529 Overloaded. The service is busy, try again shortly."}],
        }
        t.put(
            {"message": message, "type": "assistant"},
            {"error": "server_error", "isApiErrorMessage": True, "apiErrorStatus": 529},
        )
        t.prompt("go on", wait=(20_000, 40_000))
        w.step()

    w.work(calls, {4: Worker.charts, 9: error})


def clear_after(_sample: Sample, w: Worker, calls: int) -> None:
    """The session that /clear began."""
    w.t.command("clear", "")
    w.work(calls, {8: lambda w: w.screenshots([WIDE] * 4, "shots/dashboard")})


def mcp_heavy(_sample: Sample, w: Worker, calls: int) -> None:
    """Much of the context comes from two MCP servers."""
    board = {
        n: (lambda w: w.mcp("my__board", "list_cards", {"board": "lamps", "state": "open"}, 5200))
        for n in (3, 12, 24, 33)
    }
    notes = {n: (lambda w: w.mcp("notes", "get_page", {"page": "palette-rules"}, 7400)) for n in (6, 19, 28)}
    pages = dict.fromkeys((9, 16, 30), lambda w: w.card([WIDE] * 4))
    w.work(calls, board | notes | pages)


def hostile(_sample: Sample, w: Worker, calls: int) -> None:
    """Text that breaks careless output code."""

    def odd_tool(w: Worker) -> None:
        w.one('mcp__notes__<img src=x onerror="alert(1)">', {"q": "</td><b>"}, "no such tool", error=True)

    def odd_result(w: Worker) -> None:
        lines = [
            "tests: 4 passed \U0001f41f\U0001f3ee",
            "\u706f\u706b\u306e\u4e00\u89a7 \u2014 \u5b8c\u4e86 | \ub4f1\ubd88 \ubaa9\ub85d",
            "\u05de\u05e0\u05d5\u05e8\u05d4 \u05d0\u05d7\u05ea",
            "\u202eabc\u202c cut here: \ud83d",
            w.t.text.tests(400, False),
        ]
        text = "\n".join(lines)
        w.one(
            "Bash",
            {"command": "npx vitest run src/lib", "description": "Run the tests of lib"},
            text,
            stub={"interrupted": False},
            error=False,
        )

    def title(w: Worker) -> None:
        w.t.state("custom-title", customTitle="<script>alert(1)</script> & \"lamps\" | 'scenes'")
        w.step()

    w.work(calls, {2: title, 5: odd_tool, 8: odd_result})


def reread_clinic(_sample: Sample, w: Worker, calls: int) -> None:
    """Every kind of repeated read, one after the other, of the two same files."""
    t = w.t
    one, two = [p for p in t.world.paths if len(t.world.files[p]) >= 110][:2]
    t.prompt("Walk me through these two modules before we change them.")
    w.read(one)
    w.read(two, 1, 80)
    w.read(one)  # wasteful: nothing changed
    w.read(one, 20, 30)  # wasteful: part of the first read
    w.read(two, 60, 40)  # half new: 60-80 were read, 81-99 were not
    w.edit(one)
    w.read(one)  # fine: the file was edited
    w.edit(two, fail=True)
    w.read(two, 1, 80)  # wasteful: the edit failed, nothing changed
    w.read_missing(f"{t.setup.cwd}/app/missing.py")
    w.read_missing(f"{t.setup.cwd}/app/missing.py")  # not a re-read: both failed
    t.call(t.text.answer(2))
    t.end_turn()
    t.prompt("Reformat the second one, then look at it again.")
    w.bash(f"ruff format {two}", 60)
    w.read(two, 1, 80)  # changed by the command, as far as the log shows
    snippet = t.world.numbered(one, 1, 12)
    t.attach("edited_text_file", snippet, filename=one, snippet=snippet)
    w.read(one)  # changed outside
    t.call(t.text.answer(1))
    t.end_turn()
    t.compact("manual", 3600, post_tokens=True)
    t.prompt()
    w.read(one)  # its content had left the window
    w.read(two, 1, 80)
    t.call(t.text.answer(1))
    t.end_turn()
    w.work(calls)


def tools_changed(_sample: Sample, w: Worker, calls: int) -> None:
    """An MCP server connects late: its tools change the prefix, and schemas are loaded on demand."""

    def connect(w: Worker) -> None:
        w.t.setup.mcp = (*w.t.setup.mcp, "my__board")
        text = "## my__board\n" + w.t.text.prose(500)
        w.t.attach("mcp_instructions_delta", text, addedNames=["my__board"], addedBlocks=[text], removedNames=[])
        w.t.cache_hole = "tools_changed"
        w.step()

    def search(w: Worker) -> None:
        w.tool_search(["mcp__my__board__list_cards", "mcp__my__board__move_card"], 2350)
        w.mcp("my__board", "list_cards", {"board": "lamps"}, 1900)

    pages = dict.fromkeys((7, 21), lambda w: w.card([WIDE] * 4))
    w.work(calls, {13: connect, 15: search} | pages)


def context_command(_sample: Sample, w: Worker, calls: int) -> None:
    """Skill use, then /context."""
    w.work(
        calls - 9,
        {
            5: lambda w: w.skill("screenshots"),
            8: lambda w: w.screenshots([WIDE] * 4),
            16: lambda w: w.screenshots([WIDE] * 3),
        },
    )
    report = context_report(w.t)
    w.t.command("context", report)
    w.work(calls)
