// The upper half of a float, rounded to nearest even.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

struct bfloat16_t {
    uint16_t bits = 0;
    bfloat16_t() = default;
    bfloat16_t(float value)
    {
        uint32_t word;
        std::memcpy(&word, &value, 4);
        bits = static_cast<uint16_t>((word + 0x7fff + ((word >> 16) & 1)) >> 16);
    }
    operator float() const
    {
        uint32_t word = static_cast<uint32_t>(bits) << 16;
        float value;
        std::memcpy(&value, &word, 4);
        return value;
    }
};

template <> struct std::numeric_limits<bfloat16_t> : std::numeric_limits<float> {
    static bfloat16_t max() { return 0x1.fep127f; }
    static bfloat16_t lowest() { return -0x1.fep127f; }
    static bfloat16_t infinity() { return std::numeric_limits<float>::infinity(); }
};
