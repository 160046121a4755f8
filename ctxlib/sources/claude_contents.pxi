# What a line brings into the context: the blocks of its message, the text of an attachment (claude_scanner.pyx).

cdef enum:
    MOST_DEPTH = 8  # of blocks in blocks, and of values in an attachment

cdef enum Form:
    UNKNOWN, TEXT, THINKING, TOOL_USE, TOOL_RESULT

cdef struct Block:
    Form form
    bint failed, given  # given: `tool` holds what the tool is one of _TOOLS for
    json_text text, thinking, signature, id, name, use, content
    int64_t inner  # characters of a content that is a list
    const uint8_t *input
    const uint8_t *input_end
    json_sum sum
    json_text path, notebook, command
    int64_t offset, limit

cdef struct Attached:
    json_text type, filename, path
    int64_t chars
    bint names, parts  # holds what is looked at for one type only: names of servers, a prompt in parts

cdef const uint8_t *_tool(const uint8_t *p, const uint8_t *limit, Block *block) noexcept nogil:
    """The arguments that re-reads and shell commands are found by."""
    cdef json_text name, pages
    cdef uint32_t seen = 0
    pages.at = NULL
    p = json_first(p, c"}") if p[0] == c"{" else NULL
    while p != NULL and p[0] != c"}":
        p = key(p, limit, &name)
        if p == NULL:
            return NULL
        if named(&name, "file_path", 9):
            p = string(p, limit, &block.path) if once(&seen, 0) else NULL
        elif named(&name, "notebook_path", 13):
            p = string(p, limit, &block.notebook) if once(&seen, 1) else NULL
        elif named(&name, "offset", 6):
            p = number(p, &block.offset) if once(&seen, 2) else NULL
        elif named(&name, "limit", 5):
            p = number(p, &block.limit) if once(&seen, 3) else NULL
        elif named(&name, "pages", 5):
            p = string(p, limit, &pages) if once(&seen, 4) else NULL
            if pages.at != NULL and pages.size:
                return NULL
        elif named(&name, "command", 7):
            p = string(p, limit, &block.command) if once(&seen, 5) else NULL
        else:
            p = skip(p, limit)
        p = json_next(p, c"}")
    if not -MOST < block.offset < MOST or not -MOST < block.limit < MOST:
        return NULL
    return p

cdef const uint8_t *_block(const uint8_t *p, const uint8_t *limit, int depth, Block *out) noexcept nogil:
    cdef json_text name, kind
    cdef uint32_t seen = 0
    cdef Block inner
    memset(out, 0, sizeof(Block))
    kind.at = NULL
    p = json_first(p, c"}") if p[0] == c"{" and depth < MOST_DEPTH else NULL
    while p != NULL and p[0] != c"}":
        p = key(p, limit, &name)
        if p == NULL:
            return NULL
        if named(&name, "type", 4):
            p = string(p, limit, &kind) if once(&seen, 0) else NULL
        elif named(&name, "text", 4):
            p = string(p, limit, &out.text) if once(&seen, 1) else NULL
        elif named(&name, "thinking", 8):
            p = string(p, limit, &out.thinking) if once(&seen, 2) else NULL
        elif named(&name, "signature", 9):
            p = string(p, limit, &out.signature) if once(&seen, 3) else NULL
        elif named(&name, "id", 2):
            p = string(p, limit, &out.id) if once(&seen, 4) else NULL
        elif named(&name, "name", 4):
            p = string(p, limit, &out.name) if once(&seen, 5) else NULL
        elif named(&name, "tool_use_id", 11):
            p = string(p, limit, &out.use) if once(&seen, 6) else NULL
        elif named(&name, "is_error", 8):
            p = boolean(p, &out.failed) if once(&seen, 7) else NULL
        elif named(&name, "input", 5):
            if not once(&seen, 8):
                return NULL
            out.input = p
            p = out.input_end = json_value(p, limit, 0, &out.sum)
        elif named(&name, "content", 7):
            if not once(&seen, 9):
                return NULL
            if p[0] == c"[":
                p = json_first(p, c"]")
                while p != NULL and p[0] != c"]":
                    p = _block(p, limit, depth + 1, &inner)
                    if inner.form != TEXT:
                        return NULL
                    out.inner += inner.text.chars
                    p = json_next(p, c"]")
                p = p + 1 if p != NULL else NULL
            else:
                p = string(p, limit, &out.content)
        elif named(&name, "tool_name", 9) or named(&name, "source", 6):
            p = null(p)
        else:
            p = skip(p, limit)
        p = json_next(p, c"}")
    if p == NULL or kind.at == NULL:
        return NULL
    if named(&kind, "text", 4):
        out.form = TEXT
    elif named(&kind, "tool_result", 11):
        out.form = TOOL_RESULT
    elif named(&kind, "thinking", 8) or named(&kind, "redacted_thinking", 17):
        out.form = THINKING
    elif named(&kind, "tool_use", 8) or named(&kind, "server_tool_use", 15):
        out.form = TOOL_USE
        out.offset = out.limit = NO_NUMBER
        if out.name.flags & JSON_ESCAPED:
            return NULL
        if _is_told(&out.name):
            out.given = True
            if out.input != NULL and _tool(out.input, limit, out) == NULL:
                return NULL
    else:
        return NULL
    return p + 1

