"""The long sessions: what fills them is read from documents, pictures and logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sample_base import HAIKU, png
from sample_media import PAGE_TOKENS, WIDE, document
from sample_work import Event, Worker

if TYPE_CHECKING:
    from make_sample import Sample


def again(w: Worker) -> None:
    """What had left the context is read again."""
    w.document("supplier-format", 32)
    w.document("clearing-house-files", 19)


def two_auto_compacts(_sample: Sample, w: Worker, calls: int) -> None:
    """Compactions come by themselves; the second half of the session has sub-agents."""
    w.t.restore = (5, 240)
    w.after = [again, Worker.charts]
    longest = max(w.t.world.paths, key=lambda p: len("".join(w.t.world.files[p])))
    events: dict[int, Event] = {
        3: lambda w: w.document("supplier-format", 32),
        8: Worker.charts,
        10: lambda w: w.read(longest),
        13: lambda w: w.bash("python -m quarry.run --dry --all", 15_000),
        20: lambda w: w.agents(1, 5, HAIKU),
        5: lambda w: w.document("clearing-house-files", 19),
    }
    w.work(calls, events | dict.fromkeys((15, 25, 30, 45, 52, 58), Worker.charts))


def old_auto_compact(_sample: Sample, w: Worker, calls: int) -> None:
    """An automatic compaction of the older form; two standards were read as PDF before it, and dashboards looked at."""
    events: dict[int, Event] = {
        4: lambda w: w.document("datum-standard", 29),
        19: lambda w: w.document("tide-gauge-manual", 18),
        12: lambda w: w.bash("tail -n 400 var/log/app.log", 15_000),
    }
    boards: dict[int, Event] = dict.fromkeys((16, 28, 36), lambda w: w.screenshots([WIDE] * 4, "shots/dashboard"))
    w.work(calls, events | boards)


def redesign(_sample: Sample, w: Worker, calls: int) -> None:
    """A design document and screenshots, four sizes at a time."""
    t = w.t
    t.prompt()
    w.step()
    w.step()
    t.call(t.text.answer(1))
    t.end_turn()
    ask = "Here is the design document for the new panel. Read all of it, then plan the work."
    t.prompt([{"type": "text", "text": ask}, document(38)], 38 * PAGE_TOKENS + 40)
    sizes = [(1280, 720), (1440, 900), (640, 360), (390, 844)]
    shots = dict.fromkeys(range(6, 62, 4), lambda w: w.screenshots(sizes))
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

    w.work(calls, shots | dict.fromkeys(range(8, 54, 8), lambda w: w.card([WIDE] * 6)) | {31: pasted})


def incident(_sample: Sample, w: Worker, calls: int) -> None:
    """A long hunt on the 1M window: logs, dashboards and the host's own report."""
    events: dict[int, Event] = {
        20: lambda w: w.agents(1, 8, w.t.setup.model, "general-purpose", "claude-opus-4-8[1m]"),
        60: lambda w: w.skill("test-triage"),
        90: lambda w: w.agents(1, 6, HAIKU),
        104: lambda w: w.document("host-incident-report", 14),
        170: lambda w: w.bash("journalctl -u tidepool-api --since today", 24_000),
    }
    logs: dict[int, Event] = dict.fromkeys(
        range(12, 168, 13), lambda w: w.bash(f"journalctl -u tidepool-api -n {w.r.randrange(80, 200)}", 6400)
    )
    boards: dict[int, Event] = dict.fromkeys(
        range(8, 180, 9), lambda w: w.screenshots([(1440, 900), (1440, 900)], "shots/dashboard")
    )
    w.work(calls, boards | logs | events)
