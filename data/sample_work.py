"""Sub-agents, and the loop that mixes the tools into turns."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping

from sample_base import HERE, Line, Setup, version_key
from sample_media import Media
from sample_session import Thread
from sample_text import RESULT_CHARS, draw

ACTIONS = (
    ["bash"] * 27
    + ["read"] * 24
    + ["edit"] * 22
    + ["grep"] * 11
    + ["write"] * 6
    + ["tasks"] * 3
    + ["glob"] * 3
    + ["parallel"] * 4
)
Event = Callable[["Worker"], None]


class Worker(Media):
    """Drives one thread."""

    def __init__(self, thread: Thread) -> None:
        super().__init__(thread)
        # What is done first after each compaction that comes by itself.
        self.after: list[Event] = []

    def agents(self, count: int, calls: int, model: str, kind: str = "Explore", resolved: str | None = None) -> None:
        """Start sub-agents in one response; each has its own file and context."""
        t, old = self.t, not self.t.setup.new_style
        jobs = [
            {
                "description": t.text.fill("Trace {noun} use"),
                "prompt": t.text.prompt() + " Report file names and line numbers.",
                "subagent_type": kind,
            }
            for _ in range(count)
        ]
        ids = t.call(self.say(), [("Task" if old else "Agent", job) for job in jobs])
        start = t.t
        done: list[tuple[str, Thread, int]] = []
        for tool_id, job in zip(ids, jobs, strict=True):
            agent = "a" + f"{self.r.getrandbits(64):016x}"
            prefix = {"system_prompt": self.r.randrange(2600, 4200), "system_tools": self.r.randrange(6000, 9000)}
            setup = Setup(
                t.setup.project,
                t.setup.cwd,
                t.setup.sid,
                t.setup.version,
                model,
                t.setup.branch,
                t.setup.slug,
                prefix,
                ttl_1h=False,
                think=t.setup.think // 3,
            )
            inline = version_key(t.setup.version) < (2,)
            sub = Thread(
                setup,
                t.world,
                random.Random(f"agent {agent}"),
                start + self.r.randrange(20, 900),
                None if inline else agent,
                inline,
            )
            sub.user(job["prompt"], parent=None)
            worker = Worker(sub)
            worker.loop(calls + self.r.randrange(-2, 3))
            sub.call(t.text.prose(900), think=0)
            done.append((tool_id, sub, calls))
            if not inline:
                meta = {"agentType": kind, "description": job["description"], "toolUseId": tool_id, "spawnDepth": 1}
                t.agents.append((agent, sub, meta))
        if any(not s.agent for _, s, _ in done):
            # Inline sidechains run side by side: their lines interleave by time in the main file.
            t.lines += sorted((line for _, s, _ in done for line in s.lines), key=lambda line: str(line["timestamp"]))
        if (2, 1, 11) <= version_key(t.setup.version) <= (2, 1, 62):
            self.agent_progress(done)
        for (tool_id, sub, _), job in zip(done, jobs, strict=True):
            t.t = max(t.t, sub.t)
            report = sub.lines[-1]["message"]["content"][0]["text"]
            last = sub.lines[-1]["message"]["usage"]
            total = (
                last["input_tokens"]
                + last["cache_creation_input_tokens"]
                + last["cache_read_input_tokens"]
                + last["output_tokens"]
            )
            stub = {
                "status": "completed",
                "prompt": job["prompt"],
                "agentId": sub.agent,
                "agentType": kind,
                "resolvedModel": resolved or model,
                "totalDurationMs": sub.t - start,
                "totalTokens": total,
                "totalToolUseCount": sub.calls - 1,
                "usage": last,
            }
            content = [{"type": "text", "text": report}] + (
                [{"type": "text", "text": f"agentId: {sub.agent}\n<usage>total_tokens: {total}</usage>"}]
                if sub.agent
                else []
            )
            t.result(
                tool_id,
                content,
                t.tokens(report) + 40,
                stub if sub.agent else {"totalTokens": total},
                chained=len(ids) == 1,
            )

    def agent_progress(self, done: list[tuple[str, Thread, int]]) -> None:
        """Progress lines repeat some of the agents' responses, with the same request ids: they are no calls."""
        for tool_id, sub, _ in done:
            for line in [x for x in sub.lines if "requestId" in x][:3]:
                inner = {
                    "type": "assistant",
                    "timestamp": line["timestamp"],
                    "message": copy.deepcopy(line["message"]),
                    "requestId": line["requestId"],
                    "uuid": self.t.uuid(),
                }
                data: Line = {
                    "type": "agent_progress",
                    "message": inner,
                    "normalizedMessages": [],
                    "prompt": "",
                    "agentId": sub.agent,
                }
                self.t.put(
                    {
                        "type": "progress",
                        "data": data,
                        "parentToolUseID": tool_id,
                        "toolUseID": "agent_" + line["message"]["id"],
                    }
                )

    def step(self) -> None:
        """One call of the usual mix."""
        s = self.t.setup
        if s.mcp and self.r.random() < 0.08:
            server = self.r.choice(s.mcp)
            self.mcp(
                server,
                self.r.choice(["search", "get_page"]),
                {"query": self.t.text.fill("{adj} {noun}")},
                draw(self.r, RESULT_CHARS),
            )
            return
        getattr(self, self.r.choice(ACTIONS))()

    def loop(self, calls: int) -> None:
        """Calls without prompts between, as an agent makes them."""
        while self.t.calls < calls:
            self.step()

    def work(self, calls: int, events: Mapping[int, Event] | None = None, parent: str | None = HERE) -> None:
        """Turns of a prompt, some tool calls and an answer, until the thread has made so many calls."""
        t = self.t
        todo = sorted((events or {}).items())
        first = parent
        while t.calls < calls:
            t.prompt(parent=first)
            first = HERE
            left = self.r.randrange(3, 13)
            while left > 0 and t.calls < calls - 1:
                left -= 1
                if t.ctx > self.compact_at:
                    t.compact("auto", self.r.randrange(9000, 13_000), self.post_tokens)
                    if self.after:
                        self.after.pop(0)(self)
                if todo and t.calls >= todo[0][0]:
                    todo.pop(0)[1](self)
                else:
                    self.step()
            t.call(t.text.answer(self.r.randrange(1, 4)))
            t.end_turn()
