# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=False
"""The lines of Claude Code's logs that come by the hundred thousand, read without an object made of any.

What a line says is laid down in claude_code.py and claude_blocks.py. This module gives the same rows, bit by bit, for
the shapes that it knows, and hands every other line to them: it is a way round them and no second opinion. So `_line`
takes only what the typed decoder takes too, and in doubt refuses: nothing is added before a line is accepted whole.
"""

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE, PyByteArray_Resize
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy, memset

from msgspec.json import Decoder

from ctxlib.sources import claude_blocks
from ctxlib.tables import BLOCK, LINE, NO_TIME, NULL as NOT_KNOWN, USAGE, BlockKind, Category, LineKind, UsageScope, ident

cdef extern from "json_bytes.h" nogil:
    enum: JSON_ESCAPED, JSON_SPACED, JSON_U, JSON_ODD

    ctypedef struct json_text:
        const uint8_t *at
        int64_t size, chars, written, follow
        uint32_t flags

    ctypedef struct json_sum:
        int64_t written, follow
        uint32_t flags

    const uint8_t *json_string(const uint8_t *, const uint8_t *, json_text *)
    const uint8_t *json_value(const uint8_t *, const uint8_t *, int, json_sum *)
    const uint8_t *json_key(const uint8_t *, const uint8_t *, json_text *, json_sum *)
    const uint8_t *json_first(const uint8_t *, uint8_t)
    const uint8_t *json_next(const uint8_t *, uint8_t)
    const uint8_t *json_space(const uint8_t *)
    const uint8_t *json_word(const uint8_t *, const char *)
    const uint8_t *json_whole(const uint8_t *, int64_t *)

cdef extern from "xxh3_short.h" nogil:
    uint64_t xxh3_17to128(const uint8_t *, int64_t)

# --- the rows, as tables.py lays them out (`fits` compares) ------------------------------------------------------------

cdef packed struct LineRow:
    int32_t no
    int64_t ts
    uint64_t uuid, parent
    uint8_t kind, side
    int32_t place[4]

cdef packed struct UsageRow:
    int32_t line
    uint64_t request, message
    int32_t model
    int64_t input, cache_read, cache_write, cache_write_5m, cache_write_1h, unsplit, output, reasoning, ctx
    uint8_t final, fast
    int32_t miss
    int64_t missed
    uint8_t scope

cdef packed struct BlockRow:
    int32_t line
    uint8_t category, kind
    int32_t tool
    uint64_t use
    int32_t path
    int64_t offset, limit
    uint8_t is_error
    int64_t chars, hidden
    int32_t images
    int64_t image_tokens
    int32_t unsized_images, documents

_LAYOUTS = (
    (LINE, sizeof(LineRow), "no i4 ts i8 uuid u8 parent u8 kind u1 side b1 agent i4 session i4 cwd i4 version i4"),
    (
        USAGE,
        sizeof(UsageRow),
        "line i4 request u8 message u8 model i4 input i8 cache_read i8 cache_write i8 cache_write_5m i8 cache_write_1h i8 "
        "unsplit i8 output i8 reasoning i8 ctx i8 final b1 fast b1 miss i4 missed i8 scope u1",
    ),
    (
        BLOCK,
        sizeof(BlockRow),
        "line i4 category u1 kind u1 tool i4 use u8 path i4 offset i8 limit i8 is_error b1 chars i8 hidden i8 images i4 "
        "image_tokens i8 unsized_images i4 documents i4",
    ),
)
_TOOLS = ("Read", "Edit", "Write", "MultiEdit", "NotebookEdit", "Bash", "PowerShell")
_TEXT_KEYS = (
    "content", "text", "prompt", "snippet", "addedLines", "addedBlocks", "skills", "banner", "blockingError", "planContent"
)

include "claude_contents.pxi"
include "claude_grammar.pxi"

# --- rows of what was read ---------------------------------------------------------------------------------------------

_decode_text = Decoder(str).decode
_NOT_SENT = {name.encode() for name in claude_blocks._NOT_SENT}
_ATTACHED = {name.encode(): int(category) for name, category in claude_blocks._ATTACHED.items()}
cdef Py_ssize_t _longest = claude_blocks.LONGEST_COMMAND
cdef bint _inside[128]
cdef bint _suffix[128]
for _i in range(128):
    _inside[_i] = claude_blocks.FILE_NAME.fullmatch(chr(_i) + ".a") is not None
    _suffix[_i] = claude_blocks.FILE_NAME.fullmatch("a." + chr(_i)) is not None

