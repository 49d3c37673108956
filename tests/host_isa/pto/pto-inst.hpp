// The instructions that generated code uses, for the host: one after the other, in plain loops.
//
// What the hardware would do silently is an exception here: a tile without address or at a misaligned one, an access beyond
// its memory or beyond a tensor, a window that is not the tile's valid part, a wait for a flag that nobody set. Spellings and argument forms
// are those of the public pto-isa headers; the contents are not.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <bfloat16.hpp>

#define __gm__
#define __aicore__

using half = _Float16;

// A float of eight bits: exponent, mantissa, and no infinity where the type has none. Rounded to nearest, ties to even.
template <int Exponent, int Mantissa, int Bias, bool Signed> struct small_float {
    uint8_t bits = 0;
    small_float() = default;
    small_float(float value)
    {
        int best = 0;
        for (int code = 1; code < (Signed ? 128 : 256); ++code) {
            float to_best = std::fabs(decode(best) - std::fabs(value)), to_code = std::fabs(decode(code) - std::fabs(value));
            if (to_code < to_best || (to_code == to_best && code % 2 == 0)) best = code;
        }
        bits = uint8_t(Signed && std::signbit(value) ? best | 128 : best);
    }
    operator float() const { return Signed && bits & 128 ? -decode(bits & 127) : decode(bits); }

    static float decode(int code)
    {
        int mantissa = code & ((1 << Mantissa) - 1), exponent = code >> Mantissa;
        bool largest = exponent == (1 << Exponent) - 1;
        if (Exponent == 5 && largest) return mantissa ? NAN : INFINITY;
        if (Exponent != 5 && largest && mantissa == (1 << Mantissa) - 1) return NAN;
        if (exponent == 0 && Mantissa > 0) return std::ldexp(float(mantissa), 1 - Bias - Mantissa);
        return std::ldexp(1 + float(mantissa) / (1 << Mantissa), exponent - Bias);
    }
};

using float8_e4m3_t = small_float<4, 3, 7, true>;
using float8_e5m2_t = small_float<5, 2, 15, true>;
using float8_e8m0_t = small_float<8, 0, 127, false>;

enum Pipe { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX, PIPE_ALL };
enum Event { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };

namespace host {

[[noreturn]] inline void fail(const std::string& what) { throw std::runtime_error(what); }

inline void require(bool condition, const char* what)
{
    if (!condition) fail(what);
}

// Flags of this core that are set and not yet awaited.
inline std::map<std::tuple<int, int, int>, int>& flags()
{
    thread_local std::map<std::tuple<int, int, int>, int> pending;
    return pending;
}

// Global memory that kernels may touch: start and bytes.
inline std::map<const char*, size_t>& tensors()
{
    static std::map<const char*, size_t> known;
    return known;
}

inline void check_global(const void* at, size_t bytes)
{
    auto address = static_cast<const char*>(at);
    auto next = tensors().upper_bound(address);
    require(next != tensors().begin(), "access in front of every tensor");
    --next;
    require(address + bytes <= next->first + next->second, "access beyond a tensor");
}

} // namespace host

inline void set_flag(Pipe source, Pipe target, Event event)
{
    host::require(++host::flags()[{source, target, event}] == 1, "a flag is set twice");
}

inline void wait_flag(Pipe source, Pipe target, Event event)
{
    host::require(--host::flags()[{source, target, event}] == 0, "a wait for a flag that is not set");
}

inline void pipe_barrier(Pipe) {}

namespace pto {

enum class TileType { Vec, Mat, Left, Right, Acc, Bias, ScaleLeft, ScaleRight };
enum class BLayout { RowMajor, ColMajor };
enum class SLayout { NoneBox, RowMajor, ColMajor };
enum class Layout { ND, DN, NZ, MX_A_ZZ, MX_B_NN };
enum class PadValue { Null, Zero, Max, Min };
enum class RoundMode { CAST_NONE, CAST_RINT, CAST_ROUND, CAST_FLOOR, CAST_CEIL, CAST_TRUNC, CAST_ODD };
enum class CmpMode { EQ, NE, LT, LE, GT, GE };
enum class MaskPattern { P0101 = 1, P1010, P0001, P0010, P0100, P1000, P1111 };
enum class AtomicType { AtomicNone, AtomicAdd };
enum class Coalesce { Elem, Row };
enum class GatherOOB { Undefined, Clamp, Wrap, Zero };

constexpr int DYNAMIC = -1;

// On-chip memory of an Ascend 910B core, and what 950 has besides; with HOST_ASCEND950 of that.
#ifdef HOST_ASCEND950
constexpr size_t VEC_BYTES = 245760, ACC_BYTES = 262144, BIAS_BYTES = 4096;
#else
constexpr size_t VEC_BYTES = 188416, ACC_BYTES = 131072, BIAS_BYTES = 1024;
#endif

inline std::map<TileType, std::vector<char>>& memories()
{
    thread_local std::map<TileType, std::vector<char>> spaces = {
        {TileType::Vec, std::vector<char>(VEC_BYTES)}, {TileType::Mat, std::vector<char>(524288)},
        {TileType::Left, std::vector<char>(65536)}, {TileType::Right, std::vector<char>(65536)},
        {TileType::Acc, std::vector<char>(ACC_BYTES)}, {TileType::Bias, std::vector<char>(BIAS_BYTES)},
        {TileType::ScaleLeft, std::vector<char>(4096)}, {TileType::ScaleRight, std::vector<char>(4096)},
    };
    return spaces;
}

inline std::vector<char>& memory(TileType type) { return memories().at(type); }

// Leaves rubbish for the next kernel.
inline void forget()
{
    for (auto& [type, bytes] : memories()) std::fill(bytes.begin(), bytes.end(), char(0xff));
}

template <TileType Location, typename T, int R, int C, BLayout B, int VR, int VC, SLayout S = SLayout::NoneBox,
          int Fractal = 512, PadValue Pad = PadValue::Null>
struct Tile {
    using DType = T;
    static constexpr TileType Loc = Location;
    static constexpr int Rows = R, Cols = C;
    static constexpr BLayout Block = B;
    static constexpr SLayout Box = S;
    static constexpr PadValue Padding = Pad;
    static constexpr int Unit = 32 / sizeof(T) ? 32 / sizeof(T) : 1;
    static constexpr int Narrow = Fractal == 1024 ? 16 : Fractal == 32 ? 2 : Unit;
    static constexpr int BoxRows = S == SLayout::RowMajor ? 16 : Narrow;
    static constexpr int BoxCols = S == SLayout::RowMajor ? Narrow : 16;

