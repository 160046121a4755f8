"""Invented source files, tool output and prose for the sample logs.

Everything is put together from small word lists by a seeded generator: no line is taken from a real project. Sizes are
drawn from quantile tables with plain arithmetic, because ``math.log`` and friends may differ in the last bit between
platforms and the sample has to be the same bytes everywhere.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

from sample_code import Code
from sample_words import ANSWERS, DOCS, FOLLOW, OPENERS

Quantiles = Sequence[tuple[float, int]]

# Characters of a shell result: median about 450, a long tail. Real logs reach 26k at the 99th percentile; the sample
# stops earlier to stay small.
RESULT_CHARS: Quantiles = (
    (0.0, 24),
    (0.25, 140),
    (0.5, 450),
    (0.75, 1300),
    (0.9, 3600),
    (0.97, 6800),
    (0.99, 11000),
    (1.0, 18000),
)
PROMPT_SENTENCES: Quantiles = ((0.0, 1), (0.5, 2), (0.8, 3), (0.95, 6), (1.0, 9))


def draw(r: random.Random, table: Quantiles) -> int:
    """Draw a number from a quantile table, linear between its points."""
    x = r.random()
    for (q0, v0), (q1, v1) in pairwise(table):
        if x <= q1:
            return v0 + int((v1 - v0) * (x - q0) / (q1 - q0))
    return table[-1][1]


class Text(Code):
    """Prompts, answers, documents and tool output of one project."""

    def prompt(self) -> str:
        """What the person types: one opener and a few sentences of context."""
        n = draw(self.r, PROMPT_SENTENCES)
        return " ".join([self.fill(self.r.choice(OPENERS))] + [self.fill(self.r.choice(FOLLOW)) for _ in range(n - 1)])

    def answer(self, sentences: int) -> str:
        """What the assistant says."""
        return " ".join(self.fill(self.r.choice(ANSWERS)) for _ in range(sentences))

    def prose(self, chars: int) -> str:
        """Paragraphs with headings, for documents, memory files and summaries."""
        out: list[str] = []
        size = 0
        while size < chars:
            if self.r.random() < 0.25:
                line = f"## {self.verb().title()} the {self.noun()}"
            elif self.r.random() < 0.4:
                line = self.fill("- `{verb}_{noun}`: a {adj} {noun2} is kept until the next {noun}.")
            else:
                line = " ".join(self.fill(self.r.choice(DOCS)) for _ in range(self.r.randrange(1, 4)))
            out.append(line)
            size += len(line) + 1
        return "\n".join(out)[:chars].rstrip()

    def source(self, path: str, lines: int) -> list[str]:
        """The content of a file, by its ending."""
        if path.endswith((".ts", ".tsx")):
            return self.typescript(lines)
        if path.endswith(".sql"):
            return self.sql(lines)
        if path.endswith(".md"):
            return self.prose(lines * 60).split("\n")
        return self.python(lines)

    def listing(self, make: Sequence[str], chars: int) -> str:
        """Lines of the given templates until the size is reached."""
        out: list[str] = []
        size = 0
        while size < chars:
            line = (
                self.fill(self.r.choice(make))
                .replace("#4", f"{self.r.randrange(1000, 9999)}")
                .replace("#2", f"{self.r.randrange(10, 99)}")
                .replace("#1", f"{self.r.randrange(1, 9)}")
            )
            out.append(line)
            size += len(line) + 1
        return "\n".join(out)[:chars]

    def tests(self, chars: int, failed: bool) -> str:
        """Output of a test run."""
        head = f"collected {self.r.randrange(12, 480)} items\n\n"
        made = [
            "tests/test_{noun}.py::test_{verb}_{adj}_{noun2} PASSED [ #2%]",
            "tests/test_{noun}.py ......#1.... [ #2%]",
            "tests/unit/test_{noun2}_{verb}.py::test_{adj} PASSED [ #2%]",
        ]
        body = self.listing(made, max(20, chars - 160))
        passed, took = self.r.randrange(9, 300), f"{self.r.randrange(1, 40)}.{self.r.randrange(10, 99)}s"
        if not failed:
            return f"{head}{body}\n{passed} passed in {took}"
        why = f"E   AssertionError: assert {self.r.randrange(9)} == {self.r.randrange(10, 20)}"
        where = f"FAILED tests/test_{self.noun()}.py::test_{self.verb()} - AssertionError"
        return f"{head}{body}\n{why}\n{where}\n1 failed, {passed} passed in {took}"

    def shell(self, command: str, chars: int) -> tuple[str, int]:
        """Output and exit code of a shell command; a failure is told as the client tells it to the model."""
        if "pytest" in command or "vitest" in command:
            failed = self.r.random() < 0.36
            return ("Exit code 1\n" if failed else "") + self.tests(chars, failed), int(failed)
        if self.r.random() < (0.07 if command.startswith(("ls", "find", "tail")) else 0.2 * (command[:3] != "git")):
            return self.failure(command, min(chars, 1500))
        return self.output(command, chars), 0

    def failure(self, command: str, chars: int) -> tuple[str, int]:
        """What a command prints that fails, and its exit code."""
        if command.startswith(("ls", "find", "tail")):
            name = command.split()[0]
            code, why = (1, "cannot open") if name == "tail" else (2, "cannot access")
            return f"Exit code {code}\n{name}: {why} '{self.noun()}s/{self.verb()}': No such file or directory", code
        if command.startswith("python"):
            where = f'  File "<stdin>", line {self.r.randrange(3, 20)}, in <module>'
            return "Exit code 1\n" + "\n".join(
                [
                    "Traceback (most recent call last):",
                    where,
                    self.fill("AttributeError: '{noun}' has no '{adj}_{noun2}'"),
                ]
            ), 1
        made = [
            "src/{noun}/{verb}.ts(#2,#1): error TS2339: Property '{adj}' does not exist on type '{noun2}'.",
            "src/{noun2}/{verb}.ts(#2,#2): error TS2345: Argument of type '{noun}' is not assignable.",
        ]
        if command.startswith("make"):
            made = ["app/{noun}/{verb}.py:#2:#1: F401 '{noun2}' imported but unused", "app/{noun}.py:#2: error: {adj}"]
        return "Exit code 2\n" + self.listing(made, max(90, chars)), 2

    def output(self, command: str, chars: int) -> str:
        """Output of a command that succeeds, by what the command looks like."""
        if command.startswith("git log"):
            return self.listing(
                [
                    "#4a#2f {verb} {noun}: keep the {adj} {noun2}",
                    "c#4#1b fix {noun} of a {adj} {noun2}",
                    "#2d#4e docs: {topic}",
                ],
                chars,
            )
        if command.startswith("git diff"):
            return self.listing(
                [
                    "-    {adj} = {verb}_{noun}({noun2})",
                    "+    {adj} = {verb}_{noun}({noun2}, limit=#2)",
                    "@@ -#2,#1 +#2,#1 @@ def {verb}_{noun}(",
                    "     {noun}.{adj} = None",
                ],
                chars,
            )
        if command.startswith(("ls", "find")):
            return self.listing(
                [
                    "-rw-r--r-- 1 dev dev #4 Oct #1 1#1:#2 {noun}_{verb}.py",
                    "-rw-r--r-- 1 dev dev  #2 Sep 1#1 0#1:#2 {adj}_{noun}.sql",
                    "drwxr-xr-x 2 dev dev #4 Oct #1 1#1:#2 {noun}s",
                ],
                chars,
            )
        return self.listing(
            [
                "2026-10-0#1T1#1:#2:#2Z INFO {verb} {noun} id=#4 rows=#2",
                "2026-10-0#1T1#1:#2:#2Z WARN {adj} {noun} id=#4 kept, {noun2} missing",
                "{noun}_{verb}: #2 done, #1 {adj}, #4 ms",
            ],
            chars,
        )

    def grep(self, files: Sequence[str], chars: int) -> str:
        """Search hits over the files of the project."""
        out: list[str] = []
        size = 0
        while size < chars:
            line = f"{self.r.choice(files)}:{self.r.randrange(3, 400)}:" + self.fill(
                "    {adj} = {verb}_{noun}({noun2})"
            )
            out.append(line)
            size += len(line) + 1
        return "\n".join(out)
