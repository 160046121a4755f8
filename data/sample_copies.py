"""Sessions whose history is copied into another file: a fork and an old-style resume."""

from __future__ import annotations

import copy
import random
from typing import TYPE_CHECKING

from sample_base import stamp
from sample_media import WIDE
from sample_parts import closing
from sample_session import Thread
from sample_work import Event, Worker

if TYPE_CHECKING:
    from make_sample import Sample


def manual_compact(sample: Sample, w: Worker, calls: int) -> None:
    """A manual compaction with postTokens; some time later the session is forked."""
    w.post_tokens = True
    w.t.restore = (3, 90)
    events: dict[int, Event] = {
        5: lambda w: w.document("brand-guide", 26),
        9: lambda w: w.mcp("notes", "get_page", {"page": "motion-rules"}, 5000),
    }
    views: dict[int, Event] = dict.fromkeys((12, 18, 24, 30, 36), lambda w: w.screenshots([(1280, 720), WIDE]))
    pages: dict[int, Event] = dict.fromkeys((7, 14, 21, 28), lambda w: w.card([WIDE] * 6))
    w.work(calls - 16, events | views | pages)
    w.t.compact("manual", 7800, post_tokens=True)
    w.work(calls - 7)
    r = random.Random("ctxlib sample fork")
    sid = sample.ids["fork"] = sample.new_id("fork")
    thread = w.t.fork(sid, r)
    thread.t += 600_000
    other = Worker(thread)
    other.work(thread.calls + 10)
    closing(other)
    sample.threads["fork"] = thread
    w.work(calls)


def resumed_copy(sample: Sample, old: Thread) -> None:
    """A 1.0 client resumes: history is copied into a new file, with the time of the resume."""
    r = random.Random("ctxlib sample resumed")
    thread = copy.deepcopy(old)
    thread.r, thread.text.r = r, r
    thread.setup.version = "1.0.90"
    old_sid, thread.setup.sid = thread.setup.sid, sample.new_id("resumed-copy")
    sample.ids["resumed-copy"] = thread.setup.sid
    thread.t += 14 * 86_400_000
    for i, line in enumerate(thread.lines):
        line["timestamp"] = stamp(thread.t)
        line["version"] = "1.0.90"
        line["sessionId"] = old_sid if 4 <= i < 9 else thread.setup.sid
    thread.cached = 0
    Worker(thread).work(thread.calls + 9)
    sample.threads["resumed-copy"] = thread
