"""Claude Code's own /context output, in every form that logs hold (formats.md, 1.10): counted categories, no estimate.

Form A to C are screens (a grid with a legend, ANSI or copied), D is markdown, and the SDK's stream writes JSON. Only
numbers and the labels of rows are kept; text around the output is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

Row = tuple[str, str, int, str]
Detail = tuple[str, str, int]

_CATEGORIES = {
    "system prompt": "system_prompt",
    "skills": "skills",
    "memory files": "memory",
    "custom agents": "agents",
    "system tools": "tools",
    "mcp tools": "mcp_tools",
    "messages": "messages",
}
_JSON_LISTS = {"mcp_tools": "mcp_tools", "memory_files": "memory", "agents": "agents", "skills": "skills"}
_TABLE_TITLES = ("estimated usage by category", "categories")

# Every quantifier over text is bounded, so that no text makes the search more than linear.
_ESCAPE = re.compile(r"(?:\x1b|\\u001b|\\x1b|\\e)\[[0-9;?]{0,40}[A-Za-z]")
_NUMBER = r"[0-9][0-9.,]{0,14}[kKmM]?"
_HEADER = re.compile(rf"({_NUMBER})\s{{0,3}}/\s{{0,3}}({_NUMBER})\s{{0,3}}(?:tokens\s{{0,3}})?\([0-9.]{{1,6}}%\)")
_LEGEND = re.compile(rf"([^\W\d_][^:|]{{0,59}}):\s{{1,3}}({_NUMBER})(?:\s{{1,3}}tokens)?\s{{0,3}}\([0-9.]{{1,6}}%\)")
_LEAF = re.compile(rf"(\S.{{0,299}}):\s{{1,3}}([~<]?\s?{_NUMBER})\s{{1,3}}tokens")
_QUANTITY = re.compile(rf"[~<≈]?\s?({_NUMBER})")
_MODEL = re.compile(r"[A-Za-z0-9][\w.:/@~-]{1,99}(?:\[1m\])?")
_JSON_ROW = re.compile(
    r'"name"\s{0,9}:\s{0,9}"([^"\\]{1,60})"\s{0,9},\s{0,9}"tokens"\s{0,9}:\s{0,9}([0-9]{1,12})\s{0,9},'
    r'\s{0,9}"kind"\s{0,9}:\s{0,9}"(used|deferred|free|buffer)"'
)
_JSON_COUNT = r'"%s"\s{0,9}:\s{0,9}([0-9]{1,12})'
_JSON_TEXT = r'"(?:%s)"\s{0,9}:\s{0,9}"((?:[^"\\]|\\.){1,300})"'
_BUFFERS = (32_000, 46_000)  # tokens: the autocompact buffers seen are 33k and 45.0k, less the rounding of the header
_LONGEST = 2_000  # characters of a line; no row of the output is as long


@dataclass(frozen=True)
class ContextOutput:
    """One /context output; all counts in tokens, as far as the output rounds them (basis `counted`).

    `total` and `window` are the header's, as printed: some forms count the autocompact buffer into the total, some show
    the window less the buffer (`ctxlib.models.full_window` puts it back). `used` is the occupied part, without the
    buffer. `rows` are (category, name as printed, tokens, kind): category a `Category` in lower case, "" for free space
    and buffer; kind used, deferred, free or buffer. Only used rows are part of `used`. `details` are (category, label,
    tokens) of single tools, agents, memory files and skills; a row that the screen cut is not among them, tools whose
    schemas are deferred are, under their own category.
    """

    model: str | None
    total: int
    window: int | None
    used: int
    buffer: int
    rows: tuple[Row, ...]
    details: tuple[Detail, ...]


def looks_like(text: str) -> bool:
    """Whether it is worth parsing: a few substrings that every form has; prose about /context may have them too."""
    return ("System tools" in text or "System prompt" in text) and (
        "Context Usage" in text or "context_usage" in text or "Free space" in text
    )


def parse(text: str) -> ContextOutput | None:
    """The first /context output in a text; None where there is none (no header, or fewer than two rows).

    Never raises and takes linear time on any text.
    """
    at = text.find('"context_usage"')
    if at >= 0 and (found := _structured(text[at:])):
        return found
    model: str | None = None
    before, section = "", None
    header: tuple[int, int] | None = None
    rows: list[Row] = []
    details: list[Detail] = []
    for line in _lines(text):
        bare = _bare(line)
        if head := _HEADER.search(line):
            if header is not None:
                break
            header = _number(head[1]), _number(head[2])
            model = _model_in(line[: head.start()]) or model or _model_alone(before)
        elif header is None:
            if bare.lower().startswith("model:"):
                model = _model_in(bare)
            before = bare or before
        elif line.startswith("|"):
            _table_row(line, section, rows, details)
        elif section is None and (found_row := _LEGEND.fullmatch(bare)):
            rows.append(_row(found_row[1], _number(found_row[2])))
        elif (title := _title(line, bare)) is not None:
            section = None if title in _TABLE_TITLES else _CATEGORIES.get(title, "")
        elif section and (leaf := _LEAF.fullmatch(line.lstrip(" \t└├│─⎿").rstrip())):
            details.append((section, _label(leaf[1], section), _quantity(leaf[2]) or 0))
    return _made(model, header, rows, details)


def _made(
    model: str | None, header: tuple[int, int | None] | None, rows: list[Row], details: list[Detail]
) -> ContextOutput | None:
    if header is None or len(rows) < 2:
        return None
    total, window = header
    listed = sum(tokens for _, _, tokens, kind in rows if kind == "used")
    buffer = sum(tokens for _, _, tokens, kind in rows if kind == "buffer")
    # No form says whether its total holds the buffer; the rows tell, and are finer than a total printed as 166k. A
    # screen copied without its last rows leaves a gap of the buffer's size.
    gap = total - listed
    whole = any(kind == "free" for _, _, _, kind in rows)
    within = abs(gap - buffer) < abs(gap) if whole else _BUFFERS[0] <= gap <= _BUFFERS[1]
    used = listed if within else total
    return ContextOutput(model, total, window, used, buffer, tuple(rows), tuple(details))


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if len(line) <= _LONGEST:
            yield _ESCAPE.sub("", line)


def _bare(line: str) -> str:
    """A line without what stands before its first letter or digit (grid cells, bullets, markup), and without bold."""
    for at, character in enumerate(line):
        if character.isalnum():
            return line[at:].rstrip().replace("**", "")
    return ""


def _title(line: str, bare: str) -> str | None:
    """The name of a section that begins here, in lower case: `### Skills` or `Skills · /skills`."""
    if line.startswith("#"):
        return bare.lower()
    name, dot, _ = bare.partition(" · ")
    return name.lower() if dot or bare.lower() in _TABLE_TITLES else None


def _table_row(line: str, section: str | None, rows: list[Row], details: list[Detail]) -> None:
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if len(cells) != 3:
        return
    if section is None:
        tokens = _quantity(cells[1])
        if tokens is not None and cells[2].endswith("%") and 0 < len(cells[0]) <= 60:
            rows.append(_row(cells[0], tokens))
    elif section and (tokens := _quantity(cells[2])) is not None:
        details.append((section, cells[1 if section == "memory" else 0][:300], tokens))


def _row(name: str, tokens: int, kind: str = "") -> Row:
    plain = name.strip().lower()
    if plain.endswith("buffer") or kind == "buffer":
        return "", name, tokens, "buffer"
    if plain == "free space" or kind == "free":
        return "", name, tokens, "free"
    if plain.endswith("(deferred)") or kind == "deferred":
        return "deferred", name, tokens, "deferred"
    return _CATEGORIES.get(plain, "other"), name, tokens, "used"


def _label(text: str, section: str) -> str:
    """`name (server)` is the name; of memory, whose rows say `type (path)`, it is the path."""
    name, bracket, inner = text.removesuffix(")").partition(" (")
    if not bracket or not text.endswith(")"):
        return text
    return inner if section == "memory" else name


def _model_in(text: str) -> str | None:
    name = re.split("[·•]", text, maxsplit=1)[0]
    name = _bare(name).removeprefix("Model:").strip(" *`")
    return name if _MODEL.fullmatch(name) and not name.endswith(":") else None


def _model_alone(line: str) -> str | None:
    """Form C prints the id on a row of its own; its hyphen tells it from a title or a display name."""
    return line if "-" in line and _MODEL.fullmatch(line) else None


def _quantity(text: str) -> int | None:
    found = _QUANTITY.fullmatch(text)
    return _number(found[1]) if found else None


def _number(text: str) -> int:
    scale = {"k": 1_000, "m": 1_000_000}.get(text[-1].lower(), 1)
    digits = text.rstrip("kKmM").replace(",", "")
    whole, _, part = digits.partition(".")
    # As integers: 1.1k is 1100 exactly, and a second dot ends the number.
    part = part.partition(".")[0][:6].ljust(6, "0")
    return int(whole or "0") * scale + int(part) * scale // 1_000_000


def _structured(text: str) -> ContextOutput | None:
    total = re.search(_JSON_COUNT % "total_tokens", text)
    window = re.search(_JSON_COUNT % "raw_max_tokens", text)
    model = re.search(_JSON_TEXT % "model", text)
    rows = [_row(name, int(tokens), kind) for name, tokens, kind in _JSON_ROW.findall(text)]
    details = [detail for key, category in _JSON_LISTS.items() for detail in _json_details(text, key, category)]
    name = model[1] if model and _MODEL.fullmatch(model[1]) else None
    header = (int(total[1]), int(window[1]) if window else None) if total else None
    return _made(name, header, rows, details)


def _json_details(text: str, key: str, category: str) -> Iterator[Detail]:
    opened = re.search(rf'"{key}"\s{{0,9}}:\s{{0,9}}\[', text)
    if opened is None:
        return
    for item in text[opened.end() :].partition("]")[0].split("}"):
        label = re.search(_JSON_TEXT % ("path" if category == "memory" else "name|agent_type|agentType"), item)
        tokens = re.search(_JSON_COUNT % "tokens", item)
        if label and tokens:
            yield category, label[1], int(tokens[1])
