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

// Devices that work together: a context says which one this is, how many there are, and where the windows of each begin.
inline int32_t comm_rank(__gm__ int64_t* context) { return static_cast<int32_t>(context[2]); }
inline int32_t comm_nranks(__gm__ int64_t* context) { return static_cast<int32_t>(context[2] >> 32); }

// The same place in the window of another device.
template <typename T>
inline __gm__ T* comm_window(__gm__ int64_t* context, __gm__ T* here, int64_t device)
{
    return here + (context[4 + device] - context[4 + comm_rank(context)]) / static_cast<int64_t>(sizeof(T));
}