cdef inline bint _is_told(const json_text *name) noexcept nogil:
    return name.at != NULL and (
        named(name, "Read", 4) or named(name, "Edit", 4) or named(name, "Bash", 4) or named(name, "Write", 5)
        or named(name, "MultiEdit", 9) or named(name, "NotebookEdit", 12) or named(name, "PowerShell", 10)
    )

cdef inline int _text_key(const json_text *name) noexcept nogil:
    """Which of the keys it is that hold text inside of an attachment's text; -1 for another."""
    if named(name, "type", 4):
        return 0
    if named(name, "content", 7):
        return 1
    if named(name, "text", 4):
        return 2
    if named(name, "file", 4):
        return 3
    if named(name, "blockingError", 13):
        return 4
    if named(name, "prompt", 6):
        return 5
    return -1

cdef const uint8_t *_text_size(const uint8_t *p, const uint8_t *limit, int depth, int64_t *out) noexcept nogil:
    """Adds the characters of text in a value of an attachment: what claude_blocks._text_size says of it."""
    cdef json_text text
    cdef uint32_t seen = 0
    cdef int64_t size = 0
    cdef int items = 0, field
    cdef bint image = False
    if depth >= MOST_DEPTH:
        return NULL
    if p[0] == c'"':
        p = json_string(p + 1, limit, &text)
        if p != NULL:
            out[0] += text.chars
        return p
    if p[0] == c"[":
        p = json_first(p, c"]")
        while p != NULL and p[0] != c"]":
            out[0] += items > 0
            items = 1
            p = json_next(_text_size(p, limit, depth + 1, out), c"]")
        return p + 1 if p != NULL else NULL
    if p[0] != c"{":
        return skip(p, limit)
    p = json_first(p, c"}")
    while p != NULL and p[0] != c"}":
        p = key(p, limit, &text)
        if p == NULL:
            return NULL
        field = _text_key(&text)
        if field >= 0 and not once(&seen, field):
            return NULL
        if field == 0 and p[0] == c'"':
            p = json_string(p + 1, limit, &text)
            if p == NULL or text.flags & JSON_ESCAPED:
                return NULL
            image = named(&text, "image", 5)
        else:
            p = _text_size(p, limit, depth + 1, &size) if field > 0 else skip(p, limit)
        p = json_next(p, c"}")
    if not image:
        out[0] += size
    return p + 1 if p != NULL else NULL

cdef inline int _sent_key(const json_text *name) noexcept nogil:
    """Which of claude_blocks.TEXT_KEYS it is; -1 for none."""
    if named(name, "content", 7):
        return 0
    if named(name, "text", 4):
        return 1
    if named(name, "prompt", 6):
        return 2
    if named(name, "snippet", 7):
        return 3
    if named(name, "addedLines", 10):
        return 4
    if named(name, "addedBlocks", 11):
        return 5
    if named(name, "skills", 6):
        return 6
    if named(name, "banner", 6):
        return 7
    if named(name, "blockingError", 13):
        return 8
    if named(name, "planContent", 11):
        return 9
    return -1

cdef const uint8_t *_attached(const uint8_t *p, const uint8_t *limit, Attached *out) noexcept nogil:
    cdef json_text name
    cdef uint32_t seen = 0
    cdef int field
    p = json_first(p, c"}") if p[0] == c"{" else NULL
    while p != NULL and p[0] != c"}":
        p = key(p, limit, &name)
        if p == NULL:
            return NULL
        field = _sent_key(&name)
        if field >= 0:
            if field == 2 and p[0] == c"[":
                out.parts = True
            p = _text_size(p, limit, 0, &out.chars) if once(&seen, field) else NULL
        elif named(&name, "type", 4):
            p = string(p, limit, &out.type) if once(&seen, 10) else NULL
        elif named(&name, "filename", 8):
            p = string(p, limit, &out.filename) if once(&seen, 11) else NULL
        elif named(&name, "path", 4):
            p = string(p, limit, &out.path) if once(&seen, 12) else NULL
        else:
            if named(&name, "addedNames", 10):
                out.names = True
            p = skip(p, limit)
        p = json_next(p, c"}")
    return p + 1 if p != NULL else NULL
