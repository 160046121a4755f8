"""One invented thread of a Claude Code session: its turns, and the lines that they leave in its log."""

from __future__ import annotations

import base64
import math
import time
from random import Random
from typing import NamedTuple

from tree_text import Pool, ident, png, uuid

BEGIN = 1_788_220_800  # 2026-09-01T00:00:00Z, in seconds
DAYS = 80
MODELS = ("claude-opus-4-6", "claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001")
TOOLS = ("Bash", "Read", "Edit", "Grep", "TodoWrite", "Write", "Task", "mcp__tickets__get_ticket")
TOOL_WEIGHTS = (34, 26, 20, 12, 4, 2, 1, 1)
USAGE = (
    '{{"input_tokens":{},"cache_creation_input_tokens":{},"cache_read_input_tokens":{},"cache_creation":'
    '{{"ephemeral_5m_input_tokens":{},"ephemeral_1h_input_tokens":{}}},"output_tokens":{},"service_tier":"standard"}}'
)


class Use(NamedTuple):
    """A tool that a response used."""

    tool: str
    ident: str
    path: str
    old: str  # what an edit takes out
    new: str  # what it, or a new file, puts in


class Session:
    """One thread of one session, as the lines of its file."""

    def __init__(
        self, random: Random, pool: Pool, session: str, project: str, agent: str = "", start: float = 0
    ) -> None:
        self.random, self.pool, self.agent = random, pool, agent
        self.lines: list[str] = []
        self.size = 0  # characters so far
        self.now = start or BEGIN + random.uniform(0, DAYS * 86_400)
        self.model = random.choices(MODELS, (40, 30, 20, 10))[0]
        self.context, self.cached = random.randrange(14_000, 24_000), 0
        self.parent = ""
        self.cwd = f"/home/dev/src/{project}"
        self.paths = [f"{self.cwd}/pkg{i}/part_{random.randrange(40)}.py" for i in range(12)]
        self._place = (
            f'"isSidechain":{"true" if agent else "false"},"userType":"external","cwd":"{self.cwd}","sessionId":"{session}",'
            f'"version":"2.1.39","gitBranch":"main","slug":"calm-quick-heron"'
            + (f',"agentId":"{agent}"' if agent else "")
        )
        self.prompt(random.randrange(60, 3000))

    def stamp(self, least: float = 0.2, most: float = 6) -> str:
        self.now += self.random.uniform(least, most)
        whole = int(self.now)
        moment = time.gmtime(whole)
        return time.strftime("%Y-%m-%dT%H:%M:%S", moment) + f".{int((self.now - whole) * 1000):03d}Z"

    def add(self, line: str) -> None:
        self.lines.append(line)
        self.size += len(line) + 1

    def chained(self, rest: str, least: float = 0.2, most: float = 6, *, root: bool = False) -> None:
        """A line in the parent chain; `rest`: its own fields."""
        own = uuid(self.random)
        parent = f'"{self.parent}"' if self.parent and not root else "null"
        self.add(
            f'{{"parentUuid":{parent},{self._place},{rest},"uuid":"{own}","timestamp":"{self.stamp(least, most)}"}}'
        )
        self.parent = own

    def prompt(self, size: int, more: str = "") -> None:
        text = self.pool.cut(size)
        self.chained(f'"type":"user","message":{{"role":"user","content":"{text}"}}{more}', 5, 90)
        self.context += size // 4

    def usage(self, output: int) -> tuple[str, str]:
        """(usage of the last line, usage of the lines before it)."""
        random = self.random
        fresh = random.randrange(1, 12)
        written = max(0, self.context - self.cached - fresh)
        if random.random() < 0.02:  # the cache has expired
            written = self.context - fresh
        read = self.context - fresh - written
        long = written if random.random() < 0.3 else 0
        self.cached = self.context - fresh
        early = random.randrange(1, 8) if random.random() < 0.21 else output
        parts = (fresh, written, read, written - long, long)
        return USAGE.format(*parts, output), USAGE.format(*parts, early)

    def respond(self) -> list[Use]:
        """A response over one to five lines: thinking, text, and the tools that it uses."""
        random, pool = self.random, self.pool
        output = random.randrange(30, 900)
        last, early = self.usage(output)
        count = random.choices((1, 2, 3, 4, 5), (24, 52, 18, 4, 2))[0]
        blocks: list[str] = []
        uses: list[Use] = []
        if count > 1 and random.random() < 0.6:
            thought = pool.cut(random.randrange(40, 900)) if random.random() < 0.5 else ""
            signature = base64.b64encode(random.randbytes(random.randrange(200, 1500))).decode()
            blocks.append(f'{{"type":"thinking","thinking":"{thought}","signature":"{signature}"}}')
        if count > 1 or random.random() < 0.25:
            blocks.append(f'{{"type":"text","text":"{pool.cut(random.randrange(30, 900))}"}}')
        while not uses or len(blocks) < count:
            use, given = self._use()
            uses.append(use)
            blocks.append(f'{{"type":"tool_use","id":"{use.ident}","name":"{use.tool}","input":{{{given}}}}}')
        request, message = ident(self.random, "req_011"), ident(self.random, "msg_01")
        for i, block in enumerate(blocks):
            ends = i == len(blocks) - 1
            stop = '"tool_use"' if ends and random.random() < 0.2 else "null"
            self.chained(
                f'"message":{{"model":"{self.model}","id":"{message}","type":"message","role":"assistant","content":[{block}],'
                f'"stop_reason":{stop},"stop_sequence":null,"usage":{last if ends else early}}},"requestId":"{request}",'
                '"type":"assistant"',
                0.1,
                2,
            )
        self.context += output
        return uses

    def _use(self) -> tuple[Use, str]:
        random, cut = self.random, self.pool.cut
        tool = random.choices(TOOLS, TOOL_WEIGHTS)[0]
        path = random.choice(self.paths)
        old = new = ""
        if tool == "Read":
            part = f',"offset":{random.randrange(1, 900)},"limit":100' if random.random() < 0.4 else ""
            given = f'"file_path":"{path}"{part}'
        elif tool == "Edit":
            old, new = cut(random.randrange(40, 700)), cut(random.randrange(40, 900))
            given = f'"replace_all":false,"file_path":"{path}","old_string":"{old}","new_string":"{new}"'
        elif tool == "Write":
            new = cut(random.randrange(500, 9000))
            given = f'"file_path":"{path}","content":"{new}"'
        elif tool == "Grep":
            given = f'"pattern":"{cut(20)}","path":"{self.cwd}","output_mode":"content","-n":true'
        elif tool == "Task":
            given = (
                f'"description":"look around","prompt":"{cut(random.randrange(300, 2000))}","subagent_type":"Explore"'
            )
        else:
            given = f'"command":"{cut(random.randrange(20, 300))}","description":"run it"'
        return Use(tool, ident(random, "toolu_01"), path, old, new), given

    def result(self, use: Use) -> None:
        """What a tool gave back, and the copy of it that is never sent."""
        random, cut = self.random, self.pool.cut
        size = max(1, min(200_000, int(random.lognormvariate(math.log(344), 1.85))))
        if use.tool == "Edit":
            size = random.randrange(200, 900)
        elif use.tool in ("Write", "TodoWrite"):
            size = random.randrange(40, 220)
        elif use.tool == "Read":
            size = max(200, min(200_000, 3 * size))
        text = cut(size)
        content = f'"{text}"' if random.random() < 0.9 else f'[{{"type":"text","text":"{text}"}}]'
        tokens = int(size / 2.4)
        if use.tool == "Read" and random.random() < 0.006:
            image = png(random)
            tokens = 1500
            content = '[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"' + image + '"}}]'
            copy = f'{{"type":"image","file":{{"base64":"{image}","type":"image/png"}}}}'
        elif use.tool == "Read":
            copy = f'{{"type":"text","file":{{"filePath":"{use.path}","content":"{text}","numLines":90,"totalLines":900}}}}'
        elif use.tool == "Edit":
            before = cut(int(min(120_000, random.lognormvariate(math.log(12_500), 0.9))))
            copy = (
                f'{{"filePath":"{use.path}","oldString":"{use.old}","newString":"{use.new}","originalFile":"{before}",'
                f'"structuredPatch":[{{"oldStart":10,"oldLines":8,"lines":["{cut(random.randrange(300, 1500))}"]}}]}}'
            )
        elif use.tool == "Write":
            copy = f'{{"type":"create","filePath":"{use.path}","content":"{use.new}","originalFile":null}}'
        elif use.tool in ("Bash", "Grep"):
            copy = f'{{"stdout":"{text}","stderr":"","interrupted":false,"isImage":false}}'
        else:
            copy = '{"success":true,"updatedFields":["status"]}'
        failed = ',"is_error":true' if random.random() < 0.02 else ""
        self.chained(
            '"type":"user","message":{"role":"user","content":[{"tool_use_id":"' + use.ident + '","type":"tool_result",'
            f'"content":{content}{failed}}}]}},"toolUseResult":{copy}',
            0.05,
            20,
        )
        self.context += tokens + 12

    def progress(self, use: Use) -> None:
        """What a running tool tells the screen: never sent."""
        random, cut = self.random, self.pool.cut
        form = random.random()
        if form < 0.5:
            data = '{"type":"hook_progress","hookEvent":"PostToolUse","hookName":"PostToolUse:Edit","command":"check"}'
        elif form < 0.86:
            shown, text = cut(200), cut(random.randrange(1, 700))
            data = f'{{"type":"bash_progress","output":"{shown}","fullOutput":"{text}","elapsedTimeSeconds":9}}'
        else:
            text = cut(int(min(60_000, random.lognormvariate(math.log(5_500), 1.15))))
            message = (
                f'{{"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"{use.ident}","type":"tool_result",'
                f'"content":"{text}"}}]}},"uuid":"{uuid(self.random)}"}}'
            )
            again = message if random.random() < 0.5 else ""
            data = f'{{"type":"agent_progress","message":{message},"normalizedMessages":[{again}],"agentId":"a1b2c3"}}'
        self.chained(f'"type":"progress","data":{data},"parentToolUseID":"{use.ident}","toolUseID":"p1"', 0.05, 1)

    def turn(self) -> None:
        """One response and its results, and now and then what Claude Code writes besides."""
        random, cut = self.random, self.pool.cut
        for use in self.respond():
            if not self.agent:
                for _ in range(random.choices((0, 1, 2, 5, 14), (28, 33, 21, 13, 5))[0]):
                    self.progress(use)
            self.result(use)
        if random.random() < 0.12:
            known = f'{{"version":2,"backupFileName":"{ident(random, "")}"}}'
            backups = ",".join(f'"{path}":{known}' for path in self.paths[:6])
            own = f'"messageId":"{uuid(random)}"'
            held = f'{{{own},"trackedFileBackups":{{{backups}}}}}'
            self.add(f'{{"type":"file-history-snapshot",{own},"isSnapshotUpdate":true,"snapshot":{held}}}')
        if random.random() < 0.1 and not self.agent:
            hook = f'{{"command":"{cut(500)}","durationMs":41}}'
            self.chained(
                f'"type":"system","subtype":"stop_hook_summary","hookCount":1,"hookInfos":[{hook}],"hookErrors":[]'
            )
            self.prompt(random.randrange(40, 900))
        if random.random() < 0.1:
            text = cut(random.randrange(200, 3500))
            self.chained(
                f'"attachment":{{"type":"todo_reminder","content":"{text}","itemCount":3}},"type":"attachment"'
            )
        if self.context > 150_000:
            self.compact()

    def compact(self) -> None:
        self.chained(
            f'"logicalParentUuid":"{self.parent}","type":"system","subtype":"compact_boundary","content":"Conversation '
            f'compacted","isMeta":false,"compactMetadata":{{"trigger":"auto","preTokens":{self.context}}}',
            root=True,
        )
        self.context, self.cached = self.random.randrange(24_000, 42_000), 12_000
        self.prompt(self.random.randrange(4_000, 14_000), ',"isVisibleInTranscriptOnly":true,"isCompactSummary":true')

    def grow(self, size: int) -> None:
        """Turns until the file has `size` characters."""
        while self.size < size:
            self.turn()
