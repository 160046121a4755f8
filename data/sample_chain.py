"""The chain of lines of one thread, and the number of tokens that are resident in its context."""

from __future__ import annotations

import random
import uuid
from typing import Any

from sample_base import ALPHABET, CHARS_PER_TOKEN, HERE, Line, Setup, dumps, stamp
from sample_text import Text
from sample_words import AGENTS, MCP_DEFERRED, REVIEWER, SKILLS
from sample_world import World


class Chain:
    """A main thread or an agent's: its lines, its clock and what is resident in its context."""

    def __init__(
        self,
        setup: Setup,
        world: World,
        r: random.Random,
        start_ms: int,
        agent: str | None = None,
        sidechain: bool = False,
    ) -> None:
        self.setup = setup
        self.world = world
        self.r = r
        self.text = Text(r, setup.project)
        self.t = start_ms
        self.agent = agent
        self.sidechain = sidechain or agent is not None
        self.rate = CHARS_PER_TOKEN.get(setup.model, 2.3)
        self.lines: list[Line] = []
        self.parent: str | None = None
        self.prefix = sum(setup.prefix.values())
        self.ctx = self.prefix
        self.cached = setup.warm
        self.last_call_ms: int | None = None
        self.cache_hole: str | None = None
        self.calls = 0
        self.at: dict[str, int] = {}
        self.parents: dict[str, str | None] = {}
        self.prompts: list[str] = []
        self.result_tokens: dict[str, int] = {}
        self.tool_lines: dict[str, str] = {}
        self.attached: dict[str, int] = {}
        self.reads: list[Line] = []
        self.prompt_id = self.uuid()
        self.turn_started = start_ms
        self.agents: list[tuple[str, Chain, Line]] = []
        # Files and lines of each that a compaction puts back.
        self.restore = (2, 70)

    # -- ids, clock, sizes ---------------------------------------------------------------------------------------------

    def uuid(self) -> str:
        """A random version 4 uuid from the thread's own generator."""
        return str(uuid.UUID(int=self.r.getrandbits(128), version=4))

    def ident(self, head: str, n: int = 22) -> str:
        """An id as the API makes them."""
        return head + "".join(self.r.choice(ALPHABET) for _ in range(n))

    def tick(self, low: int, high: int) -> str:
        """Let the clock go on by some milliseconds."""
        self.t += self.r.randrange(low, high)
        return stamp(self.t)

    def tokens(self, text: str) -> int:
        """True tokens of a text: the model's rate with a little noise per block."""
        return max(1, int(len(text) / self.rate * (0.95 + 0.1 * self.r.random())))

    # -- lines ---------------------------------------------------------------------------------------------------------

    def put(self, body: Line, extra: Line | None = None, parent: str | None = HERE, logical: str | None = None) -> str:
        """Append a line that belongs to the chain; returns its uuid."""
        s = self.setup
        own = self.uuid()
        self.parents[own] = self.parent if parent == HERE else parent
        line: Line = {"parentUuid": self.parents[own]}
        if logical:
            line["logicalParentUuid"] = logical
        line["isSidechain"] = self.sidechain
        tail: Line = {
            "userType": "external",
            "cwd": s.cwd,
            "sessionId": s.sid,
            "version": s.version,
            "gitBranch": s.branch,
        }
        agent = {"agentId": self.agent} if self.agent else {}
        if s.new_style:
            line |= agent
            if body.get("type") == "user":
                line["promptId"] = self.prompt_id
            tail = {"userType": "external", "entrypoint": "cli"} | tail
        else:
            line |= tail | agent | ({"slug": s.slug} if s.slug else {})
            tail = {}
        line |= body | {"uuid": own, "timestamp": stamp(self.t)} | (extra or {}) | tail
        self.lines.append(line)
        self.parent = own
        self.at[own] = self.ctx
        return own

    def state(self, kind: str, **fields: Any) -> None:
        """Append a state line (no uuid, no timestamp)."""
        self.lines.append({"type": kind} | fields | {"sessionId": self.setup.sid})

    def user(
        self, content: Any, tokens: int | None = None, extra: Line | None = None, parent: str | None = HERE
    ) -> str:
        """A user line that enters the context."""
        self.ctx += (self.tokens(content) + 6) if tokens is None else tokens
        return self.put({"type": "user", "message": {"role": "user", "content": content}}, extra, parent)

    def prompt(
        self,
        content: Any = None,
        tokens: int | None = None,
        wait: tuple[int, int] = (12_000, 150_000),
        parent: str | None = HERE,
    ) -> str:
        """A typed prompt; later ones can be rewound to."""
        self.tick(*wait)
        self.turn_started = self.t
        self.prompt_id = self.uuid()
        text = self.text.prompt() if content is None else content
        own = self.user(
            text, tokens, {"permissionMode": "default"} if self.setup.new_style and not self.sidechain else None, parent
        )
        self.prompts.append(own)
        return own

    def attach(self, kind: str, text: str, **fields: Any) -> None:
        """An attachment line whose text enters the context (2.1.91 and later)."""
        tokens = self.tokens(text) if text else 0
        self.tick(1, 40)
        self.ctx += tokens
        self.attached[kind] = self.attached.get(kind, 0) + tokens
        self.put({"attachment": {"type": kind} | fields, "type": "attachment"})

    def system(self, subtype: str, parent: str | None = HERE, logical: str | None = None, **fields: Any) -> str:
        """A system line; it costs no tokens."""
        return self.put({"type": "system", "subtype": subtype} | fields, None, parent, logical)

    def tasks_reminder(self) -> None:
        """The open tasks, put in by the client."""
        items = [
            {"id": str(i), "subject": self.text.fill("{verb} the {noun}"), "status": "pending"} for i in range(1, 4)
        ]
        self.attach("task_reminder", dumps({"items": items}).decode(), content=items, itemCount=len(items))

    def listings(self) -> None:
        """The listings a newer client puts at the start of a context."""
        t = self.text
        tools = ["CronCreate", "CronList", "NotebookEdit", "WebFetch", "WebSearch", "TaskCreate", "TaskList"] + [
            f"mcp__{m}__{v}" for m in self.setup.mcp for v in MCP_DEFERRED
        ]
        self.attach("deferred_tools_delta", "\n".join(tools), addedNames=tools, addedLines=tools, removedNames=[])
        kinds = [*AGENTS, f"{self.setup.project}-reviewer"]
        rows = [f"- {k}: {AGENTS.get(k, REVIEWER)}" for k in kinds]
        self.attach(
            "agent_listing_delta", "\n".join(rows), addedTypes=kinds, addedLines=rows, removedTypes=[], isInitial=True
        )
        if self.setup.mcp:
            notes = [f"## {m}\n{t.prose(420)}" for m in self.setup.mcp]
            self.attach(
                "mcp_instructions_delta",
                "\n".join(notes),
                addedNames=list(self.setup.mcp),
                addedBlocks=notes,
                removedNames=[],
            )
        names = list(SKILLS)
        listing = "\n".join(f"- {n}: {SKILLS[n]}" for n in names)
        self.attach("skill_listing", listing, content=listing, skillCount=len(names), isInitial=True, names=names)
