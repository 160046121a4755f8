"""The planted events of the sample: one function per kind of session (see README.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sample_base import HAIKU, Line, png
from sample_parts import context_report, pdf
from sample_work import Worker

if TYPE_CHECKING:
    from make_sample import Sample


def plain(_sample: Sample, w: Worker, calls: int) -> None:
    """Nothing special."""
    w.work(calls)


def agents_progress(_sample: Sample, w: Worker, calls: int) -> None:
    """Two sub-agents of the version that also logs their responses as progress lines."""
    w.work(calls, {6: lambda w: w.agents(1, 8, HAIKU), 15: lambda w: w.agents(1, 9, HAIKU)})


def agents_parallel(_sample: Sample, w: Worker, calls: int) -> None:
    """Four sub-agents, two at once."""
    w.work(
        calls,
        {
            4: lambda w: w.agents(1, 9, HAIKU),
            12: lambda w: w.agents(2, 7, HAIKU),
            25: lambda w: w.agents(1, 12, HAIKU, "Plan"),
        },
    )


def inline_sidechains(_sample: Sample, w: Worker, calls: int) -> None:
    """Sidechains in the main file, and a compaction that only its summary line shows."""
    w.work(calls, {7: lambda w: w.agents(2, 6, w.t.setup.model), 17: lambda w: w.t.compact("manual", 4200)})


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

    w.work(calls, dict.fromkeys(range(2, 38, 2), large_read) | {44: clear})


def expiry_5m(_sample: Sample, w: Worker, calls: int) -> None:
    """Three pauses longer than the cache lives."""
    for stop, minutes in ((10, 7), (21, 13), (31, 42), (calls, 0)):
        w.work(stop)
        w.t.tick(minutes * 60_000 + 1, minutes * 60_000 + 40_000)


def long_gap(_sample: Sample, w: Worker, calls: int) -> None:
    """A pause of more than an hour in the middle."""
    w.work(calls // 2)
    w.t.tick(78 * 60_000, 84 * 60_000)
    w.work(calls)


def two_auto_compacts(_sample: Sample, w: Worker, calls: int) -> None:
    """Compactions come by themselves; the second half of the session has sub-agents."""
    w.work(calls, {20: lambda w: w.agents(1, 10, HAIKU)})


def damaged(_sample: Sample, w: Worker, calls: int) -> None:
    """An ordinary short session; the file is damaged when it is written."""
    w.work(calls)


def rewind(_sample: Sample, w: Worker, calls: int) -> None:
    """Two turns are thrown away after a while."""

    def back(w: Worker) -> None:
        w.t.rewind(min(3, len(w.t.prompts)))
        w.step()

    w.work(calls, {22: back})


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

    w.work(calls, {9: error})


def clear_after(_sample: Sample, w: Worker, calls: int) -> None:
    """The session that /clear began."""
    w.t.command("clear", "")
    w.work(calls)


def mcp_heavy(_sample: Sample, w: Worker, calls: int) -> None:
    """Much of the context comes from two MCP servers."""
    board = {
        n: (lambda w: w.mcp("my__board", "list_cards", {"board": "lamps", "state": "open"}, 5200))
        for n in (3, 12, 24, 33)
    }
    notes = {n: (lambda w: w.mcp("notes", "get_page", {"page": "palette-rules"}, 7400)) for n in (6, 19, 28)}
    w.work(calls, board | notes)


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


def redesign(_sample: Sample, w: Worker, calls: int) -> None:
    """A design document, screenshots and much hidden thinking."""
    t = w.t
    document = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": pdf(38)}}
    t.prompt(
        [
            {
                "type": "text",
                "text": "Here is the design document for the new panel. Read all of it, then plan the work.",
            },
            document,
        ],
        38 * 1850 + 40,
    )
    sizes = [(1280, 720), (1440, 900), (640, 360), (390, 844)]
    shots = {n: (lambda w, n=n: w.screenshot(*sizes[n % 4])) for n in range(3, 62, 3)}
    from_person = [
        {"type": "text", "text": "[Image #1] The drawer looks like this on my phone."},
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": png(390, 844, (250, 240, 220))},
        },
    ]

    def pasted(w: Worker) -> None:
        w.t.prompt(from_person, 390 * 844 // 750 + 30)
        w.step()

    w.work(calls, shots | {31: pasted})


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
        w.t.setup.mcp = ("my__board",)
        text = "## my__board\n" + w.t.text.prose(500)
        w.t.attach("mcp_instructions_delta", text, addedNames=["my__board"], addedBlocks=[text], removedNames=[])
        w.t.cache_hole = "tools_changed"
        w.step()

    def search(w: Worker) -> None:
        w.tool_search(["mcp__my__board__list_cards", "mcp__my__board__move_card"], 2350)
        w.mcp("my__board", "list_cards", {"board": "lamps"}, 1900)

    w.work(calls, {13: connect, 15: search})


def context_command(_sample: Sample, w: Worker, calls: int) -> None:
    """Skill use, then /context."""
    w.work(calls - 9, {5: lambda w: w.skill("screenshots")})
    report = context_report(w.t)
    w.t.command("context", report)
    w.work(calls)


def incident(_sample: Sample, w: Worker, calls: int) -> None:
    """A long hunt on the 1M window."""
    w.work(
        calls,
        {
            20: lambda w: w.agents(1, 11, w.t.setup.model, "general-purpose", "claude-opus-4-8[1m]"),
            60: lambda w: w.skill("test-triage"),
            90: lambda w: w.agents(1, 8, HAIKU),
            140: lambda w: w.screenshot(1440, 900),
            170: lambda w: w.bash("journalctl -u tidepool-api --since today", 24_000),
        },
    )