cdef uint8_t OTHER = LineKind.OTHER, ENTERED = LineKind.ATTACHMENT, ATTACHED = BlockKind.ATTACHMENT
cdef uint8_t PROMPT = LineKind.PROMPT, RESULT = LineKind.RESULT, META = LineKind.META, ANSWER = LineKind.ASSISTANT
cdef uint8_t USER_TEXT = BlockKind.USER_TEXT, ASSISTANT_TEXT = BlockKind.ASSISTANT_TEXT, THOUGHT = BlockKind.THINKING
cdef uint8_t TOOL_INPUT = BlockKind.TOOL_INPUT, TOLD = BlockKind.TOOL_RESULT
cdef uint8_t MESSAGES = Category.MESSAGES, CALL = UsageScope.CALL
cdef int64_t UNDATED = NO_TIME

def fits() -> bool:
    """Whether the tables, the tools and the hash are still those that this module was made for."""
    sample = b"0123456789abcdef" * 8
    return (
        all(
            dtype.itemsize == size
            and " ".join(f"{name} {dtype[name].kind}{dtype[name].itemsize}" for name in dtype.names) == layout
            and all(dtype[name].isnative for name in dtype.names)
            for dtype, size, layout in _LAYOUTS
        )
        and claude_blocks.READS + claude_blocks.EDITS + claude_blocks.SHELLS == _TOOLS
        and claude_blocks._TEXT_KEYS == _TEXT_KEYS
        and NOT_KNOWN == NO_NUMBER
        and all(xxh3_17to128(sample, size) == ident(sample[:size].decode()) for size in range(17, 129))
    )

cdef enum:
    MEMO = 256  # bytes

cdef struct Memo:
    int64_t size  # of what was seen last; -1 for none of it, -2 for nothing seen
    uint8_t seen[MEMO]

cdef int _put(bytearray data, const void *row, Py_ssize_t size) except -1:
    cdef Py_ssize_t at = PyByteArray_GET_SIZE(data)
    PyByteArray_Resize(data, at + size)
    memcpy(PyByteArray_AS_STRING(data) + at, row, size)
    return 0

cdef object _str(const json_text *text):
    if text.at == NULL:
        return None
    if text.flags & JSON_ESCAPED:
        return _decode_text(PyBytes_FromStringAndSize(<const char *>text.at - 1, text.size + 2))
    return PyUnicode_DecodeUTF8(<const char *>text.at, text.size, NULL)

cdef bint _seen(Memo *memo, const json_text *text) noexcept nogil:
    """Whether this is what was there last; else it is now, if it is not too long to be held."""
    cdef int64_t size = text.size if text.at != NULL else -1
    if size == memo.size and (size <= 0 or memcmp(memo.seen, text.at, size) == 0):
        return True
    memo.size = size if size <= MEMO else -2
    if 0 < size <= MEMO:
        memcpy(memo.seen, text.at, size)
    return False

