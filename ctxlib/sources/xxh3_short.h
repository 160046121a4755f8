/* XXH3 with 64 bits, no seed, of 17 to 128 bytes: an id of a log is a few dozen.

   After the public description of the algorithm, https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md */

#ifndef CTXLIB_XXH3_SHORT_H
#define CTXLIB_XXH3_SHORT_H

#include <stdint.h>
#include <string.h>

static const uint64_t xxh3_secret[16] = {
    UINT64_C(0xbe4ba423396cfeb8), UINT64_C(0x1cad21f72c81017c), UINT64_C(0xdb979083e96dd4de), UINT64_C(0x1f67b3b7a4a44072),
    UINT64_C(0x78e5c0cc4ee679cb), UINT64_C(0x2172ffcc7dd05a82), UINT64_C(0x8e2443f7744608b8), UINT64_C(0x4c263a81e69035e0),
    UINT64_C(0xcb00c391bb52283c), UINT64_C(0xa32e531b8b65d088), UINT64_C(0x4ef90da297486471), UINT64_C(0xd8acdea946ef1938),
    UINT64_C(0x3f349ce33f76faa8), UINT64_C(0x1d4f0bc7c7bbdcf9), UINT64_C(0x3159b4cd4be0518a), UINT64_C(0x647378d9c97e9fc8),
};

static inline uint64_t xxh3_folded(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    uint64_t low = (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF), left = (a >> 32) * (b & 0xFFFFFFFF);
    uint64_t right = (a & 0xFFFFFFFF) * (b >> 32), high = (a >> 32) * (b >> 32);
    uint64_t middle = (low >> 32) + (left & 0xFFFFFFFF) + right;
    return ((middle << 32) | (low & 0xFFFFFFFF)) ^ ((left >> 32) + (middle >> 32) + high);
#endif
}

static inline uint64_t xxh3_mixed(const uint8_t *data, const uint64_t *secret)
{
    uint64_t low, high;
    memcpy(&low, data, 8);
    memcpy(&high, data + 8, 8);
    return xxh3_folded(low ^ secret[0], high ^ secret[1]);
}

static inline uint64_t xxh3_17to128(const uint8_t *data, int64_t size)
{
    uint64_t sum = (uint64_t)size * UINT64_C(0x9E3779B185EBCA87);
    for (int64_t i = (size - 1) / 32; i >= 0; i--) {
        sum += xxh3_mixed(data + 16 * i, xxh3_secret + 4 * i);
        sum += xxh3_mixed(data + size - 16 * (i + 1), xxh3_secret + 4 * i + 2);
    }
    sum ^= sum >> 37;
    sum *= UINT64_C(0x165667919E3779F9);
    return sum ^ (sum >> 32);
}

#endif
