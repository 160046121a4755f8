# What one line says of itself, its message and its usage: a line is taken whole or refused (claude_scanner.pyx).
#
# Each function takes the place of a value and gives the place behind it, or NULL where the typed decoder would refuse
# the value, or where it means what only Python can say: then the line is handed on.

cdef enum:
    MOST_BLOCKS = 128  # of a line: more are read in Python
    NO_NUMBER = -1  # tables.NULL

cdef int64_t MOST = 10**15  # tokens: a count beyond is no count

cdef enum Who:
    NOBODY, USER, ASSISTANT, SYSTEM, ATTACHMENT

cdef struct Usage:
    int64_t fresh, read, flat, short, long, output, reasoning
    bint fast

cdef struct Line:
    Who who
    json_text uuid, parent, session, stamp, agent, cwd, version, request
    bint side, meta
    json_text id, model, content
    bint final
    Usage usage
    Attached attached
    int count
    Block *blocks

cdef inline bint named(const json_text *text, const char *name, int64_t size) noexcept nogil:
    return text.size == size and memcmp(text.at, name, size) == 0 and not text.flags & JSON_ESCAPED

cdef inline bint once(uint32_t *seen, int field) noexcept nogil:
    """False for a key that stood there already: of two, the last counts, and this reader has used the first."""
    cdef uint32_t bit = <uint32_t>1 << field
    if seen[0] & bit:
        return False
    seen[0] |= bit
    return True

cdef inline const uint8_t *null(const uint8_t *p) noexcept nogil:
    return json_word(p, b"null")

cdef inline const uint8_t *skip(const uint8_t *p, const uint8_t *limit) noexcept nogil:
    cdef json_sum sum
    memset(&sum, 0, sizeof(sum))
    return json_value(p, limit, 0, &sum)

cdef inline const uint8_t *key(const uint8_t *p, const uint8_t *limit, json_text *name) noexcept nogil:
    """A key of a record; one spelled with escapes is refused, since it may be any."""
    cdef json_sum sum
    memset(&sum, 0, sizeof(sum))
    p = json_key(p, limit, name, &sum)
    return p if p != NULL and not name.flags & JSON_ESCAPED else NULL

cdef inline const uint8_t *string(const uint8_t *p, const uint8_t *limit, json_text *out) noexcept nogil:
    if p[0] == c'"':
        return json_string(p + 1, limit, out)
    memset(out, 0, sizeof(json_text))
    return null(p)

cdef inline const uint8_t *boolean(const uint8_t *p, bint *out) noexcept nogil:
    if p[0] == c't':
        out[0] = True
        return json_word(p, b"true")
    return json_word(p, b"false") if p[0] == c'f' else null(p)

cdef inline const uint8_t *number(const uint8_t *p, int64_t *out) noexcept nogil:
    return null(p) if p[0] == c'n' else json_whole(p, out)

cdef inline const uint8_t *count(const uint8_t *p, int64_t *out) noexcept nogil:
    """Tokens: none where the count is negative or absurd."""
    p = number(p, out)
    if out[0] < 0 or out[0] >= MOST:
        out[0] = 0
    return p

cdef const uint8_t *_split(const uint8_t *p, const uint8_t *limit, Usage *out) noexcept nogil:
    """cache_creation: what was written for five minutes and for an hour."""
    cdef json_text name
    cdef uint32_t seen = 0
    if p[0] != c"{":
        return null(p)
    p = json_first(p, c"}")
    while p != NULL and p[0] != c"}":
        p = key(p, limit, &name)
        if p == NULL:
            return NULL
        if named(&name, "ephemeral_5m_input_tokens", 25):
            p = count(p, &out.short) if once(&seen, 0) else NULL
        elif named(&name, "ephemeral_1h_input_tokens", 25):
            p = count(p, &out.long) if once(&seen, 1) else NULL
        else:
            p = skip(p, limit)
        p = json_next(p, c"}")
    return p + 1 if p != NULL else NULL

cdef const uint8_t *_details(const uint8_t *p, const uint8_t *limit, Usage *out) noexcept nogil:
    cdef json_text name
    cdef uint32_t seen = 0
    if p[0] != c"{":
        return null(p)
    p = json_first(p, c"}")
    while p != NULL and p[0] != c"}":
        p = key(p, limit, &name)
        if p == NULL:
            return NULL
        if named(&name, "thinking_tokens", 15):
            p = number(p, &out.reasoning) if once(&seen, 0) else NULL
        else:
            p = skip(p, limit)
        p = json_next(p, c"}")
    if not 0 <= out.reasoning < MOST:
        out.reasoning = NO_NUMBER
    return p + 1 if p != NULL else NULL

cdef const uint8_t *_iterations(const uint8_t *p, const uint8_t *limit) noexcept nogil:
    """None, or one: it says what the whole does."""
    cdef Usage usage
    cdef json_text kind
    if p[0] != c"[":
        return null(p)
    p = json_first(p, c"]")
    if p != NULL and p[0] != c"]":
        p = json_next(_usage(p, limit, &usage, True), c"]")
    return p + 1 if p != NULL and p[0] == c"]" else NULL

