"""One conversation thread of the sample, with true token accounting.

A thread keeps the number of tokens that are resident in the context. Every block that is appended adds its own, every
answer adds its output tokens (hidden thinking included), a compaction starts again from prefix + summary. The usage of
a call is read off that one number, so all curves of the sample are exact by construction.
"""

from __future__ import annotations

import base64
import copy
import json
import random
from collections.abc import Sequence
from typing import Any

from sample_base import HERE, Line, version_key
from sample_chain import Chain
from sample_text import Text


class Thread(Chain):
    """A main thread or an agent's: its calls, their results, and the breaks in its curve."""

    def usage(self) -> tuple[Line, Line | None]:
        """Input side of the next call, and the diagnostics of its cache."""
        s = self.setup
        ttl = 3_600_000 if s.ttl_1h else 300_000
        expired = self.last_call_ms is not None and self.t - self.last_call_ms > ttl
        fresh = self.r.randrange(1, 12)
        read = 0 if expired else min(self.cached, self.ctx - fresh)
        new = self.ctx - fresh - read
        reason: Line | None = None
        if expired:
            reason = {"type": "previous_message_not_found"}
        elif self.cache_hole:
            read = min(self.cached, s.prefix.get("system_prompt", 0))
            new = self.ctx - fresh - read
            reason = {"type": self.cache_hole, "cache_missed_input_tokens": self.cached - read}
        self.cache_hole = None
        self.cached = self.ctx - fresh
        self.last_call_ms = self.t
        hour, five = (new, 0) if s.ttl_1h else (0, new)
        v = version_key(s.version)
        use: Line = {"input_tokens": fresh, "cache_creation_input_tokens": new, "cache_read_input_tokens": read}
        if v < (2, 1, 91):
            use |= {
                "cache_creation": {"ephemeral_5m_input_tokens": five, "ephemeral_1h_input_tokens": hour},
                "output_tokens": 0,
                "service_tier": "standard",
            }
            return use | ({"inference_geo": "not_available"} if v >= (2, 1, 17) else {}), reason
        use |= {"output_tokens": 0}
        if v >= (2, 1, 231):
            use["output_tokens_details"] = {"thinking_tokens": 0}
        use |= {
            "service_tier": "standard",
            "cache_creation": {"ephemeral_1h_input_tokens": hour, "ephemeral_5m_input_tokens": five},
            "inference_geo": "not_available",
            "iterations": [],
        }
        return use | {"speed": "standard"}, reason

    def call(
        self, text: str = "", tools: Sequence[tuple[str, Line]] = (), think: int | None = None, shown: str = ""
    ) -> list[str]:
        """One API response over several lines; returns the ids of its tool uses.

        ``think`` are hidden thinking tokens: the block shows only a signature, the output still counts them.
        """
        s, r = self.setup, self.r
        self.tick(1500, 9000)
        use, reason = self.usage()
        hidden = 0 if think is None else think
        share = 0.19
        if think is None and r.random() < share:
            hidden = min(9500, int(s.think / share * (0.15 + 3.4 * r.random() * r.random())))
        blocks: list[Line] = []
        if hidden or shown:
            signature = base64.b64encode(r.getrandbits(8 * 66).to_bytes(66, "little")).decode() * (
                1 + min(3, hidden // 1500)
            )
            blocks.append({"type": "thinking", "thinking": shown, "signature": signature})
        if text:
            blocks.append({"type": "text", "text": text})
        ids = [self.ident("toolu_01") for _ in tools]
        caller = {"caller": {"type": "direct"}} if version_key(s.version) >= (2, 1, 17) else {}
        blocks += [
            {"type": "tool_use", "id": i, "name": name, "input": inp} | caller
            for i, (name, inp) in zip(ids, tools, strict=True)
        ]
        visible = sum(
            self.tokens(json.dumps(b.get("input") or b.get("text") or b.get("thinking", ""), ensure_ascii=False)) + 9
            for b in blocks
        )
        out = visible + hidden
        message_id, request_id = self.ident("msg_01"), self.ident("req_011")
        final = s.new_style
        start = r.randrange(1, 9)
        self.ctx += out
        for i, block in enumerate(blocks):
            last = i == len(blocks) - 1
            u = copy.deepcopy(use)
            # Before 2.1 the value at the start of the stream was logged on every line; later the last line has the sum.
            u["output_tokens"] = out if final or (last and version_key(s.version) >= (2,)) else start
            if "output_tokens_details" in u:
                u["output_tokens_details"]["thinking_tokens"] = hidden
            message: Line = {
                "model": s.model,
                "id": message_id,
                "type": "message",
                "role": "assistant",
                "content": [block],
                "stop_reason": ("tool_use" if tools else "end_turn") if final else None,
                "stop_sequence": None,
            }
            message["usage"] = u
            if version_key(s.version) >= (2, 1, 119):
                message["diagnostics"] = {"cache_miss_reason": reason} if reason else None
            if i:
                self.tick(200, 2500)
            own = self.put({"message": message, "requestId": request_id, "type": "assistant"})
            if block["type"] == "tool_use":
                self.tool_lines[block["id"]] = own
        self.calls += 1
        return ids

    def result(
        self,
        tool_id: str,
        content: Any,
        tokens: int | None = None,
        stub: Any = None,
        error: bool | None = None,
        chained: bool = True,
        wait: tuple[int, int] = (60, 4000),
    ) -> str:
        """The result of a tool use; parallel ones hang on their own tool use (``chained=False``), as in real logs."""
        self.tick(*wait)
        size = (self.tokens(content) + 12) if tokens is None else tokens
        self.result_tokens[tool_id] = size
        self.ctx += size
        block: Line = {"tool_use_id": tool_id, "type": "tool_result", "content": content}
        if error is not None:
            block["is_error"] = error
        extra: Line = {} if stub is None else {"toolUseResult": stub}
        if version_key(self.setup.version) >= (2, 1, 0):
            extra["sourceToolAssistantUUID"] = self.tool_lines[tool_id]
        parent = HERE if chained else self.tool_lines[tool_id]
        return self.put({"type": "user", "message": {"role": "user", "content": [block]}}, extra, parent)

    def end_turn(self) -> None:
        """The line that says how long a turn took."""
        if version_key(self.setup.version) >= (2, 1, 1) and not self.sidechain:
            self.system("turn_duration", durationMs=self.t - self.turn_started, isMeta=False)

    def command(self, name: str, output: str) -> None:
        """A slash command and what it printed; both are sent with the next prompt."""
        self.tick(4000, 40_000)
        self.user(
            f"<command-name>/{name}</command-name>\n            <command-message>{name}</command-message>\n"
            "            <command-args></command-args>"
            "            <command-args></command-args>"
        )
        if output:
            self.user(f"<local-command-stdout>{output}</local-command-stdout>")

    def compact(self, trigger: str, summary_chars: int, post_tokens: bool = False) -> None:
        """A compaction: boundary, summary, and the context that is put back in."""
        before = self.ctx
        messages_before = before - self.prefix
        last = self.parent
        self.tick(30_000, 90_000)
        self.ctx = self.prefix
        summary = (
            "This session is being continued from a previous conversation that ran out of context. "
            "The summary below covers the earlier portion of the conversation.\n\nSummary:\n"
            + self.text.prose(summary_chars)
        )
        count, rows = self.restore
        recent = list(dict.fromkeys(line["file_path"] for line in reversed(self.reads[-40:])))
        recent = sorted(recent, key=lambda p: -min(rows, len(self.world.files[p])))[:count]
        snippets = [(p, self.world.numbered(p, 1, rows)) for p in reversed(recent) if self.setup.new_style]
        meta: Line = {"trigger": trigger, "preTokens": before}
        fields: Line = {"content": "Conversation compacted", "isMeta": False, "level": "info", "compactMetadata": meta}
        if version_key(self.setup.version) < (2,):
            # The 1.0 client wrote no boundary line, only the summary.
            self.user(summary, extra={"isCompactSummary": True}, parent=None)
        else:
            self.system("compact_boundary", None, last, **fields)
            self.user(summary, extra={"isVisibleInTranscriptOnly": True, "isCompactSummary": True})
        for path, text in snippets:
            shown = path.removeprefix(self.setup.cwd + "/")
            self.attach(
                "file",
                text,
                filename=path,
                content={
                    "type": "text",
                    "file": {
                        "filePath": path,
                        "content": text,
                        "numLines": text.count("\n") + 1,
                        "startLine": 1,
                        "totalLines": len(self.world.files[path]),
                    },
                },
                displayPath=shown,
            )
        if self.setup.new_style:
            self.listings()
            self.tasks_reminder()
        else:
            # The older clients put files and reminders back too, and logged none of it.
            self.ctx += self.r.randrange(6500, 9500) if version_key(self.setup.version) >= (2,) else 2400
        if post_tokens:
            after = self.ctx - self.prefix
            meta |= {
                "postTokens": after,
                "cumulativeDroppedTokens": messages_before - after,
                "durationMs": self.r.randrange(30_000, 90_000),
            }
        self.cached = self.setup.prefix.get("system_prompt", 0)
        if trigger == "manual":
            self.command("compact", "Compacted (ctrl+o to see full summary)")

    def microcompact(self, keep: int) -> list[str]:
        """Clear the older large tool results from the context."""
        large = [i for i, n in self.result_tokens.items() if n > 900]
        cleared = large[: max(0, len(large) - keep)]
        saved = sum(self.result_tokens[i] for i in cleared)
        before = self.ctx - self.prefix
        self.ctx -= saved
        self.cached = self.prefix
        meta = {
            "trigger": "auto",
            "preTokens": before // 2,
            "tokensSaved": saved,
            "compactedToolIds": cleared,
            "clearedAttachmentUUIDs": [],
        }
        self.system(
            "microcompact_boundary",
            content="Context microcompacted",
            isMeta=False,
            level="info",
            microcompactMetadata=meta,
        )
        return cleared

    def rewind(self, back: int) -> str:
        """Type a prompt again that lies some prompts back: the lines since become a dead branch."""
        old = self.prompts[-back]
        parent = self.parents[old]
        self.ctx = self.at[parent] if parent else self.prefix
        self.cached = min(self.cached, self.ctx)
        self.tick(20_000, 60_000)
        return self.prompt("Let us go back a step. " + self.text.prompt(), parent=parent)

    def fork(self, sid: str, r: random.Random) -> Thread:
        """A copy of the thread from its last compaction on, under a new session id."""
        other = copy.copy(self)
        other.setup = copy.copy(self.setup)
        other.setup.sid = sid
        start = max(i for i, line in enumerate(self.lines) if line.get("subtype") == "compact_boundary")
        other.lines = [line | {"sessionId": sid} for line in copy.deepcopy(self.lines[start:]) if "uuid" in line]
        other.r = r
        other.text = Text(r, self.setup.project)
        for name in ("at", "parents", "prompts", "result_tokens", "tool_lines", "attached", "reads", "world"):
            setattr(other, name, copy.deepcopy(getattr(self, name)))
        other.agents = []
        return other