    static_assert(S != SLayout::NoneBox || B != BLayout::RowMajor || C * sizeof(T) % 32 == 0, "rows of 32 bytes");
    static_assert(S != SLayout::NoneBox || B != BLayout::ColMajor || R * sizeof(T) % 32 == 0, "columns of 32 bytes");
    static_assert(S == SLayout::NoneBox || (C % BoxCols == 0 && (R % BoxRows == 0 || R == 1)), "whole boxes");

    int rows, cols;
    int64_t address = -1;

    Tile(int64_t valid_rows, int64_t valid_cols) : rows(valid_rows), cols(valid_cols)
    {
        host::require(0 <= rows && rows <= R && 0 <= cols && cols <= C, "valid shape beyond the tile");
    }

    static int64_t offset(int r, int c)
    {
        if constexpr (S == SLayout::NoneBox) {
            return B == BLayout::RowMajor ? int64_t(r) * C + c : int64_t(c) * R + r;
        } else {
            int64_t box_row = r / BoxRows, box_col = c / BoxCols;
            int64_t box = B == BLayout::RowMajor ? box_row * (C / BoxCols) + box_col
                                                 : box_col * ((R + BoxRows - 1) / BoxRows) + box_row;
            int64_t inner = S == SLayout::RowMajor ? (r % BoxRows) * BoxCols + c % BoxCols
                                                   : (c % BoxCols) * BoxRows + r % BoxRows;
            return box * BoxRows * BoxCols + inner;
        }
    }

    // Where the first element lies: at a block of 32 bytes, in the memories of the cube at a whole box.
    void place(int64_t at)
    {
        constexpr bool blocks = S == SLayout::NoneBox || Location == TileType::Vec || Location == TileType::Mat;
        host::require(at % (blocks ? 32 : Fractal) == 0, "a tile at a misaligned address");
        address = at;
    }

    T* element(int64_t index) const
    {
        host::require(address >= 0, "a tile without address");
        auto& bytes = memory(Location);
        size_t at = address + index * sizeof(T);
        host::require(at + sizeof(T) <= bytes.size(), "a tile beyond its memory");
        return reinterpret_cast<T*>(bytes.data() + at);
    }

    T get(int r, int c) const { return *element(offset(r, c)); }
    void set(int r, int c, T value) const { *element(offset(r, c)) = value; }
    T GetValue(int64_t index) const { return *element(index); }
    void SetValue(int64_t index, T value) const { *element(index) = value; }