cdef const uint8_t *_usage(const uint8_t *p, const uint8_t *limit, Usage *out, bint step) noexcept nogil:
    """Of a request, or of one step of it: that has fewer fields, but those of the other are refused where they differ."""
    cdef json_text name, text
    cdef uint32_t seen = 0
    memset(out, 0, sizeof(Usage))
    out.reasoning = NO_NUMBER
    if p[0] != c"{":
        if step:
            return NULL
        return null(p)
    p = json_first(p, c"}")
    while p != NULL and p[0] != c"}":
        p = key(p, limit, &name)
        if p == NULL:
            return NULL
        if named(&name, "input_tokens", 12):
            p = count(p, &out.fresh) if once(&seen, 0) else NULL
        elif named(&name, "cache_read_input_tokens", 23):
            p = count(p, &out.read) if once(&seen, 1) else NULL
        elif named(&name, "cache_creation_input_tokens", 27):
            p = count(p, &out.flat) if once(&seen, 2) else NULL
        elif named(&name, "cache_creation", 14):
            p = _split(p, limit, out) if once(&seen, 3) else NULL
        elif named(&name, "output_tokens", 13):
            p = count(p, &out.output) if once(&seen, 4) else NULL
        elif named(&name, "output_tokens_details", 21):
            p = _details(p, limit, out) if once(&seen, 5) else NULL
        elif named(&name, "speed", 5):
            p = string(p, limit, &text) if once(&seen, 6) else NULL
            if p != NULL and text.at != NULL:
                out.fast = named(&text, "fast", 4)
                if text.flags & JSON_ESCAPED:
                    return NULL
        elif named(&name, "iterations", 10):
            p = _iterations(p, limit) if once(&seen, 7) and not step else NULL
        elif named(&name, "type", 4) and step:
            p = string(p, limit, &text)
        else:
            p = skip(p, limit)
        p = json_next(p, c"}")
    return p + 1 if p != NULL else NULL

cdef const uint8_t *_only_null(const uint8_t *p, const uint8_t *limit, const char *field, int64_t size) noexcept nogil:
    """A record of which one field is read: it must be null, or not there."""
    cdef json_text name
    if p[0] != c"{":
        return null(p)
    p = json_first(p, c"}")
    while p != NULL and p[0] != c"}":
        p = key(p, limit, &name)
        if p != NULL:
            p = null(p) if named(&name, field, size) else skip(p, limit)
        p = json_next(p, c"}")
    return p + 1 if p != NULL else NULL

cdef const uint8_t *_message(const uint8_t *p, const uint8_t *limit, Line *out) noexcept nogil:
    cdef json_text name, stop
    cdef uint32_t seen = 0
    if p[0] != c"{":
        return null(p)
    p = json_first(p, c"}")
    while p != NULL and p[0] != c"}":
        p = key(p, limit, &name)
        if p == NULL:
            return NULL
        if named(&name, "content", 7):
            if not once(&seen, 0):
                return NULL
            if p[0] == c"[":
                p = json_first(p, c"]")
                while p != NULL and p[0] != c"]":
                    p = _block(p, limit, 0, &out.blocks[out.count]) if out.count < MOST_BLOCKS else NULL
                    out.count += 1
                    p = json_next(p, c"]")
                p = p + 1 if p != NULL else NULL
            else:
                p = string(p, limit, &out.content)
        elif named(&name, "usage", 5):
            p = _usage(p, limit, &out.usage, False) if once(&seen, 1) else NULL
        elif named(&name, "id", 2):
            p = string(p, limit, &out.id) if once(&seen, 2) else NULL
        elif named(&name, "model", 5):
            p = string(p, limit, &out.model) if once(&seen, 3) else NULL
        elif named(&name, "stop_reason", 11):
            p = string(p, limit, &stop) if once(&seen, 4) else NULL
            out.final = p != NULL and stop.at != NULL
        elif named(&name, "diagnostics", 11):
            p = _only_null(p, limit, "cache_miss_reason", 17)
        else:
            p = skip(p, limit)
        p = json_next(p, c"}")
    return p + 1 if p != NULL else NULL

