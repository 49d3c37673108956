// Queues between the cube and the vector core, and a run of both: each core is a thread with memories and flags of its own.
//
// A pop of what nobody pushes, a push into a queue that nobody empties, and a slot that is freed too often or never are
// exceptions.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace pto {

enum TileSplitAxis { TILE_NO_SPLIT, TILE_UP_DOWN, TILE_LEFT_RIGHT };
enum Direction { DIR_C2V = 1, DIR_V2C = 2, DIR_BOTH = 3 };
enum class SyncAllMode { Hard, Soft };
enum class SyncCoreType { AIVOnly, AICOnly, Mix };

} // namespace pto

namespace host {

constexpr int VECTOR_UNITS = 2;
constexpr int CUBE = -1;

// Which core this thread is: CUBE, or the number of a vector unit.
inline int& core()
{
    thread_local int number = 0;
    return number;
}

// Ends the thread of a unit that the device does not start.
struct NotStarted {};

// The slots of one direction of a queue. Each vector unit that takes part has pushed, or popped, and freed so many.
struct Ring {
    std::vector<std::vector<char>> slots;
    int pushed[VECTOR_UNITS] = {}, popped[VECTOR_UNITS] = {}, freed[VECTOR_UNITS] = {};
    // How many units write, and read, each tile.
    int writers = 1, readers = 1;
};

struct Exchange {
    std::mutex mutex;
    std::condition_variable changed;
    // By flag and direction.
    std::map<std::pair<int, int>, Ring> rings;
    // How often a core has come to a barrier, by the kind of cores that meet there.
    std::map<pto::SyncCoreType, int> arrived;
    bool abandoned = false;

    template <typename F> void wait(std::unique_lock<std::mutex>& lock, F ready, const char* what)
    {
        bool came = changed.wait_for(lock, std::chrono::seconds(30), [&] { return abandoned || ready(); });
        require(came && !abandoned, what);
    }
};

inline std::unique_ptr<Exchange>& exchange()
{
    static std::unique_ptr<Exchange> current;
    return current;
}

// Runs the two kernels of a pair side by side, that of the vector core on both of its units.
inline void cores(std::function<void()> cube, std::function<void()> vector)
{
    exchange() = std::make_unique<Exchange>();
    std::exception_ptr first;
    std::vector<std::thread> threads;
    for (int number = CUBE; number < VECTOR_UNITS; ++number) {
        threads.emplace_back([&, number] {
            core() = number;
            try {
                number == CUBE ? cube() : vector();
                for (auto& [flag, count] : flags()) require(count == 0, "a flag that nobody waited for");
            } catch (const NotStarted&) {
            } catch (...) {
                std::lock_guard<std::mutex> lock(exchange()->mutex);
                // What the others say then is a consequence.
                if (!exchange()->abandoned) first = std::current_exception();
                exchange()->abandoned = true;
                exchange()->changed.notify_all();
            }
        });
    }
    for (auto& thread : threads) thread.join();
    if (first) std::rethrow_exception(first);
    for (auto& [key, ring] : exchange()->rings)
        for (int reader = 0; reader < ring.readers; ++reader) {
            for (int writer = 0; writer < ring.writers; ++writer)
                require(ring.pushed[writer] == ring.popped[reader], "a tile that nobody popped");
            require(ring.popped[reader] == ring.freed[reader], "a slot that nobody gave back");
        }
    exchange().reset();
}

} // namespace host

inline int64_t get_block_idx() { return 0; }
inline int64_t get_block_num() { return 1; }
inline int64_t get_subblockid() { return host::core() == host::CUBE ? 0 : host::core(); }

