/* Strict JSON over the bytes of one line, without an object made: where a value ends, and how long its text is.

   Everything here stops at a line end by itself: the caller makes sure that a b"\n" stands before `limit`, the end of
   what may be read, and no rule of JSON lets a value or a string run past it. A byte is looked at only when the one
   before was no line end. Functions give the place behind what they read, or NULL for what is not strict JSON, is no
   UTF-8, or is not worth following; they take NULL and give it back. */

#ifndef CTXLIB_JSON_BYTES_H
#define CTXLIB_JSON_BYTES_H

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define JSON_SSE2 1
#ifdef _MSC_VER
#include <intrin.h>
#endif
#endif

enum {
    JSON_ESCAPED = 1, /* holds an escape */
    JSON_SPACED = 2,  /* holds the bytes `": ` */
    JSON_U = 4,       /* holds the bytes `\u` */
    JSON_ODD = 8,     /* written again, it may not be as long as `written` says */
};
enum { JSON_DEEPEST = 64, JSON_KEYS = 24, JSON_DIGITS = 18 };

typedef struct {
    const uint8_t *at; /* behind the opening quote; NULL: null, or not there */
    int64_t size;      /* bytes, as the log spells it */
    int64_t chars;     /* characters of the text itself */
    int64_t written;   /* characters of it as compact JSON, without its quotes */
    int64_t follow;    /* bytes that continue a character */
    uint32_t flags;
} json_text;

typedef struct {
    int64_t written; /* characters of the value as compact JSON */
    int64_t follow;
    uint32_t flags;
} json_sum;

#ifdef JSON_SSE2
/* A bit for each of 16 bytes that is a quote, a backslash, a control character or no ASCII. */
static inline uint64_t json_special(const uint8_t *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)p);
    __m128i mark = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
    /* signed: bytes from 0x80 are negative */
    return (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_or_si128(mark, _mm_cmplt_epi8(v, _mm_set1_epi8(0x20))));
}

static inline int json_lowest(uint64_t mask)
{
#ifdef _MSC_VER
    unsigned long first;
    _BitScanForward64(&first, mask);
    return (int)first;
#else
    return __builtin_ctzll(mask);
#endif
}
#endif