cdef const uint8_t *_line(const uint8_t *p, const uint8_t *limit, Line *out) noexcept nogil:
    cdef json_text name, text, subtype
    cdef uint32_t seen = 0
    cdef bint flag
    cdef Block *blocks = out.blocks
    subtype.at = NULL
    memset(out, 0, sizeof(Line))
    out.blocks = blocks
    out.usage.reasoning = NO_NUMBER
    p = json_space(p)
    p = json_first(p, c"}") if p[0] == c"{" else NULL
    while p != NULL and p[0] != c"}":
        p = key(p, limit, &name)
        if p == NULL:
            return NULL
        if named(&name, "type", 4):
            p = string(p, limit, &text) if once(&seen, 0) else NULL
            if p == NULL or text.at == NULL or text.flags & JSON_ESCAPED:
                return NULL
            if named(&text, "user", 4):
                out.who = USER
            elif named(&text, "assistant", 9):
                out.who = ASSISTANT
            elif named(&text, "system", 6):
                out.who = SYSTEM
            elif named(&text, "attachment", 10):
                out.who = ATTACHMENT
        elif named(&name, "message", 7):
            p = _message(p, limit, out) if once(&seen, 1) else NULL
        elif named(&name, "toolUseResult", 13):
            if p[0] == c"{":
                p = _only_null(p, limit, "resolvedModel", 13)
            elif p[0] == c"[" or p[0] == c'"' or p[0] == c"n":
                p = skip(p, limit)
            else:
                return NULL
        elif named(&name, "uuid", 4):
            p = string(p, limit, &out.uuid) if once(&seen, 2) else NULL
        elif named(&name, "parentUuid", 10):
            p = string(p, limit, &out.parent) if once(&seen, 3) else NULL
        elif named(&name, "sessionId", 9):
            p = string(p, limit, &out.session) if once(&seen, 4) else NULL
        elif named(&name, "timestamp", 9):
            p = string(p, limit, &out.stamp) if once(&seen, 5) else NULL
        elif named(&name, "isSidechain", 11):
            p = boolean(p, &out.side) if once(&seen, 6) else NULL
        elif named(&name, "agentId", 7):
            p = string(p, limit, &out.agent) if once(&seen, 7) else NULL
        elif named(&name, "cwd", 3):
            p = string(p, limit, &out.cwd) if once(&seen, 8) else NULL
        elif named(&name, "version", 7):
            p = string(p, limit, &out.version) if once(&seen, 9) else NULL
        elif named(&name, "requestId", 9):
            p = string(p, limit, &out.request) if once(&seen, 10) else NULL
        elif named(&name, "isMeta", 6):
            p = boolean(p, &out.meta) if once(&seen, 11) else NULL
        elif named(&name, "attachment", 10):
            p = _attached(p, limit, &out.attached) if once(&seen, 12) else NULL
        elif named(&name, "subtype", 7):
            p = string(p, limit, &subtype) if once(&seen, 13) else NULL
        elif named(&name, "content", 7):
            p = string(p, limit, &text)
        elif named(&name, "isCompactSummary", 16) or named(&name, "isApiErrorMessage", 17):
            flag = False
            p = boolean(p, &flag)
            if flag:
                return NULL
        elif (
            named(&name, "compactMetadata", 15) or named(&name, "compact_metadata", 16)
            or named(&name, "microcompactMetadata", 20) or named(&name, "microcompact_metadata", 21)
        ):
            p = null(p)
        else:
            p = skip(p, limit)
        p = json_next(p, c"}")
    if p != NULL and out.who == SYSTEM and subtype.at != NULL and (
        subtype.flags & JSON_ESCAPED or named(&subtype, "local_command", 13)
        or named(&subtype, "compact_boundary", 16) or named(&subtype, "microcompact_boundary", 21)
    ):
        return NULL
    return json_space(p + 1) if p != NULL else NULL

cdef int _two(const uint8_t *p) noexcept nogil:
    """A number of two digits; far beyond any where they are none."""
    return (p[0] - c"0") * 10 + p[1] - c"0" if c"0" <= p[0] <= c"9" and c"0" <= p[1] <= c"9" else 1000

cdef int64_t _instant(const json_text *text) noexcept nogil:
    """Milliseconds of a time written 2026-10-01T09:30:15.123Z; -1 for any other spelling, and before 1970."""
    cdef const uint8_t *p = text.at
    cdef int year, month, day, hour, minute, second, mille, march
    if text.size != 24 or p[4] != c"-" or p[7] != c"-" or p[10] != c"T" or p[13] != c":" or p[16] != c":":
        return -1
    if p[19] != c"." or p[23] != c"Z" or not c"0" <= p[22] <= c"9":
        return -1
    year, month, day = _two(p) * 100 + _two(p + 2), _two(p + 5), _two(p + 8)
    hour, minute, second, mille = _two(p + 11), _two(p + 14), _two(p + 17), _two(p + 20) * 10 + p[22] - c"0"
    # up to the 28th, any month has the day; the few others are looked at in turn
    if not 1970 <= year <= 2199 or not 1 <= month <= 12 or day < 1 or hour > 23 or minute > 59 or second > 59 or mille > 999:
        return -1
    if day > 28 and day > (30 if month in (4, 6, 9, 11) else 31 if month != 2 else 28 + _leap(year)):
        return -1
    # days since 1970-01-01, in years that begin in March
    march = month - 3 if month > 2 else month + 9
    year = year if month > 2 else year - 1
    cdef int64_t days = year * 365 + year // 4 - year // 100 + year // 400 + (march * 153 + 2) // 5 + day - 1 - 719468
    return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + mille

cdef inline int _leap(int year) noexcept nogil:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
