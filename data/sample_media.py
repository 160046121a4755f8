"""Tools whose result is more than text: pictures, documents, skills, schemas."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from sample_base import Line, image_tokens, png
from sample_session import Thread
from sample_tools import Tools

PAGE_TOKENS = 1850
WIDE = (1440, 900)


def pdf(pages: int) -> str:
    """A small but valid PDF with that many empty pages, in base64."""
    kids = " ".join(f"{i + 3} 0 R" for i in range(pages))
    body = ["<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Count {pages}/Kids[{kids}]>>"]
    body += ["<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>"] * pages
    text = "%PDF-1.4\n"
    places = []
    for number, entry in enumerate(body, 1):
        places.append(len(text))
        text += f"{number} 0 obj{entry}endobj\n"
    size = len(body) + 1
    table = "".join(f"{p:010d} 00000 n \n" for p in places)
    end = f"trailer<</Size {size}/Root 1 0 R>>\nstartxref\n{len(text)}\n%%EOF\n"
    return base64.b64encode(f"{text}xref\n0 {size}\n0000000000 65535 f \n{table}{end}".encode()).decode()


def document(pages: int) -> Line:
    """A PDF as a block of a user line."""
    return {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": pdf(pages)}}


class Media(Tools):
    """The rest of an agent's tools."""

    def __init__(self, thread: Thread) -> None:
        super().__init__(thread)
        self.image_no = 0

    def screenshots(self, sizes: Sequence[tuple[int, int]], name: str = "shots/panel") -> None:
        """Read image files, all in one response."""
        made = []
        for width, height in sizes:
            self.image_no += 1
            data = png(width, height, (40 + self.image_no * 7 % 200, 90, 120))
            image = {"type": "image", "source": {"type": "base64", "data": data, "media_type": "image/png"}}
            shape = {"originalWidth": width, "originalHeight": height}
            stub = {"type": "image", "file": {"type": "image/png", "dimensions": shape}}
            made.append((f"{self.t.setup.cwd}/{name}-{self.image_no:02d}.png", image, stub))
        ids = self.t.call(self.say(), [("Read", {"file_path": path}) for path, _, _ in made], shown=self.shown())
        for tool_id, (_, image, stub), size in zip(ids, made, sizes, strict=True):
            self.t.result(tool_id, [image], image_tokens(*size) + 8, stub, chained=len(ids) == 1)

    def charts(self) -> None:
        """Look at the plots of the row counts, three at once."""
        self.screenshots([(1400, 900), (1400, 900), (1200, 800)], "charts/rows")

    def card(self, sizes: Sequence[tuple[int, int]]) -> None:
        """A page of an MCP server with its pictures, all in one result."""
        words = self.t.text.prose(900)
        content: list[Line] = [{"type": "text", "text": words}]
        for size in sizes:
            self.image_no += 1
            data = png(*size, (40 + self.image_no * 7 % 200, 120, 90))
            content.append({"type": "image", "source": {"type": "base64", "data": data, "media_type": "image/png"}})
        tokens = self.t.tokens(words) + sum(image_tokens(*size) for size in sizes) + 20
        page = {"page": self.t.text.fill("{adj}-{noun}-{noun2}")}
        self.one("mcp__notes__get_page", page, content, tokens, [{"type": "text"}])

    def document(self, name: str, pages: int) -> None:
        """Read a PDF: a short result, then the document as a meta line."""
        path = f"{self.t.setup.cwd}/docs/{name}.pdf"
        size = f"{pages * 31 + 84}.{pages % 9 + 1}KB"
        self.one("Read", {"file_path": path}, f"PDF file read: {path} ({size})", stub={"type": "pdf"})
        self.t.user([document(pages)], pages * PAGE_TOKENS + 10, {"isMeta": True})

    def skill(self, name: str) -> None:
        """Load a skill: a short result, then its text as a meta line."""
        tool_id = self.one(
            "Skill", {"skill": name}, f"Launching skill: {name}", stub={"success": True, "commandName": name}
        )
        folder = f"{self.t.setup.cwd}/.claude/skills/{name}"
        text = f"Base directory for this skill: {folder}\n\n# {name}\n\n{self.t.text.prose(2600)}"
        self.t.user(
            [{"type": "text", "text": text}], self.t.tokens(text) + 6, {"isMeta": True, "sourceToolUseID": tool_id}
        )

    def tool_search(self, names: list[str], schema_tokens: int) -> None:
        """Load deferred tools; their schemas enter the context but stand in no line."""
        refs = [{"type": "tool_reference", "tool_name": n} for n in names]
        self.one(
            "ToolSearch",
            {"query": "select:" + ",".join(names), "max_results": 5},
            refs,
            schema_tokens,
            {"matches": names, "query": "select", "total_deferred_tools": 31},
        )