    static T pad()
    {
        using limits = std::numeric_limits<std::conditional_t<std::is_integral_v<T>, T, float>>;
        if (Pad == PadValue::Max) return T(std::is_integral_v<T> ? limits::max() : limits::infinity());
        if (Pad == PadValue::Min) return T(std::is_integral_v<T> ? limits::lowest() : -limits::infinity());
        return T(0);
    }
};

// DYNAMIC extents are arguments of the constructor, in order.
template <int D0, int D1, int D2, int D3, int D4> struct Shape {
    static constexpr int dynamic = (D0 == DYNAMIC) + (D1 == DYNAMIC) + (D2 == DYNAMIC) + (D3 == DYNAMIC) + (D4 == DYNAMIC);
    int64_t of[5] = {D0, D1, D2, D3, D4};

    template <typename... N> explicit Shape(N... extents)
    {
        static_assert(sizeof...(N) == dynamic, "one argument for each dynamic extent");
        int64_t given[] = {int64_t(extents)..., 0};
        int next = 0;
        for (int64_t& extent : of) {
            if (extent == DYNAMIC) extent = given[next++];
            host::require(extent > 0, "an empty window");
        }
    }
};

template <int64_t D0, int64_t D1, int64_t D2, int64_t D3, int64_t D4> struct Stride {
    static constexpr int dynamic = (D0 == DYNAMIC) + (D1 == DYNAMIC) + (D2 == DYNAMIC) + (D3 == DYNAMIC) + (D4 == DYNAMIC);
    int64_t of[5] = {D0, D1, D2, D3, D4};

    template <typename... N> explicit Stride(N... strides)
    {
        static_assert(sizeof...(N) == dynamic, "one argument for each dynamic stride");
        int64_t given[] = {int64_t(strides)..., 0};
        int next = 0;
        for (int64_t& stride : of)
            if (stride == DYNAMIC) stride = given[next++];
    }
};

template <typename T, typename S, typename D, Layout L = Layout::ND> struct GlobalTensor {
    using Element = T;
    static constexpr Layout layout = L;
    T* data;
    S shape;
    D stride;
    explicit GlobalTensor(T* start, const S& extents = S(), const D& strides = D())
        : data(start), shape(extents), stride(strides)
    {
    }
};

template <typename Tile> auto TASSIGN(Tile& tile, int64_t address) -> decltype(tile.place(address)) { tile.place(address); }

template <typename T, typename S, typename D, Layout L> void TASSIGN(GlobalTensor<T, S, D, L>& global, T* data)
{
    global.data = data;
}

// Calls f with row and column in the tile and the element in global memory.
template <typename T, typename S, typename D, Layout L, typename F>
void for_window(const GlobalTensor<T, S, D, L>& global, int rows, int cols, F f)
{
    auto& n = global.shape.of;
    auto outer = n[0] * n[1] * n[2];
    auto [of_rows, of_cols] = [&]() -> std::pair<int64_t, int64_t> {
        switch (L) {
        case Layout::ND: return {outer * n[3], n[4]};
        case Layout::DN: return {n[3], outer * n[4]};
        case Layout::NZ: return {n[2] * n[3], n[0] * n[1] * n[4]};
        case Layout::MX_A_ZZ: return {n[1] * n[3], n[2] * n[4]};
        default: return {n[2] * n[4], n[1] * n[3]};
        }
    }();
    host::require(of_rows == rows && of_cols == cols, "the window is not the valid part of the tile");
    for (int64_t a = 0; a < n[0]; ++a)
        for (int64_t b = 0; b < n[1]; ++b)
            for (int64_t c = 0; c < n[2]; ++c)
                for (int64_t d = 0; d < n[3]; ++d)
                    for (int64_t e = 0; e < n[4]; ++e) {
                        auto& s = global.stride.of;
                        T* at = global.data + a * s[0] + b * s[1] + c * s[2] + d * s[3] + e * s[4];
                        host::check_global(at, sizeof(T));
                        auto block = (a * n[1] + b) * n[2] + c;
                        switch (L) {
                        case Layout::ND: f(block * n[3] + d, e, at); break;
                        case Layout::DN: f(d, block * n[4] + e, at); break;
                        case Layout::NZ: f(c * n[3] + d, (a * n[1] + b) * n[4] + e, at); break;
                        case Layout::MX_A_ZZ: f(b * n[3] + d, c * n[4] + e, at); break;
                        case Layout::MX_B_NN: f(c * n[4] + e, b * n[3] + d, at); break;
                        }
                    }
}

template <typename Tile, typename Global> void TLOAD(Tile& tile, const Global& global)
{
    static_assert(sizeof(typename Tile::DType) == sizeof(typename Global::Element), "elements of one size");
    if constexpr (Tile::Box != SLayout::NoneBox && (Global::layout == Layout::ND || Global::layout == Layout::DN)) {
        auto& n = global.shape.of;
        host::require(n[0] * n[1] * n[2] == 1, "a tile in boxes is filled from two dimensions");
    }
    // What is not valid holds rubbish, or the pad value. Into boxes only what is valid is written: lines can be loaded one by one.
    constexpr bool fills = Tile::Box == SLayout::NoneBox || Tile::Padding != PadValue::Null;
    for (int r = 0; fills && r < Tile::Rows; ++r)
        for (int c = 0; c < Tile::Cols; ++c)
            if (r >= tile.rows || c >= tile.cols) {
                if (Tile::Padding == PadValue::Null) std::memset(tile.element(Tile::offset(r, c)), 0xff, sizeof(typename Tile::DType));
                else tile.set(r, c, Tile::pad());
            }
    for_window(global, tile.rows, tile.cols, [&](int r, int c, auto* at) { tile.set(r, c, *at); });
}

template <typename Global, typename Tile> void TSTORE(Global& global, const Tile& tile)
{
    for_window(global, tile.rows, tile.cols, [&](int r, int c, auto* at) {
        *at = static_cast<std::remove_reference_t<decltype(*at)>>(tile.get(r, c));
    });
}

template <typename Tile, typename Global, AtomicType Atomic> void TSTORE(Global& global, const Tile& tile)
{
    for_window(global, tile.rows, tile.cols, [&](int r, int c, auto* at) {
        auto value = static_cast<std::remove_reference_t<decltype(*at)>>(tile.get(r, c));
        *at = Atomic == AtomicType::AtomicAdd ? *at + value : value;
    });
}

// dst[r, c] = f(r, c) for the valid part of the destination, after everything is read.
template <typename Dst, typename F> void compute(Dst& dst, F f)
{
    std::vector<typename Dst::DType> values;
    values.reserve(size_t(dst.rows) * dst.cols);
    for (int r = 0; r < dst.rows; ++r)
        for (int c = 0; c < dst.cols; ++c) values.push_back(static_cast<typename Dst::DType>(f(r, c)));
    size_t next = 0;
    for (int r = 0; r < dst.rows; ++r)
        for (int c = 0; c < dst.cols; ++c) dst.set(r, c, values[next++]);
}

template <typename A, typename B> void same_valid(const A& a, const B& b)
{
    host::require(a.rows == b.rows && a.cols == b.cols, "operands have different valid shapes");
}

// Half precision is computed in single precision and rounded once.
template <typename T> auto wide(T value)
{
    if constexpr (std::is_integral_v<T>) return value;
    else return static_cast<float>(value);
}

#define HOST_BINARY(NAME, EXPR)                                                                                       \
    template <typename D, typename A, typename B> void NAME(D& dst, const A& a, const B& b)                           \
    {                                                                                                                 \
        same_valid(dst, a);                                                                                           \
        same_valid(dst, b);                                                                                           \
        compute(dst, [&](int r, int c) { auto x = wide(a.get(r, c)); auto y = wide(b.get(r, c)); return EXPR; });     \
    }
#define HOST_SCALAR(NAME, EXPR)                                                                                       \
    template <typename D, typename A, typename V> void NAME(D& dst, const A& a, V scalar)                             \
    {                                                                                                                 \
        static_assert(D::Block == BLayout::RowMajor && A::Block == BLayout::RowMajor, "row-major tiles only");        \
        same_valid(dst, a);                                                                                           \
        auto y = wide(static_cast<typename D::DType>(scalar));                                                        \
        compute(dst, [&](int r, int c) { auto x = wide(a.get(r, c)); return EXPR; });                                 \
    }
#define HOST_UNARY(NAME, EXPR)                                                                                        \
    template <typename D, typename A> void NAME(D& dst, const A& a)                                                   \
    {                                                                                                                 \
        same_valid(dst, a);                                                                                           \
        compute(dst, [&](int r, int c) { auto x = wide(a.get(r, c)); return EXPR; });                                 \
    }

HOST_BINARY(TADD, x + y)
HOST_BINARY(TSUB, x - y)
HOST_BINARY(TMUL, x * y)
HOST_BINARY(TDIV, x / y)
HOST_BINARY(TMAX, x < y ? y : x)
HOST_BINARY(TMIN, y < x ? y : x)
HOST_BINARY(TFMOD, std::fmod(x, y))
HOST_BINARY(TAND, x & y)
HOST_BINARY(TOR, x | y)
HOST_BINARY(TSHL, x << y)
HOST_BINARY(TSHR, x >> y)

// What sits outside the valid part of one operand is taken from the other.
#define HOST_PART(NAME, EXPR)                                                                                         \
    template <typename D, typename A, typename B> void NAME(D& dst, const A& a, const B& b)                           \
    {                                                                                                                 \
        compute(dst, [&](int r, int c) {                                                                              \
            bool in_a = r < a.rows && c < a.cols, in_b = r < b.rows && c < b.cols;                                    \
            auto x = wide(in_a ? a.get(r, c) : b.get(r, c)), y = wide(in_b ? b.get(r, c) : a.get(r, c));              \
            return in_a && in_b ? static_cast<decltype(x)>(EXPR) : x;                                                 \
        });                                                                                                           \
    }
HOST_SCALAR(TADDS, x + y)
HOST_SCALAR(TSUBS, x - y)
HOST_SCALAR(TMULS, x * y)
HOST_SCALAR(TDIVS, x / y)
HOST_SCALAR(TMAXS, x < y ? y : x)
HOST_SCALAR(TMINS, y < x ? y : x)
HOST_SCALAR(TFMODS, std::fmod(x, y))
HOST_SCALAR(TLRELU, x < 0 ? x * y : x)
HOST_SCALAR(TANDS, x & y)
HOST_SCALAR(TORS, x | y)
HOST_SCALAR(TSHLS, x << y)
HOST_SCALAR(TSHRS, x >> y)
HOST_UNARY(TABS, x < 0 ? -x : x)
HOST_UNARY(TNEG, -x)
HOST_UNARY(TEXP, std::exp(x))
HOST_UNARY(TLOG, std::log(x))
HOST_UNARY(TSQRT, std::sqrt(x))
HOST_UNARY(TRSQRT, 1 / std::sqrt(x))
HOST_UNARY(TRECIP, 1 / x)
HOST_UNARY(TRELU, x < 0 ? decltype(x)(0) : x)
HOST_UNARY(TNOT, ~x)
HOST_PART(TPARTADD, x + y)
HOST_PART(TPARTMUL, x* y)
HOST_PART(TPARTMAX, x < y ? y : x)
HOST_PART(TPARTMIN, y < x ? y : x)

template <typename D, typename V> void TEXPANDS(D& dst, V scalar)
{
    compute(dst, [&](int, int) { return static_cast<typename D::DType>(scalar); });
}

template <typename D, typename A> void TCVT(D& dst, const A& a, RoundMode mode)
{
    same_valid(dst, a);
    compute(dst, [&](int r, int c) {
        auto x = wide(a.get(r, c));
        if constexpr (std::is_integral_v<typename D::DType> && !std::is_integral_v<decltype(x)>) {
            switch (mode) {
            case RoundMode::CAST_ROUND: return std::round(x);
            case RoundMode::CAST_FLOOR: return std::floor(x);
            case RoundMode::CAST_CEIL: return std::ceil(x);
            case RoundMode::CAST_TRUNC: return std::trunc(x);
            default: return std::nearbyint(x);
            }
        } else {
            return x;
        }
    });
}

template <typename T> bool holds(T x, T y, CmpMode mode)
{
    switch (mode) {
    case CmpMode::EQ: return x == y;
    case CmpMode::NE: return x != y;
    case CmpMode::LT: return x < y;
    case CmpMode::LE: return x <= y;
    case CmpMode::GT: return x > y;
    default: return x >= y;
    }
}

// One bit an element.
template <typename D, typename A, typename F> void mask(D& dst, const A& a, F f)
{
    static_assert(std::is_same_v<typename D::DType, uint8_t>, "a mask has bytes");
    for (int r = 0; r < a.rows; ++r)
        for (int c = 0; c < a.cols; ++c) {
            uint8_t byte = c % 8 == 0 ? 0 : dst.get(r, c / 8);
            dst.set(r, c / 8, byte | (f(r, c) << c % 8));
        }
}

template <typename D, typename A, typename B> void TCMP(D& dst, const A& a, const B& b, CmpMode mode)
{
    mask(dst, a, [&](int r, int c) { return holds(wide(a.get(r, c)), wide(b.get(r, c)), mode); });
}

template <typename D, typename A, typename V> void TCMPS(D& dst, const A& a, V scalar, CmpMode mode)
{
    auto y = wide(static_cast<typename A::DType>(scalar));
    mask(dst, a, [&](int r, int c) { return holds(wide(a.get(r, c)), y, mode); });
}

template <typename D, typename M, typename S> void TSEL(D& dst, const M& mask, const D& a, const D& b, const S&)
{
    host::require(mask.cols == (dst.cols + 7) / 8, "a mask of one bit an element");
    compute(dst, [&](int r, int c) { return mask.get(r, c / 8) >> c % 8 & 1 ? a.get(r, c) : b.get(r, c); });
}

// Scratch holds rubbish afterwards, but for the bytes that are the result's: the compiler lets a result lie in the scratch of
// its own instruction.
template <typename D, typename S> void spoil_beside(const D& dst, const S& tmp)
{
    int64_t from = dst.address, to = from + int64_t(D::Rows) * D::Cols * sizeof(typename D::DType);
    for (int r = 0; r < tmp.rows; ++r)
        for (int c = 0; c < tmp.cols; ++c) {
            int64_t at = tmp.address + S::offset(r, c) * sizeof(typename S::DType);
            if (at < from || at >= to) std::memset(tmp.element(S::offset(r, c)), 0xff, sizeof(typename S::DType));
        }
}

// Scratch is written while an operand is still read.
template <typename A, typename S> void apart(const A& a, const S& tmp)
{
    int64_t end = a.address + int64_t(A::Rows) * A::Cols * sizeof(typename A::DType);
    int64_t tmp_end = tmp.address + int64_t(S::Rows) * S::Cols * sizeof(typename S::DType);
    host::require(end <= tmp.address || tmp_end <= a.address, "scratch lies in an operand");
}

template <typename D, typename M, typename A, typename S, typename V>
void TSELS(D& dst, const M& mask, const A& a, const S& tmp, V scalar)
{
    auto other = static_cast<typename D::DType>(scalar);
    compute(dst, [&](int r, int c) { return mask.get(r, c / 8) >> c % 8 & 1 ? a.get(r, c) : other; });
    spoil_beside(dst, tmp);
}

template <typename T> auto remainder_of(T x, T y)
{
    if constexpr (std::is_integral_v<T>) {
        auto rest = x % y;
        return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
    } else {
        return x - y * std::floor(x / y);
    }
}

#define HOST_BINARY_SCRATCH(NAME, EXPR)                                                                               \
    template <typename D, typename A, typename B, typename S> void NAME(D& dst, const A& a, const B& b, const S& tmp) \
    {                                                                                                                 \
        compute(dst, [&](int r, int c) { auto x = wide(a.get(r, c)); auto y = wide(b.get(r, c)); return EXPR; });     \
        spoil_beside(dst, tmp);                                                                                       \
    }
#define HOST_SCALAR_SCRATCH(NAME, EXPR)                                                                               \
    template <typename D, typename A, typename V, typename S> void NAME(D& dst, const A& a, V scalar, const S& tmp)   \
    {                                                                                                                 \
        auto y = wide(static_cast<typename D::DType>(scalar));                                                        \
        compute(dst, [&](int r, int c) { auto x = wide(a.get(r, c)); return EXPR; });                                 \
        spoil_beside(dst, tmp);                                                                                       \
    }
#define HOST_TERNARY(NAME, EXPR)                                                                                      \
    template <typename T> void NAME(T& dst, const T& a, const T& b, const T& third)                                   \
    {                                                                                                                 \
        compute(dst, [&](int r, int c) {                                                                              \
            auto x = wide(a.get(r, c)); auto y = wide(b.get(r, c)); auto z = wide(third.get(r, c));                   \
            return EXPR;                                                                                              \
        });                                                                                                           \
    }
#define HOST_SCALAR_TERNARY(NAME, EXPR)                                                                               \
    template <typename T> void NAME(T& dst, const T& a, typename T::DType scalar, const T& third)                     \
    {                                                                                                                 \
        auto y = wide(scalar);                                                                                        \
        compute(dst, [&](int r, int c) { auto x = wide(a.get(r, c)); auto z = wide(third.get(r, c)); return EXPR; }); \
    }

HOST_BINARY_SCRATCH(TXOR, x ^ y)
HOST_BINARY_SCRATCH(TREM, remainder_of(x, y))
HOST_BINARY_SCRATCH(TPRELU, x < 0 ? x * y : x)
HOST_SCALAR_SCRATCH(TXORS, x ^ y)
HOST_SCALAR_SCRATCH(TREMS, remainder_of(x, y))
HOST_TERNARY(TADDC, x + y + z)
HOST_TERNARY(TSUBC, x - y + z)
HOST_SCALAR_TERNARY(TADDSC, x + y + z)
HOST_SCALAR_TERNARY(TSUBSC, x - y + z)

// Reductions; the scratch of a row reduction is overwritten.
template <typename D, typename A, typename F> void reduce_rows(D& dst, const A& a, F f)
{
    host::require(a.rows == 0 || (dst.rows == a.rows && dst.cols == 1), "a row reduction has one column");
    compute(dst, [&](int r, int) {
        auto value = wide(a.get(r, 0));
        for (int c = 1; c < a.cols; ++c) value = f(value, wide(a.get(r, c)));
        return value;
    });
}

template <typename D, typename A, typename F> void reduce_cols(D& dst, const A& a, F f)
{
    host::require(a.rows == 0 || (dst.rows == 1 && dst.cols == a.cols), "a column reduction has one row");
    compute(dst, [&](int, int c) {
        auto value = wide(a.get(0, c));
        for (int r = 1; r < a.rows; ++r) value = f(value, wide(a.get(r, c)));
        return value;
    });
}

#define HOST_REDUCE(NAME, EXPR)                                                                                       \
    template <typename D, typename A, typename S> void TROW##NAME(D& dst, const A& a, const S& tmp)                   \
    {                                                                                                                 \
        apart(a, tmp);                                                                                                \
        reduce_rows(dst, a, [](auto x, auto y) { return EXPR; });                                                     \
        spoil_beside(dst, tmp);                                                                                       \
    }                                                                                                                 \
    template <typename D, typename A> void TCOL##NAME(D& dst, const A& a)                                             \
    {                                                                                                                 \
        reduce_cols(dst, a, [](auto x, auto y) { return EXPR; });                                                     \
    }

HOST_REDUCE(SUM, x + y)
HOST_REDUCE(PROD, x* y)
HOST_REDUCE(MAX, x < y ? y : x)
HOST_REDUCE(MIN, y < x ? y : x)

#define HOST_EXPAND(NAME, EXPR)                                                                                       \
    template <typename D, typename A, typename V> void TROWEXPAND##NAME(D& dst, const A& a, const V& column)          \
    {                                                                                                                 \
        host::require(dst.rows == 0 || (column.rows == dst.rows && column.cols == 1), "one value a row");              \
        compute(dst, [&](int r, int c) { auto x = wide(a.get(r, c)); auto y = wide(column.get(r, 0)); return EXPR; });\
    }                                                                                                                 \
    template <typename D, typename A, typename V> void TCOLEXPAND##NAME(D& dst, const A& a, const V& row)             \
    {                                                                                                                 \
        host::require(dst.rows == 0 || (row.rows == 1 && row.cols == dst.cols), "one value a column");                 \
        compute(dst, [&](int r, int c) { auto x = wide(a.get(r, c)); auto y = wide(row.get(0, c)); return EXPR; });   \
    }

HOST_EXPAND(ADD, x + y)
HOST_EXPAND(SUB, x - y)
HOST_EXPAND(MUL, x* y)
HOST_EXPAND(DIV, x / y)
HOST_EXPAND(MAX, x < y ? y : x)
HOST_EXPAND(MIN, y < x ? y : x)
HOST_EXPAND(EXPDIF, std::exp(x - y))

template <typename D, typename V> void TROWEXPAND(D& dst, const V& column)
{
    compute(dst, [&](int r, int) { return column.get(r, 0); });
}

template <typename D, typename V> void TCOLEXPAND(D& dst, const V& row)
{
    compute(dst, [&](int, int c) { return row.get(0, c); });
}

// Moves, views, shapes.
template <typename D, typename A> void TMOV(D& dst, const A& a)
{
    same_valid(dst, a);
    compute(dst, [&](int r, int c) { return a.get(r, c); });
}

template <typename D, typename A> void TEXTRACT(D& dst, const A& a, int64_t row, int64_t col)
{
    host::require(row >= 0 && col >= 0 && row + dst.rows <= A::Rows && col + dst.cols <= A::Cols, "beyond the source");
    compute(dst, [&](int r, int c) { return a.get(row + r, col + c); });
}

template <typename D, typename A> void TINSERT(D& dst, const A& a, int64_t row, int64_t col)
{
    host::require(row >= 0 && col >= 0 && row + a.rows <= D::Rows && col + a.cols <= D::Cols, "beyond the target");
    for (int r = 0; r < a.rows; ++r)
        for (int c = 0; c < a.cols; ++c) dst.set(row + r, col + c, static_cast<typename D::DType>(a.get(r, c)));
}

template <typename D, typename A> void TRESHAPE(D& dst, const A& a)
{
    static_assert(D::Loc == A::Loc && D::Rows * D::Cols * sizeof(typename D::DType) == A::Rows * A::Cols * sizeof(typename A::DType));
    dst.place(a.address);
}

template <typename D, typename A, typename B> void TCONCAT(D& dst, const A& a, const B& b)
{
    host::require(dst.rows == a.rows && a.rows == b.rows && dst.cols == a.cols + b.cols, "widths do not add up");
    compute(dst, [&](int r, int c) { return c < a.cols ? a.get(r, c) : b.get(r, c - a.cols); });
}

// Another part of the same bytes: the view keeps the distance between the rows of its source.
template <typename D, typename A> void TSUBVIEW(D& dst, const A& a, int64_t row, int64_t col)
{
    static_assert(D::Loc == A::Loc && D::Block == A::Block && D::Box == SLayout::NoneBox && A::Box == SLayout::NoneBox);
    static_assert(D::Block == BLayout::RowMajor ? D::Cols == A::Cols || D::Rows == 1 : D::Rows == A::Rows || D::Cols == 1,
                  "a view has the rows of its source");
    host::require(row >= 0 && col >= 0 && row + dst.rows <= A::Rows && col + dst.cols <= A::Cols, "a view beyond its source");
    dst.place(a.address + A::offset(row, col) * sizeof(typename A::DType));
}

template <typename D, typename A, typename S> void TTRANS(D& dst, const A& a, const S& tmp)
{
    host::require(dst.rows == a.cols && dst.cols == a.rows, "not the transposed shape");
    compute(dst, [&](int r, int c) { return a.get(c, r); });
    spoil_beside(dst, tmp);
}

template <typename D, typename A> void TFILLPAD(D& dst, const A& a)
{
    static_assert(D::Padding != PadValue::Null, "the destination says what to fill with");
    compute(dst, [&](int r, int c) { return r < a.rows && c < a.cols ? a.get(r, c) : D::pad(); });
}

template <typename D, typename A> void TFILLPAD_INPLACE(D& dst, const A& a) { TFILLPAD(dst, a); }
template <typename D, typename A> void TFILLPAD_EXPAND(D& dst, const A& a) { TFILLPAD(dst, a); }

// Positions of the extremes.
template <typename D, typename A, typename F> void row_position(D& dst, const A& a, F better)
{
    host::require(a.rows == 0 || (dst.rows == a.rows && dst.cols == 1), "a row reduction has one column");
    compute(dst, [&](int r, int) {
        int best = 0;
        for (int c = 1; c < a.cols; ++c)
            if (better(wide(a.get(r, c)), wide(a.get(r, best)))) best = c;
        return best;
    });
}

template <typename D, typename A, typename F> void col_position(D& dst, const A& a, F better)
{
    host::require(a.rows == 0 || (dst.rows == 1 && dst.cols == a.cols), "a column reduction has one row");
    compute(dst, [&](int, int c) {
        int best = 0;
        for (int r = 1; r < a.rows; ++r)
            if (better(wide(a.get(r, c)), wide(a.get(best, c)))) best = r;
        return best;
    });
}

#define HOST_POSITION(NAME, OPERATOR)                                                                                 \
    template <typename D, typename A, typename S> void TROW##NAME(D& dst, const A& a, const S& tmp)                   \
    {                                                                                                                 \
        row_position(dst, a, [](auto x, auto y) { return x OPERATOR y; });                                            \
        spoil_beside(dst, tmp);                                                                                       \
    }                                                                                                                 \
    template <typename D, typename A, typename S> void TCOL##NAME(D& dst, const A& a, const S& tmp)                   \
    {                                                                                                                 \
        col_position(dst, a, [](auto x, auto y) { return x OPERATOR y; });                                            \
        spoil_beside(dst, tmp);                                                                                       \
    }

HOST_POSITION(ARGMAX, >)
HOST_POSITION(ARGMIN, <)

// Sequences and masks.
template <typename D, typename T, int Descending> void TCI(D& dst, T start)
{
    static_assert(D::Rows == 1 && std::is_same_v<typename D::DType, T>, "one row of the element type");
    compute(dst, [&](int, int c) { return Descending ? start - c : start + c; });
}

template <typename D, int Upper> void TTRI(D& dst, int diagonal)
{
    static_assert(D::Block == BLayout::RowMajor, "row-major tiles only");
    compute(dst, [&](int r, int c) { return Upper ? c >= r + diagonal : c <= r + diagonal; });
}

// Elements by index or by pattern.
template <typename A> typename A::DType at_index(const A& a, int64_t index)
{
    host::require(0 <= index && index < int64_t(A::Rows) * A::Cols, "an index beyond the source");
    return a.get(index / A::Cols, index % A::Cols);
}

template <typename D, typename A, typename I, typename S> void TGATHER(D& dst, const A& a, const I& indices, const S& tmp)
{
    static_assert(sizeof(typename I::DType) == 4, "indices of 32 bits");
    compute(dst, [&](int r, int c) { return at_index(a, indices.get(r, c)); });
    spoil_beside(dst, tmp);
}

// Positions that compare, from `offset` on, and how many they are in each row.
template <typename D, typename A, typename K, typename C, typename S, CmpMode Mode>
void TGATHER(D& dst, const A& a, const K& thresholds, C& counts, const S& tmp, int offset)
{
    static_assert(Mode == CmpMode::GT || Mode == CmpMode::EQ, "greater or equal");
    for (int r = 0; r < a.rows; ++r) {
        auto limit = wide(K::Rows == 1 ? thresholds.get(0, r) : thresholds.get(r, 0));
        int found = 0;
        for (int c = 0; c < a.cols; ++c)
            if (holds(wide(a.get(r, c)), limit, Mode) && found < dst.cols) dst.set(r, found++, offset + c);
        counts.set(C::Rows == 1 ? 0 : r, C::Rows == 1 ? r : 0, found);
    }
    spoil_beside(dst, tmp);
}

inline bool selects(MaskPattern pattern, int position)
{
    switch (pattern) {
    case MaskPattern::P0101: return position % 2 == 0;
    case MaskPattern::P1010: return position % 2 == 1;
    case MaskPattern::P0001: return position % 4 == 0;
    case MaskPattern::P0010: return position % 4 == 1;
    case MaskPattern::P0100: return position % 4 == 2;
    case MaskPattern::P1000: return position % 4 == 3;
    default: return true;
    }
}

template <typename D, typename A, MaskPattern Pattern> void TGATHER(D& dst, const A& a)
{
    static_assert(sizeof(typename D::DType) == sizeof(typename A::DType), "elements of one size");
    std::vector<typename A::DType> values;
    for (int r = 0; r < a.rows; ++r)
        for (int c = 0; c < a.cols; ++c)
            if (selects(Pattern, c)) values.push_back(a.get(r, c));
    host::require(values.size() == size_t(dst.rows) * dst.cols, "the pattern selects another number of elements");
    size_t next = 0;
    for (int r = 0; r < dst.rows; ++r)
        for (int c = 0; c < dst.cols; ++c) std::memcpy(dst.element(D::offset(r, c)), &values[next++], sizeof values[0]);
}

// Blocks of 32 bytes, by offset in bytes.
template <typename D, typename A, typename I> void TGATHERB(D& dst, const A& a, const I& offsets)
{
    constexpr int unit = 32 / sizeof(typename D::DType);
    std::vector<std::array<char, 32>> blocks;
    for (int r = 0; r < dst.rows; ++r)
        for (int c = 0; c < dst.cols / unit; ++c) {
            int64_t offset = offsets.get(r, c);
            host::require(offset % 32 == 0 && offset + 32 <= int64_t(A::Rows * A::Cols * sizeof(typename A::DType)), "a block beyond the source");
            std::array<char, 32> block;
            std::memcpy(block.data(), reinterpret_cast<char*>(a.element(0)) + offset, 32);
            blocks.push_back(block);
        }
    size_t next = 0;
    for (int r = 0; r < dst.rows; ++r)
        for (int c = 0; c < dst.cols / unit; ++c) std::memcpy(dst.element(D::offset(r, c * unit)), blocks[next++].data(), 32);
}

template <typename D, typename A, typename I> void TSCATTER(D& dst, const A& a, const I& indices)
{
    for (int r = 0; r < indices.rows; ++r)
        for (int c = 0; c < indices.cols; ++c) {
            int64_t index = indices.get(r, c);
            host::require(0 <= index && index < int64_t(D::Rows) * D::Cols, "an index beyond the target");
            dst.set(index / D::Cols, index % D::Cols, a.get(r, c));
        }
}

template <MaskPattern Pattern, typename D, typename A> void TSCATTER(D& dst, const A& a)
{
    std::vector<typename A::DType> values;
    for (int r = 0; r < a.rows; ++r)
        for (int c = 0; c < a.cols; ++c) values.push_back(a.get(r, c));
    size_t next = 0;
    for (int r = 0; r < dst.rows; ++r)
        for (int c = 0; c < dst.cols; ++c) {
            host::require(!selects(Pattern, c) || next < values.size(), "the pattern selects more elements than there are");
            dst.set(r, c, selects(Pattern, c) ? values[next++] : typename D::DType(0));
        }
}

// Rows of a tensor, or single elements of it, by index.
template <Coalesce Mode, GatherOOB Beyond = GatherOOB::Undefined, typename D, typename T, typename S, typename St, Layout L, typename I>
void MGATHER(D& dst, const GlobalTensor<T, S, St, L>& table, const I& indices)
{
    compute(dst, [&](int r, int c) {
        int64_t index = Mode == Coalesce::Row ? indices.get(indices.rows == 1 ? 0 : r, indices.rows == 1 ? r : 0) : indices.get(r, c);
        auto& n = table.shape.of;
        int64_t capacity = Mode == Coalesce::Row ? n[3] : n[0] * n[1] * n[2] * n[3] * n[4];
        if (Beyond == GatherOOB::Clamp) index = std::clamp<int64_t>(index, 0, capacity - 1);
        if (Beyond == GatherOOB::Wrap) index %= capacity;
        if (Beyond == GatherOOB::Zero && (index < 0 || index >= capacity)) return T(0);
        const T* at = table.data + (Mode == Coalesce::Row ? index * table.stride.of[3] + c : index);
        host::check_global(at, sizeof(T));
        return T(*at);
    });
}

template <Coalesce Mode, typename T, typename S, typename St, Layout L, typename A, typename I>
void MSCATTER(GlobalTensor<T, S, St, L>& table, const A& a, const I& indices)
{
    for (int r = 0; r < a.rows; ++r)
        for (int c = 0; c < a.cols; ++c) {
            int64_t index = Mode == Coalesce::Row ? indices.get(indices.rows == 1 ? 0 : r, indices.rows == 1 ? r : 0) : indices.get(r, c);
            T* at = table.data + (Mode == Coalesce::Row ? index * table.stride.of[3] + c : index);
            host::check_global(at, sizeof(T));
            *at = static_cast<T>(a.get(r, c));
        }
}

// Random numbers: Philox with a counter for each four of them.
using TRandomKey = uint32_t[2];
using TRandomCounter = uint32_t[4];

template <int Rounds, typename D> void TRANDOM(D& dst, const TRandomKey& key, const TRandomCounter& counter)
{
    static_assert(Rounds == 7 || Rounds == 10, "seven or ten rounds");
    compute(dst, [&](int r, int c) {
        uint64_t position = (uint64_t(r) * dst.cols + c) / 4, carry = position;
        uint32_t x[4], k[2] = {key[0], key[1]};
        for (int word = 0; word < 4; ++word) {
            carry += counter[word];
            x[word] = uint32_t(carry);
            carry >>= 32;
        }
        for (int round = 0; round < Rounds; ++round) {
            uint64_t a = uint64_t(x[0]) * 0xD2511F53u, b = uint64_t(x[2]) * 0xCD9E8D57u;
            uint32_t next[4] = {uint32_t(b >> 32) ^ x[1] ^ k[0], uint32_t(b), uint32_t(a >> 32) ^ x[3] ^ k[1], uint32_t(a)};
            std::memcpy(x, next, sizeof x);
            k[0] += 0x9E3779B9u;
            k[1] += 0xBB67AE85u;
        }
        return x[(r * dst.cols + c) % 4];
    });
}

// Sorting. A record of eight bytes is a score and the index behind it; the largest score comes first.
template <typename T> struct Record {
    T score;
    std::array<char, 8> bytes;
};

template <typename A> Record<typename A::DType> record(const A& a, int row, int at)
{
    constexpr int unit = 8 / sizeof(typename A::DType);
    Record<typename A::DType> record = {a.get(row, at * unit), {}};
    std::memcpy(record.bytes.data(), a.element(A::offset(row, at * unit)), 8);
    return record;
}

template <typename D> void put(D& dst, int row, int at, const std::array<char, 8>& bytes)
{
    std::memcpy(dst.element(D::offset(row, at * (8 / sizeof(typename D::DType)))), bytes.data(), 8);
}

template <typename R> void descending(std::vector<R>& records)
{
    std::stable_sort(records.begin(), records.end(), [](const R& a, const R& b) { return b.score < a.score; });
}

template <typename D, typename A, typename I> void TSORT32(D& dst, const A& a, const I& indices)
{
    static_assert(std::is_same_v<typename I::DType, uint32_t>, "indices are uint32_t");
    same_valid(a, indices);
    for (int r = 0; r < a.rows; ++r)
        for (int from = 0; from < a.cols; from += 32) {
            std::vector<Record<typename A::DType>> records;
            for (int c = from; c < std::min(from + 32, a.cols); ++c) {
                Record<typename A::DType> record = {a.get(r, c), {}};
                uint32_t index = indices.get(r, c);
                std::memcpy(record.bytes.data(), &record.score, sizeof record.score);
                std::memcpy(record.bytes.data() + 4, &index, 4);
                records.push_back(record);
            }
            descending(records);
            for (size_t n = 0; n < records.size(); ++n) put(dst, r, from + int(n), records[n].bytes);
        }
}

// Merges each four sorted blocks of so many elements.
template <typename D, typename A> void TMRGSORT(D& dst, const A& a, uint32_t block)
{
    static_assert(D::Rows == 1 && A::Rows == 1, "one row");
    constexpr int unit = 8 / sizeof(typename A::DType);
    int records_in_all = a.cols / unit, group = 4 * int(block) / unit;
    host::require(records_in_all % group == 0, "blocks that are not merged in fours");
    std::vector<Record<typename A::DType>> out;
    for (int from = 0; from < records_in_all; from += group) {
        std::vector<Record<typename A::DType>> records;
        for (int n = from; n < std::min(from + group, records_in_all); ++n) records.push_back(record(a, 0, n));
        descending(records);
        out.insert(out.end(), records.begin(), records.end());
    }
    for (size_t n = 0; n < out.size(); ++n) put(dst, 0, int(n), out[n].bytes);
}

struct MrgSortExecutedNumList {
    uint16_t mrgSortList0, mrgSortList1, mrgSortList2, mrgSortList3;
};

// Merges two to four sorted lists; with Exhausted until the first of them ends.
template <bool Exhausted, typename D, typename S, typename... A> void merge(D& dst, const S& tmp, const A&... lists)
{
    using R = Record<typename D::DType>;
    constexpr int unit = 8 / sizeof(typename D::DType);
    std::vector<std::vector<R>> records;
    auto read = [&](const auto& list) {
        std::vector<R> all;
        for (int n = 0; n < list.cols / unit; ++n) all.push_back(record(list, 0, n));
        records.push_back(all);
    };
    (read(lists), ...);
    std::vector<size_t> next(records.size());
    for (int out = 0; out < dst.cols / unit; ++out) {
        int pick = -1;
        for (size_t list = 0; list < records.size(); ++list) {
            if (next[list] == records[list].size()) continue;
            if (pick < 0 || records[pick][next[pick]].score < records[list][next[list]].score) pick = int(list);
        }
        if (pick < 0) break;
        put(dst, 0, out, records[pick][next[pick]++].bytes);
        if (Exhausted && next[pick] == records[pick].size()) break;
    }
    spoil_beside(dst, tmp);
}

template <typename D, typename S, typename A, typename B, bool Exhausted>
void TMRGSORT(D& dst, MrgSortExecutedNumList&, const S& tmp, const A& a, const B& b)
{
    merge<Exhausted>(dst, tmp, a, b);
}

template <typename D, typename S, typename A, typename B, typename C, bool Exhausted>
void TMRGSORT(D& dst, MrgSortExecutedNumList&, const S& tmp, const A& a, const B& b, const C& c)
{
    merge<Exhausted>(dst, tmp, a, b, c);
}

template <typename D, typename S, typename A, typename B, typename C, typename E, bool Exhausted>
void TMRGSORT(D& dst, MrgSortExecutedNumList&, const S& tmp, const A& a, const B& b, const C& c, const E& e)
{
    merge<Exhausted>(dst, tmp, a, b, c, e);
}

// Matrix products.
template <typename D, typename L, typename R, typename F> void product(D& dst, const L& left, const R& right, F start)
{
    static_assert(D::Loc == TileType::Acc && L::Loc == TileType::Left && R::Loc == TileType::Right, "operands in L0");
    host::require(dst.rows == left.rows && left.cols == right.rows && dst.cols == right.cols, "M, K, N do not agree");
    compute(dst, [&](int r, int c) {
        auto sum = start(r, c);
        for (int k = 0; k < left.cols; ++k) sum += wide(left.get(r, k)) * wide(right.get(k, c));
        return sum;
    });
}

template <typename D, typename L, typename R> void TMATMUL(D& dst, const L& left, const R& right)
{
    product(dst, left, right, [](int, int) { return typename D::DType(0); });
}

template <typename D, typename A, typename L, typename R> void TMATMUL_ACC(D& dst, const A& acc, const L& left, const R& right)
{
    host::require(dst.address == acc.address, "the accumulator is updated in place");
    product(dst, left, right, [&](int r, int c) { return acc.get(r, c); });
}

template <typename D, typename L, typename R, typename B> void TMATMUL_BIAS(D& dst, const L& left, const R& right, const B& bias)
{
    product(dst, left, right, [&](int, int c) { return bias.get(0, c); });
}

// Products with scales: one for 32 elements along K. The unit finds them by the address of what they scale.
template <typename D, typename L, typename LS, typename R, typename RS, typename F>
void scaled_product(D& dst, const L& left, const LS& left_scale, const R& right, const RS& right_scale, F start)
{
    static_assert(D::Loc == TileType::Acc && L::Loc == TileType::Left && R::Loc == TileType::Right, "operands in L0");
    static_assert(LS::Loc == TileType::ScaleLeft && RS::Loc == TileType::ScaleRight, "scales beside their operands");
    static_assert(std::is_same_v<typename D::DType, float> && L::Cols % 64 == 0, "single precision, K in blocks of 64");
    static_assert(L::Block == BLayout::ColMajor && L::Box == SLayout::RowMajor && R::Block == BLayout::RowMajor && R::Box == SLayout::ColMajor);
    host::require(left_scale.address == left.address / 16 && right_scale.address == right.address / 16, "scales of another tile");
    host::require(dst.rows == left.rows && left.cols == right.rows && dst.cols == right.cols, "M, K, N do not agree");
    host::require(left_scale.rows == left.rows && left_scale.cols * 32 == left.cols, "a scale for each 32 elements of a row");
    host::require(right_scale.cols == right.cols && right_scale.rows * 32 == right.rows, "a scale for each 32 elements of a column");
    compute(dst, [&](int r, int c) {
        float sum = start(r, c);
        for (int k = 0; k < left.cols; ++k)
            sum += wide(left.get(r, k)) * wide(left_scale.get(r, k / 32)) * wide(right.get(k, c)) * wide(right_scale.get(k / 32, c));
        return sum;
    });
}

template <typename D, typename L, typename LS, typename R, typename RS>
void TMATMUL_MX(D& dst, const L& left, const LS& left_scale, const R& right, const RS& right_scale)
{
    scaled_product(dst, left, left_scale, right, right_scale, [](int, int) { return 0.0f; });
}

// With an accumulator in front, or a bias behind.
template <typename D, typename A, typename B, typename C, typename E, typename G>
void TMATMUL_MX(D& dst, const A& a, const B& b, const C& c, const E& e, const G& g)
{
    if constexpr (A::Loc == TileType::Acc) {
        host::require(dst.address == a.address, "the accumulator is updated in place");
        scaled_product(dst, b, c, e, g, [&](int row, int col) { return a.get(row, col); });
    } else {
        static_assert(G::Loc == TileType::Bias, "a bias");
        scaled_product(dst, a, b, c, e, [&](int, int col) { return g.get(0, col); });
    }
}

// Products with one row.
template <typename D, typename L, typename R> void TGEMV(D& dst, const L& left, const R& right) { TMATMUL(dst, left, right); }

template <typename D, typename A, typename L, typename R> void TGEMV_ACC(D& dst, const A& acc, const L& left, const R& right)
{
    TMATMUL_ACC(dst, acc, left, right);
}

template <typename D, typename L, typename R, typename B> void TGEMV_BIAS(D& dst, const L& left, const R& right, const B& bias)
{
    TMATMUL_BIAS(dst, left, right, bias);
}

} // namespace pto

#include <pto/queue.hpp>

namespace host {

// Runs a kernel; what went wrong.
inline std::string attempt(std::function<void()> kernel)
{
    flags().clear();
    pto::forget();
    try {
        kernel();
        for (auto& [flag, count] : flags()) require(count == 0, "a flag that nobody waited for");
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

} // namespace host
