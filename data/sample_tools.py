"""What the agent of a sample session does: one method per tool."""

from __future__ import annotations

from typing import Any

from sample_base import Line, version_key
from sample_session import Thread
from sample_text import RESULT_CHARS, draw
from sample_words import COMMANDS


class Tools:
    """The tools of an agent, working on one thread."""

    def __init__(self, thread: Thread) -> None:
        self.t = thread
        self.r = thread.r
        self.compact_at = thread.setup.window - 33_000
        self.post_tokens = False

    def say(self) -> str:
        """Visible text of an answer, often none."""
        return self.t.text.answer(self.r.randrange(1, 3)) if self.r.random() < 0.18 else ""

    def shown(self) -> str:
        """Thinking text: only older versions show it."""
        return "" if self.t.setup.new_style or self.r.random() < 0.5 else self.t.text.answer(self.r.randrange(1, 4))

    def one(
        self,
        name: str,
        inp: Line,
        content: Any,
        tokens: int | None = None,
        stub: Any = None,
        error: bool | None = None,
        wait: tuple[int, int] = (60, 4000),
    ) -> str:
        """One call with one tool use and its result; returns the tool use's id."""
        (tool_id,) = self.t.call(self.say(), [(name, inp)], shown=self.shown())
        self.t.result(tool_id, content, tokens, stub, error, wait=wait)
        return tool_id

    def path(self) -> str:
        """Some file of the project."""
        return self.r.choice(self.t.world.paths)

    def read_input(self) -> Line:
        """A read, now and then one that was made before."""
        if self.t.reads and self.r.random() < 0.16:
            return dict(self.r.choice(self.t.reads[-8:]))
        path = self.path()
        n = len(self.t.world.files[path])
        if n > 60 and self.r.random() < 0.8:
            return {"file_path": path, "offset": self.r.randrange(1, n - 40), "limit": self.r.choice([25, 40, 60, 75])}
        return {"file_path": path}

    def read_content(self, inp: Line) -> tuple[str, Line]:
        """What a read returns, and its stub."""
        offset, path = inp.get("offset", 1), inp["file_path"]
        text = self.t.world.numbered(path, offset, inp.get("limit", 2000), "\t" if self.t.setup.new_style else "→")
        total = len(self.t.world.files[path])
        return text, {
            "type": "text",
            "file": {"filePath": path, "numLines": text.count("\n") + 1, "startLine": offset, "totalLines": total},
        }

    def read(self, path: str | None = None, offset: int | None = None, limit: int | None = None) -> None:
        """Read a file or a range of it; one in thirty is not where it was looked for."""
        if path is None and self.r.random() < 0.038:
            self.read_missing(self.path().replace(f"{self.t.text.project}/", f"{self.t.text.project}/old/"))
            return
        inp = (
            self.read_input()
            if path is None
            else {"file_path": path} | ({"offset": offset, "limit": limit} if offset is not None else {})
        )
        content, stub = self.read_content(inp)
        self.one("Read", inp, content, stub=stub)
        self.t.reads.append(inp)

    def read_missing(self, path: str) -> None:
        """A read that fails."""
        text = f"File does not exist. Note: your current working directory is {self.t.setup.cwd}."
        self.one(
            "Read", {"file_path": path}, f"<tool_use_error>{text}</tool_use_error>", stub=f"Error: {text}", error=True
        )

    def edit(self, path: str | None = None, fail: bool = False) -> None:
        """Change a few lines of a file."""
        target = path or (self.r.choice(self.t.reads[-6:])["file_path"] if self.t.reads else self.path())
        lines = self.t.world.files[target]
        at = self.r.randrange(0, max(1, len(lines) - 20))
        old = lines[at : at + self.r.randrange(4, 18)]
        new = [*old, *self.t.text.source(target, 60)[20 : 20 + self.r.randrange(6, 38)]]
        inp: Line = {
            "replace_all": False,
            "file_path": target,
            "old_string": "\n".join(old),
            "new_string": "\n".join(new),
        }
        if fail or (path is None and self.r.random() < 0.1):
            inp["old_string"] = "\n".join(reversed(old[:4])) + "  # once"
            text = f"String to replace not found in file.\nString: {inp['old_string']}"
            if not fail and self.r.random() < 0.3:
                text = "File has been modified since read, either by the user or by a linter. Read it again before "
                text += "attempting to write it."
            self.one("Edit", inp, f"<tool_use_error>{text}</tool_use_error>", stub=f"Error: {text}", error=True)
            return
        self.one(
            "Edit",
            inp,
            f"The file {target} has been updated successfully.",
            stub={"filePath": target, "userModified": False},
        )
        self.t.world.edit(target, at, old, new)
        if self.t.setup.new_style and self.r.random() < 0.12:
            self.t.attach(
                "hook_success",
                "format: 1 file unchanged",
                hookName="PostToolUse:Edit",
                toolUseID=self.t.ident("toolu_01"),
                hookEvent="PostToolUse",
                content="format: 1 file unchanged",
                stdout="format: 1 file unchanged\n",
                stderr="",
                exitCode=0,
                command="make -s format",
                durationMs=self.r.randrange(40, 900),
            )

    def command(self) -> str:
        """A command of the project, or a few lines of a script."""
        if self.r.random() < 0.66:
            return self.r.choice(COMMANDS[self.t.setup.project])
        web = self.t.setup.project == "lantern-web"
        body = self.t.text.source("probe.ts" if web else "probe.py", 60)[14 : 14 + self.r.randrange(10, 36)]
        return "\n".join([f"{'npx tsx' if web else 'python'} - <<'EOF'", *body, "EOF"])

    def bash(self, command: str | None = None, chars: int | None = None) -> None:
        """Run a shell command."""
        cmd = command or self.command()
        size = draw(self.r, RESULT_CHARS) if chars is None else chars
        out, code = self.t.text.shell(cmd, size) if command is None else (self.t.text.output(cmd, size), 0)
        use_id = self.t.call(
            self.say(),
            [("Bash", {"command": cmd, "description": self.t.text.fill("Check {noun} and {noun2}")})],
            shown=self.shown(),
        )[0]
        if (2, 1, 11) <= version_key(self.t.setup.version) <= (2, 1, 62) and self.r.random() < 0.3:
            for seconds in range(2, 2 + self.r.randrange(1, 4)):
                self.t.tick(900, 1100)
                data = {
                    "type": "bash_progress",
                    "output": out[-60:],
                    "fullOutput": out[-60:],
                    "elapsedTimeSeconds": seconds,
                    "totalLines": 1,
                }
                self.t.put(
                    {
                        "type": "progress",
                        "data": data,
                        "toolUseID": f"bash-progress-{seconds}",
                        "parentToolUseID": use_id,
                    }
                )
        stub = f"Error: Exit code {code}" if code else {"stderr": "", "interrupted": False, "isImage": False}
        self.t.result(use_id, out, stub=stub, error=code > 0, wait=(300, 40_000))

    def grep(self) -> None:
        """Search the project."""
        hits = self.t.text.grep(
            [p.removeprefix(self.t.setup.cwd + "/") for p in self.t.world.paths], draw(self.r, RESULT_CHARS)
        )
        self.one(
            "Grep",
            {
                "pattern": f"{self.t.text.verb()}_{self.t.text.noun()}",
                "path": self.t.setup.cwd,
                "output_mode": "content",
                "-n": True,
            },
            hits,
            stub={"mode": "content", "numFiles": 0},
        )

    def glob(self) -> None:
        """List files by pattern."""
        found = self.r.sample(self.t.world.paths, self.r.randrange(2, 12))
        self.one(
            "Glob",
            {"pattern": f"**/*{self.t.text.noun()}*"},
            "\n".join(found),
            stub={"numFiles": len(found), "truncated": False},
        )

    def write(self) -> None:
        """Write a new file."""
        folder, ending = self.r.choice(["docs", "tests"]), "ts" if self.t.setup.project == "lantern-web" else "py"
        path = f"{self.t.setup.cwd}/{folder}/{self.t.text.noun()}_{self.r.randrange(10, 99)}.{ending}"
        lines = self.t.text.source(path, self.r.randrange(48, 130))
        self.one(
            "Write",
            {"file_path": path, "content": "\n".join(lines)},
            f"File created successfully at: {path}",
            stub={"type": "create", "filePath": path},
        )
        self.t.world.files[path] = lines

    def tasks(self) -> None:
        """Keep the task list."""
        if self.t.setup.new_style:
            self.one(
                "TaskUpdate",
                {"taskId": str(self.r.randrange(1, 9)), "status": "completed"},
                "Updated task status",
                stub={"success": True},
            )
            self.t.tasks_reminder()
            return
        todos = [
            {
                "content": self.t.text.fill("{verb} the {noun}"),
                "status": "pending",
                "activeForm": self.t.text.fill("Working on {noun}"),
            }
            for _ in range(3)
        ]
        self.one(
            "TodoWrite",
            {"todos": todos},
            "Todos have been modified successfully. Continue with the current task.",
            stub={"newTodos": 3},
        )

    def parallel(self) -> None:
        """Two or three reads in one response; each result hangs on its own tool use: only the last is an ancestor."""
        inputs = [self.read_input() for _ in range(self.r.randrange(2, 4))]
        ids = self.t.call(self.say(), [("Read", inp) for inp in inputs], shown=self.shown())
        for tool_id, inp in zip(ids, inputs, strict=True):
            content, stub = self.read_content(inp)
            self.t.result(tool_id, content, stub=stub, chained=False)
        self.t.reads += inputs

    def mcp(self, server: str, tool: str, inp: Line, chars: int) -> None:
        """A tool of an MCP server; its result is a list of text blocks."""
        text = self.t.text.prose(chars)
        self.one(
            f"mcp__{server}__{tool}",
            inp,
            [{"type": "text", "text": text}],
            self.t.tokens(text) + 20,
            [{"type": "text"}],
        )