/* The first byte that is one of these. */
static inline const uint8_t *json_plain(const uint8_t *p, const uint8_t *limit)
{
#ifdef JSON_SSE2
    for (; limit - p >= 16; p += 16) {
        uint64_t mask = json_special(p);
        if (mask)
            return p + json_lowest(mask);
    }
#else
    const uint64_t ones = ~(uint64_t)0 / 255;
    for (; limit - p >= 8; p += 8) {
        uint64_t v, quote, slash;
        memcpy(&v, p, 8);
        quote = v ^ (ones * '"');
        slash = v ^ (ones * '\\');
        if (((v - ones * 0x20) | (quote - ones) | (slash - ones) | v) & (ones * 0x80))
            break;
    }
#endif
    while (*p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\')
        p++;
    return p;
}

static inline const uint8_t *json_utf8(const uint8_t *p)
{
    uint8_t c = p[0];
    if (c < 0xC2 || c > 0xF4)
        return NULL;
    if (c < 0xE0)
        return (p[1] & 0xC0) == 0x80 ? p + 2 : NULL;
    if (c < 0xF0) {
        uint8_t low = c == 0xE0 ? 0xA0 : 0x80, high = c == 0xED ? 0x9F : 0xBF;
        return p[1] >= low && p[1] <= high && (p[2] & 0xC0) == 0x80 ? p + 3 : NULL;
    } else {
        uint8_t low = c == 0xF0 ? 0x90 : 0x80, high = c == 0xF4 ? 0x8F : 0xBF;
        return p[1] >= low && p[1] <= high && (p[2] & 0xC0) == 0x80 && (p[3] & 0xC0) == 0x80 ? p + 4 : NULL;
    }
}

/* Four hexadecimal digits, or -1. */
static inline int json_hex(const uint8_t *p)
{
    int value = 0;
    for (int i = 0; i < 4; i++) {
        uint8_t c = p[i], lower = c | 0x20;
        if (c >= '0' && c <= '9')
            value = value * 16 + (c - '0');
        else if (lower >= 'a' && lower <= 'f')
            value = value * 16 + (lower - 'a' + 10);
        else
            return -1;
    }
    return value;
}

/* Whether `p` is at an escape of two bytes, and of which character. */
static inline int json_short(uint8_t c)
{
    return c == 'n' || c == '"' || c == '\\' || c == 't' || c == 'r' || c == 'b' || c == 'f';
}

/* `p`: behind the opening quote. */
static const uint8_t *json_string(const uint8_t *p, const uint8_t *limit, json_text *out)
{
    const uint8_t *start = p, *after;
    int64_t less = 0, more = 0, follow = 0;
    int point, second, spaced = p[0] == ':' && p[1] == ' ', u = 0;

    for (;;) {
#ifdef JSON_SSE2
        if (p == start && limit - p >= 32) { /* most strings are keys and ids */
            uint64_t mask = json_special(p) | json_special(p + 16) << 16;
            p += mask ? json_lowest(mask) : 32;
            if (mask)
                goto mark;
        }
        /* Long text has an escape every few words: its marks are gone through 64 bytes at a time, without another look. */
        while (limit - p >= 68) {
            uint64_t mask = json_special(p) | json_special(p + 16) << 16 | json_special(p + 32) << 32 | json_special(p + 48) << 48;
            const uint8_t *block = p;
            p += 64;
            while (mask) {
                const uint8_t *at = block + json_lowest(mask);
                if (*at == '\\' && json_short(at[1])) {
                    spaced |= (at[1] == '"') & (at[2] == ':') & (at[3] == ' ');
                    u |= (at[1] == '\\') & (at[2] == 'u');
                    less++, more++;
                    after = at + 2;
                } else if (*at >= 0x80) {
                    after = json_utf8(at);
                    if (!after)
                        return NULL;
                    follow += after - at - 1;
                } else {
                    p = at;
                    goto mark;
                }
                if (after - block >= 64) {
                    p = after;
                    break;
                }
                mask &= ~(uint64_t)0 << (after - block);
            }
        }
#endif
        p = json_plain(p, limit);
#ifdef JSON_SSE2
    mark:
#endif
        if (*p == '"')
            break;
        if (*p >= 0x80) {
            do {
                after = json_utf8(p);
                if (!after)
                    return NULL;
                follow += after - p - 1;
                p = after;
            } while (*p >= 0x80);
            continue;
        }
        if (*p != '\\')
            return NULL;
        switch (p[1]) {
        case '"':
            spaced |= p[2] == ':' && p[3] == ' ';
            less++, more++, p += 2;
            break;
        case '\\':
            u |= p[2] == 'u';
            less++, more++, p += 2;
            break;
        case 'n': case 't': case 'r': case 'b': case 'f':
            less++, more++, p += 2;
            break;
        case '/':
            less++, p += 2;
            break;
        case 'u':
            u = 1;
            point = json_hex(p + 2);
            if (point < 0 || (point >= 0xDC00 && point <= 0xDFFF))
                return NULL;
            if (point >= 0xD800 && point <= 0xDBFF) {
                if (p[6] != '\\' || p[7] != 'u')
                    return NULL;
                second = json_hex(p + 8);
                if (second < 0xDC00 || second > 0xDFFF)
                    return NULL;
                less += 11, p += 12;
                break;
            }
            if (point == '"' || point == '\\' || point == '\n' || point == '\t' || point == '\r' || point == '\b' || point == '\f')
                more++;
            else if (point < 0x20)
                more += 5;
            less += 5, p += 6;
            break;
        default:
            return NULL;
        }
    }
    out->at = start;
    out->size = p - start;
    out->follow = follow;
    out->chars = out->size - less - follow;
    out->written = out->chars + more;
    out->flags = (less ? JSON_ESCAPED : 0) | (spaced ? JSON_SPACED : 0) | (u ? JSON_U : 0);
    return p + 1;
}

static inline const uint8_t *json_space(const uint8_t *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\r')
        p++;
    return p;
}

static inline const uint8_t *json_word(const uint8_t *p, const char *word)
{
    while (*word)
        if (*p++ != (uint8_t)*word++)
            return NULL;
    return p;
}

static inline const uint8_t *json_digits(const uint8_t *p)
{
    const uint8_t *start = p;
    while (*p >= '0' && *p <= '9')
        p++;
    return p > start ? p : NULL;
}

/* A whole number of no more than JSON_DIGITS digits. */
static inline const uint8_t *json_whole(const uint8_t *p, int64_t *out)
{
    const uint8_t *digits = *p == '-' ? p + 1 : p, *end = json_digits(digits);
    int64_t value = 0;
    if (!end || end - digits > JSON_DIGITS || (*digits == '0' && end - p > 1) || *end == '.' || (*end | 0x20) == 'e')
        return NULL; /* minus zero too */
    for (const uint8_t *at = digits; at < end; at++)
        value = value * 10 + (*at - '0');
    *out = *p == '-' ? -value : value;
    return end;
}

static const uint8_t *json_number(const uint8_t *p, json_sum *sum)
{
    int64_t value;
    const uint8_t *start = p, *end = json_whole(p, &value);
    if (end) {
        sum->written += end - start;
        return end;
    }
    sum->flags |= JSON_ODD;
    if (*p == '-')
        p++;
    end = json_digits(p);
    if (!end || (*p == '0' && end - p > 1))
        return NULL;
    if (*end == '.')
        end = json_digits(end + 1);
    if (end && (*end | 0x20) == 'e') {
        const uint8_t *power = end[1] == '+' || end[1] == '-' ? end + 2 : end + 1;
        end = json_digits(power);
        if (end && end - power > 2)
            return NULL;
    }
    return end && end - start <= 40 ? end : NULL;
}

/* `p`: at an opening quote -> at the value. */
static inline const uint8_t *json_key(const uint8_t *p, const uint8_t *limit, json_text *name, json_sum *sum)
{
    p = json_string(p + 1, limit, name);
    if (!p)
        return NULL;
    if (p[0] == ':' && p[1] == ' ')
        sum->flags |= JSON_SPACED;
    sum->flags |= name->flags;
    sum->follow += name->follow;
    sum->written += name->written + 3;
    p = json_space(p);
    return *p == ':' ? json_space(p + 1) : NULL;
}

/* `p`: at the opening brace or bracket -> at the first key or value, or at `close`. */
static inline const uint8_t *json_first(const uint8_t *p, uint8_t close)
{
    p = json_space(p + 1);
    return close != '}' || *p == '"' || *p == '}' ? p : NULL;
}

/* `p`: behind a value -> at the next key or value, or at `close`. */
static inline const uint8_t *json_next(const uint8_t *p, uint8_t close)
{
    if (!p)
        return NULL;
    p = json_space(p);
    if (*p == close)
        return p;
    if (*p != ',')
        return NULL;
    p = json_space(p + 1);
    return *p != close && (close != '}' || *p == '"') ? p : NULL;
}

/* Any value: read over, and added to `sum`. */
static const uint8_t *json_value(const uint8_t *p, const uint8_t *limit, int depth, json_sum *sum)
{
    json_text text, keys[JSON_KEYS];
    int count = 0, i;
    const uint8_t *end;

    switch (*p) {
    case '"':
        p = json_string(p + 1, limit, &text);
        if (p) {
            sum->written += text.written + 2;
            sum->follow += text.follow;
            sum->flags |= text.flags;
        }
        return p;
    case '{':
        if (depth >= JSON_DEEPEST)
            return NULL;
        for (p = json_first(p, '}'); p && *p != '}'; p = json_next(p, '}')) {
            p = json_key(p, limit, &text, sum);
            if (!p)
                return NULL;
            if (count == JSON_KEYS || text.flags & JSON_ESCAPED) {
                sum->flags |= JSON_ODD;
            } else if (!(sum->flags & JSON_ODD)) { /* of equal keys, one is written */
                for (i = 0; i < count; i++)
                    if (keys[i].size == text.size && !memcmp(keys[i].at, text.at, (size_t)text.size))
                        sum->flags |= JSON_ODD;
                keys[count++] = text;
            }
            p = json_value(p, limit, depth + 1, sum);
            sum->written++;
        }
        sum->written += count || sum->flags & JSON_ODD ? 1 : 2;
        return p ? p + 1 : NULL;
    case '[':
        if (depth >= JSON_DEEPEST)
            return NULL;
        for (p = json_first(p, ']'); p && *p != ']'; p = json_next(p, ']')) {
            p = json_value(p, limit, depth + 1, sum);
            sum->written++;
            count = 1;
        }
        sum->written += count ? 1 : 2;
        return p ? p + 1 : NULL;
    case 't':
        end = json_word(p, "true");
        break;
    case 'f':
        end = json_word(p, "false");
        break;
    case 'n':
        end = json_word(p, "null");
        break;
    default:
        return json_number(p, sum);
    }
    if (end)
        sum->written += end - p;
    return end;
}

#endif
