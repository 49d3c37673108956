// Several devices: transfers between their global memories, and signals. Each device is a thread with memories and flags of its own.
#pragma once

#include <atomic>

namespace pto {
namespace comm {

enum class NotifyOp { AtomicAdd, Set };
enum class WaitCmp { EQ, NE, GT, GE, LT, LE };

template <typename Global> std::atomic_ref<int32_t> signal(Global& global)
{
    static_assert(std::is_same_v<typename Global::Element, int32_t>, "a signal has 32 bits");
    for (auto extent : global.shape.of) host::require(extent == 1, "a signal is one element");
    host::check_global(global.data, sizeof(int32_t));
    return std::atomic_ref<int32_t>(*global.data);
}

template <typename Global> void TNOTIFY(Global& global, int32_t value, NotifyOp op)
{
    if (op == NotifyOp::AtomicAdd) signal(global).fetch_add(value);
    else signal(global).store(value);
}

template <typename Global> void TWAIT(Global& global, int32_t expected, WaitCmp cmp)
{
    auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (;;) {
        int32_t value = signal(global).load();
        if (cmp == WaitCmp::EQ ? value == expected : value >= expected) return;
        host::require(std::chrono::steady_clock::now() < until, "a signal that does not come");
        std::this_thread::yield();
    }
}

// Through the staging tile, whose bytes are lost.
template <bool Adds, typename To, typename From, typename Stage> void transfer(To& to, From& from, Stage& stage)
{
    static_assert(std::is_same_v<typename To::Element, typename From::Element>, "both ends hold the same elements");
    auto &n = to.shape.of, &s = to.stride.of, &f = from.stride.of;
    for (int axis = 0; axis < 5; ++axis) host::require(n[axis] == from.shape.of[axis], "both ends have the same extents");
    for (int r = 0; r < Stage::Rows; ++r)
        for (int c = 0; c < Stage::Cols; ++c) std::memset(stage.element(Stage::offset(r, c)), 0xff, sizeof(typename Stage::DType));
    for (int64_t a = 0; a < n[0]; ++a)
        for (int64_t b = 0; b < n[1]; ++b)
            for (int64_t c = 0; c < n[2]; ++c)
                for (int64_t d = 0; d < n[3]; ++d)
                    for (int64_t e = 0; e < n[4]; ++e) {
                        auto* target = to.data + a * s[0] + b * s[1] + c * s[2] + d * s[3] + e * s[4];
                        auto* source = from.data + a * f[0] + b * f[1] + c * f[2] + d * f[3] + e * f[4];
                        host::check_global(target, sizeof *target);
                        host::check_global(source, sizeof *source);
                        if constexpr (Adds) std::atomic_ref(*target).fetch_add(*source);
                        else *target = *source;
                    }
}

template <AtomicType A = AtomicType::AtomicNone, typename To, typename From, typename Stage, typename... Pong>
void TPUT(To& to, From& from, Stage& stage, Pong&... pong)
{
    transfer<A == AtomicType::AtomicAdd>(to, from, stage);
    (transfer<false>(from, from, pong), ...);
}

template <typename To, typename From, typename Stage, typename... Pong>
void TGET(To& to, From& from, Stage& stage, Pong&... pong)
{
    transfer<false>(to, from, stage);
    (transfer<false>(from, from, pong), ...);
}

} // namespace comm
} // namespace pto

namespace host {

// Runs the kernel of each device side by side; what is wrong is printed.
inline void devices(int count, std::function<void(int)> kernel)
{
    std::vector<std::thread> threads;
    for (int device = 0; device < count; ++device)
        threads.emplace_back([&, device] {
            try {
                kernel(device);
            } catch (const std::exception& error) {
                std::printf("device %d: %s\n", device, error.what());
            }
        });
    for (auto& thread : threads) thread.join();
}

} // namespace host