cdef class Scanner:
    """Reads the lines of one file into `rows`; `read_line` takes those that are handed on, `handed` counts them."""

    cdef object rows, read_line, call_id
    cdef bytearray lines, usage, blocks
    cdef list call_ids
    cdef dict tools  # name as the log spells it -> its code
    cdef Memo model_memo, id_memo
    cdef Memo place_memo[4]
    cdef int32_t model
    cdef int32_t place[4]
    cdef Line line
    cdef Block held[MOST_BLOCKS]
    cdef readonly int64_t handed

    def __cinit__(self, rows, read_line):
        self.rows, self.read_line = rows, read_line
        self.lines, self.usage, self.blocks = rows.lines.data, rows.usage.data, rows.blocks.data
        self.call_ids, self.call_id, self.tools, self.handed = rows.call_ids, "", {}, 0
        self.model_memo.size = self.id_memo.size = -2
        for i in range(4):
            self.place_memo[i].size = -2

    def __call__(self, const uint8_t[::1] data, Py_ssize_t size, int64_t no) -> tuple[int, int]:
        """Reads the lines that end within the first `size` bytes; the number of the next, and the byte it begins at."""
        if size > data.shape[0]:
            raise ValueError("there are fewer bytes")
        if size <= 0:
            return no, 0
        cdef const uint8_t *start = &data[0]
        cdef const uint8_t *limit = start + size
        cdef const uint8_t *p = start
        cdef const uint8_t *end
        self.line.blocks = self.held
        while True:
            end = <const uint8_t *>memchr(p, c"\n", limit - p) if p < limit else NULL
            if end == NULL:
                return no, p - start
            if _line(p, limit, &self.line) != end or not self._add(no):
                self.handed += 1
                self.read_line(self.rows, no, PyBytes_FromStringAndSize(<const char *>p, end - p))
            p = end + 1
            no += 1

    cdef bint _add(self, int64_t no) except -1:
        """The rows of the line that was read; False, and none of them, if it is one to hand on after all."""
        cdef Line *line = &self.line
        cdef LineRow row
        cdef json_text *place[4]
        cdef int32_t at = <int32_t>(PyByteArray_GET_SIZE(self.lines) // sizeof(LineRow))
        cdef int i
        cdef bint same = True
        if line.who == NOBODY or (not line.uuid.size and not line.session.size):
            return True
        row.ts = _instant(&line.stamp) if line.stamp.size else UNDATED
        if row.ts == -1:
            return False
        if line.who == USER:
            if line.content.size and _is_output(&line.content):
                return False
            row.kind = RESULT if self._add_blocks(at, USER_TEXT) else META if line.meta else PROMPT
        elif line.who == SYSTEM:
            row.kind = OTHER
        elif line.who == ATTACHMENT:
            if not self._add_attached(at):
                return False
            row.kind = ENTERED
        else:
            if line.model.flags & JSON_ESCAPED or named(&line.model, "<synthetic>", 11):
                return False
            self._add_usage(at)
            self._add_blocks(at, ASSISTANT_TEXT)
            row.kind = ANSWER
        place = [&line.agent, &line.session, &line.cwd, &line.version]
        for i in range(4):
            same = _seen(&self.place_memo[i], place[i]) and same
        if not same:
            self.place = self.rows.place(_str(place[0]), _str(place[1]), _str(place[2]), _str(place[3]))
        row.no, row.side, row.place = <int32_t>no, line.side, self.place
        row.uuid, row.parent = self._ident(&line.uuid), self._ident(&line.parent)
        _put(self.lines, &row, sizeof(row))
        return True

    cdef int _add_usage(self, int32_t at) except -1:
        cdef Line *line = &self.line
        cdef Usage *usage = &line.usage
        cdef UsageRow row
        cdef json_text *id = &line.request if line.request.size else &line.id if line.id.size else &line.uuid
        if not _seen(&self.model_memo, &line.model):
            self.model = self.rows.code(_str(&line.model))
        row.line, row.model = at, self.model
        row.request, row.message = self._ident(&line.request), self._ident(&line.id)
        row.input, row.cache_read, row.output, row.reasoning = usage.fresh, usage.read, usage.output, usage.reasoning
        row.cache_write = max(usage.flat, usage.short + usage.long)
        row.cache_write_1h = usage.long
        row.cache_write_5m = row.cache_write - usage.long
        row.unsplit = row.cache_write_5m - usage.short
        row.ctx = usage.fresh + usage.read + row.cache_write or NO_NUMBER
        row.final, row.fast, row.miss, row.missed, row.scope = line.final, usage.fast, 0, NO_NUMBER, CALL
        _put(self.usage, &row, sizeof(row))
        if not _seen(&self.id_memo, id):
            self.call_id = (_str(id) or "")[:128]
        self.call_ids.append(self.call_id)
        return 0

    cdef bint _add_blocks(self, int32_t at, uint8_t said) except -1:
        """True if one of them is a tool's result."""
        cdef BlockRow row
        cdef Block *block
        cdef bint results = False
        cdef int i
        memset(&row, 0, sizeof(row))
        row.line, row.category, row.offset, row.limit = at, MESSAGES, NO_NUMBER, NO_NUMBER
        if self.line.content.size:
            row.kind, row.chars = said, self.line.content.chars
            _put(self.blocks, &row, sizeof(row))
        for i in range(self.line.count):
            block = &self.held[i]
            row.tool, row.use, row.path, row.is_error, row.hidden = 0, 0, 0, 0, 0
            row.offset, row.limit = NO_NUMBER, NO_NUMBER
            if block.form == TEXT:
                row.kind, row.chars = said, block.text.chars
            elif block.form == THINKING:
                row.kind, row.chars, row.hidden = THOUGHT, block.thinking.chars, block.signature.chars
            elif block.form == TOOL_RESULT:
                results = True
                row.kind, row.chars = TOLD, block.content.chars + block.inner
                row.use, row.is_error = self._ident(&block.use), block.failed
            else:
                row.kind, row.chars = TOOL_INPUT, block.name.chars + self._characters(block)
                row.tool, row.use = self._tool(&block.name), self._ident(&block.id)
                if block.given:
                    row.path = self._path(&block.path if block.path.size else &block.notebook)
                    row.offset, row.limit = block.offset, block.limit
                    if block.command.size:
                        self._add_named(at, _str(&block.command))
            _put(self.blocks, &row, sizeof(row))
        return results

    cdef bint _add_attached(self, int32_t at) except -1:
        cdef Attached *held = &self.line.attached
        cdef const json_text *path = &held.filename if held.filename.size else &held.path
        cdef BlockRow row
        if held.type.at == NULL or held.type.flags & JSON_ESCAPED:
            return False
        if held.names and named(&held.type, "mcp_instructions_delta", 22) or held.parts and named(&held.type, "queued_command", 14):
            return False
        cdef bytes name = PyBytes_FromStringAndSize(<const char *>held.type.at, held.type.size)
        memset(&row, 0, sizeof(row))
        row.chars = 0 if name in _NOT_SENT else held.chars
        if row.chars or path.size:
            row.line, row.kind, row.category = at, ATTACHED, _ATTACHED.get(name, MESSAGES)
            row.tool, row.offset, row.limit = self.rows.code(_str(&held.type), 80), NO_NUMBER, NO_NUMBER
            row.path = self._path(path)
            _put(self.blocks, &row, sizeof(row))
        return True

    cdef int _add_named(self, int32_t at, str command) except -1:
        """The names of files in a command: what FILE_NAME finds, which is a word between breaks that ends in .suffix."""
        cdef Py_ssize_t size = min(len(command), _longest), begin = 0, dot = -1, i
        cdef Py_UCS4 letter
        cdef list found = []
        for i in range(size):
            letter = command[i]
            if _inside[letter] if letter < 128 else not letter.isspace():
                if letter == u".":
                    dot = i
                elif dot >= begin and not (letter < 128 and _suffix[letter]):
                    dot = -1
                continue
            if dot > begin and 1 <= i - dot - 1 <= 12:
                found.append(command[begin:i])
            begin, dot = i + 1, -1
        if dot > begin and 1 <= size - dot - 1 <= 12:
            found.append(command[begin:size])
        if found:
            claude_blocks.mentioned(self.rows, at, found)
        return 0

    cdef uint64_t _ident(self, const json_text *text) except? 0:
        if text.at == NULL or not text.size:
            return 0
        if 17 <= text.size <= 128 and not text.flags & JSON_ESCAPED:
            return xxh3_17to128(text.at, text.size)
        return self.rows.ident(_str(text))

    cdef int32_t _tool(self, const json_text *name) except -1:
        if name.at == NULL or not name.size:
            return 0
        cdef bytes spelled = PyBytes_FromStringAndSize(<const char *>name.at, name.size)
        code = self.tools.get(spelled)
        if code is None:
            code = self.tools[spelled] = self.rows.code(_str(name), 200)
        return code

    cdef int32_t _path(self, const json_text *path) except -1:
        if path.at == NULL or not path.size:
            return 0
        return self.rows.code(claude_blocks.normal_path(_str(path)))

    cdef int64_t _characters(self, const Block *block) except -1:
        """Of a tool's input as compact JSON; as the log spells it, unless that shows spaces or escapes."""
        if block.input == NULL:
            return 0
        cdef int64_t size = block.input_end - block.input
        if not block.sum.flags & (JSON_SPACED | JSON_U):
            return size - block.sum.follow
        if not block.sum.flags & JSON_ODD:
            return block.sum.written
        return claude_blocks.characters(PyBytes_FromStringAndSize(<const char *>block.input, size))

cdef bint _is_output(const json_text *content) noexcept nogil:
    """Whether it may hold what a command of the program's own printed."""
    cdef const char *mark = b"<local-command-stdout>"
    cdef const uint8_t *p = content.at
    cdef const uint8_t *last = content.at + content.size - 22
    if content.flags & JSON_U:
        return True
    while p <= last:
        p = <const uint8_t *>memchr(p, c"<", last - p + 1)
        if p == NULL:
            return False
        if memcmp(p, mark, 22) == 0:
            return True
        p += 1
    return False
