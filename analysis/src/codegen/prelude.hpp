#include <cmath>
#include <cstdint>
#include <type_traits>

#include <pto/pto-inst.hpp>

using namespace pto;

#ifndef __gm__
#define __gm__
#endif
#ifndef __aicore__
#define __aicore__ [aicore]
#endif

using bfloat16 = bfloat16_t;

// Division as in the source language: floors, where C++ truncates.
template <typename A, typename B>
inline auto floor_div(A a, B b)
{
    auto quotient = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

template <typename A, typename B>
inline auto floor_mod(A a, B b)
{
    auto remainder = a % b;
    return (remainder != 0 && (remainder < 0) != (b < 0)) ? remainder + b : remainder;
}

template <typename A, typename B>
inline float true_div(A a, B b)
{
    return static_cast<float>(a) / static_cast<float>(b);
}

template <typename A, typename B>
inline std::common_type_t<A, B> min(A a, B b)
{
    return b < a ? b : a;
}

template <typename A, typename B>
inline std::common_type_t<A, B> max(A a, B b)
{
    return a < b ? b : a;
}