namespace pto {

// A barrier of cores. A kernel that runs by itself has none to wait for.
template <SyncCoreType Cores> void SYNCALL()
{
    if (!host::exchange()) return;
    bool cube = host::core() == host::CUBE;
    host::require(Cores == SyncCoreType::Mix || cube == (Cores == SyncCoreType::AICOnly), "a barrier of the other cores");
    int all = (Cores != SyncCoreType::AIVOnly) + (Cores != SyncCoreType::AICOnly) * host::VECTOR_UNITS;
    std::unique_lock<std::mutex> lock(host::exchange()->mutex);
    int& arrived = host::exchange()->arrived[Cores];
    int round = arrived++ / all;
    host::exchange()->changed.notify_all();
    host::exchange()->wait(lock, [&] { return arrived / all > round; }, "a barrier that not every core comes to");
}

// Its counters are 16 elements of a tensor.
template <SyncAllMode Mode, SyncCoreType Cores, typename T, typename S, typename D, Layout L>
void SYNCALL(const GlobalTensor<T, S, D, L>& counters, int32_t = 0)
{
    static_assert(std::is_same_v<T, int32_t>, "counters are int32_t");
    host::check_global(counters.data, 16 * sizeof(T));
    SYNCALL<Cores>();
}

template <int Flag, int Way, uint32_t SlotBytes, uint32_t Slots, uint32_t LocalSlots = 2> struct TPipe {
    static_assert(Slots >= 1 && LocalSlots >= 1 && Flag + 3 < 16);
    static constexpr int64_t slot_bytes = SlotBytes, local_slots = LocalSlots;
    int64_t arrival[2];
    // Tiles that this core has popped.
    int popped = 0;

    // The buffer is where tiles go through on the way; here the slots have memory of their own.
    TPipe(void*, int64_t to_vector, int64_t to_cube) : arrival{to_vector, to_cube} {}

    // A direction by its producer.
    static int direction(bool from_cube)
    {
        host::require(Way & (from_cube ? DIR_C2V : DIR_V2C), "a queue that does not go this way");
        return from_cube ? 0 : 1;
    }

    static host::Ring& ring(int direction, bool divided)
    {
        auto& ring = host::exchange()->rings[{Flag, direction}];
        ring.slots.resize(Slots, std::vector<char>(SlotBytes));
        int units = divided ? host::VECTOR_UNITS : 1;
        (direction == 0 ? ring.readers : ring.writers) = units;
        return ring;
    }

    // Calls f with row and column of the tile and the element of a slot; tiles lie there row by row.
    template <typename Tile, TileSplitAxis Split, typename F> static void for_slot(std::vector<char>& slot, int rows, int cols, F f)
    {
        using T = typename Tile::DType;
        bool vector = Tile::Loc == TileType::Vec;
        int unit = vector && Split != TILE_NO_SPLIT ? host::core() : 0;
        int width = vector && Split == TILE_LEFT_RIGHT ? cols * 2 : cols;
        int64_t first = Split == TILE_UP_DOWN ? int64_t(unit) * rows * cols : int64_t(unit) * cols;
        for (int r = 0; r < rows; ++r)
            for (int c = 0; c < cols; ++c) {
                size_t at = (first + int64_t(r) * width + c) * sizeof(T);
                host::require(at + sizeof(T) <= slot.size(), "a tile beyond its slot");
                f(r, c, reinterpret_cast<T*>(slot.data() + at));
            }
    }

    // Whether this unit only keeps step with the first one, which has the whole tile. On 950 it is not started then.
    static bool keeps_step(TileSplitAxis split)
    {
        bool beside = split == TILE_NO_SPLIT && host::core() > 0;
#ifdef HOST_ASCEND950
        if (beside) throw host::NotStarted();
#endif
        return beside;
    }
};

template <typename Pipe, typename Tile, TileSplitAxis Split> void TPUSH(Pipe& pipe, Tile& tile)
{
    static_assert(Tile::Loc == TileType::Acc || Tile::Loc == TileType::Vec, "only Acc and Vec are pushed");
    if (Pipe::keeps_step(Split)) return;
    bool from_cube = host::core() == host::CUBE;
    host::require(from_cube == (Tile::Loc == TileType::Acc), "a tile of the other core");
    int unit = from_cube || Split == TILE_NO_SPLIT ? 0 : host::core();
    int direction = Pipe::direction(from_cube);
    std::unique_lock<std::mutex> lock(host::exchange()->mutex);
    auto& ring = Pipe::ring(direction, Split != TILE_NO_SPLIT);
    auto is_free = [&] {
        for (int reader = 0; reader < ring.readers; ++reader)
            if (ring.pushed[unit] - ring.freed[reader] >= int(ring.slots.size())) return false;
        return true;
    };
    host::exchange()->wait(lock, is_free, "a push into a queue that nobody empties");
    auto& slot = ring.slots[ring.pushed[unit] % ring.slots.size()];
    Pipe::template for_slot<Tile, Split>(slot, tile.rows, tile.cols, [&](int r, int c, auto* at) { *at = tile.get(r, c); });
    ++ring.pushed[unit];
    host::exchange()->changed.notify_all();
}

template <typename Pipe, typename Tile, TileSplitAxis Split> void TPOP(Pipe& pipe, Tile& tile)
{
    static_assert(Tile::Loc == TileType::Mat || Tile::Loc == TileType::Vec, "a tile is popped into Mat or Vec");
    bool cube = host::core() == host::CUBE;
    host::require(cube == (Tile::Loc == TileType::Mat), "a tile of the other core");
    int direction = Pipe::direction(!cube);
    tile.place(pipe.arrival[direction]);
    if (Pipe::keeps_step(Split)) return;
    int unit = cube || Split == TILE_NO_SPLIT ? 0 : host::core();
    std::unique_lock<std::mutex> lock(host::exchange()->mutex);
    auto& ring = Pipe::ring(direction, Split != TILE_NO_SPLIT);
    auto has_come = [&] {
        for (int writer = 0; writer < ring.writers; ++writer)
            if (ring.pushed[writer] <= ring.popped[unit]) return false;
        return true;
    };
    host::exchange()->wait(lock, has_come, "a pop of what nobody pushes");
    tile.place(pipe.arrival[direction] + pipe.popped++ % Pipe::local_slots * Pipe::slot_bytes);
    auto& slot = ring.slots[ring.popped[unit] % ring.slots.size()];
    Pipe::template for_slot<Tile, Split>(slot, tile.rows, tile.cols, [&](int r, int c, auto* at) { tile.set(r, c, *at); });
    ++ring.popped[unit];
}

template <typename Pipe, TileSplitAxis Split> void TFREE(Pipe&)
{
    if (Pipe::keeps_step(Split)) return;
    bool cube = host::core() == host::CUBE;
    int direction = Pipe::direction(!cube);
    int unit = cube || Split == TILE_NO_SPLIT ? 0 : host::core();
    std::lock_guard<std::mutex> lock(host::exchange()->mutex);
    auto& ring = Pipe::ring(direction, Split != TILE_NO_SPLIT);
    host::require(ring.freed[unit] < ring.popped[unit], "a slot is given back that was not popped");
    ++ring.freed[unit];
    host::exchange()->changed.notify_all();
}

} // namespace pto
