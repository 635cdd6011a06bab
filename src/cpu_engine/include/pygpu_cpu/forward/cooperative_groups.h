// Groups of threads that can synchronize: blocks, tiles of a warp, converged threads, and the grid of a cooperative
// launch.
#ifndef PYGPU_CPU_COOPERATIVE_GROUPS_H
#define PYGPU_CPU_COOPERATIVE_GROUPS_H

extern "C++" {
namespace cooperative_groups {

class thread_block {
public:
    static void sync(PYGPU_CPU_PLACE) { __syncthreads(file, line); }
    static unsigned thread_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
    static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned size() { return num_threads(); }
    static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

// The number of blocks that have arrived at the current grid barrier, and the number of completed grid barriers.
inline unsigned grid_arrived, grid_turn;

class grid_group {
public:
    static bool is_valid() { return true; }
    static void sync(PYGPU_CPU_PLACE) {
        __syncthreads(file, line);
        if (thread_block::thread_rank() == 0) {
            unsigned turn = __atomic_load_n(&grid_turn, __ATOMIC_ACQUIRE);
            if (__atomic_add_fetch(&grid_arrived, 1, __ATOMIC_ACQ_REL) == num_blocks()) {
                __atomic_store_n(&grid_arrived, 0, __ATOMIC_RELAXED);
                __atomic_store_n(&grid_turn, turn + 1, __ATOMIC_RELEASE);
            } else {
                while (__atomic_load_n(&grid_turn, __ATOMIC_ACQUIRE) == turn) pygpu_cpu_yield();
            }
        }
        __syncthreads(file, line);
    }
    static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    static unsigned long long block_rank() { return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
    static unsigned long long thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
    static unsigned long long num_threads() { return num_blocks() * thread_block::size(); }
    static unsigned long long size() { return num_threads(); }
    static dim3 group_dim() { return gridDim; }
};
inline grid_group this_grid() { return {}; }

// The cluster of thread blocks to which a block belongs. On the CPU, a cluster contains a single block.
class cluster_group {
public:
    static void sync(PYGPU_CPU_PLACE) { __syncthreads(file, line); }
    static void barrier_arrive() {}
    static void barrier_wait(PYGPU_CPU_PLACE) { __syncthreads(file, line); }
    static unsigned block_rank() { return 0; }
    static unsigned num_blocks() { return 1; }
    static dim3 block_index() { return dim3(0, 0, 0); }
    static dim3 dim_blocks() { return dim3(1, 1, 1); }
    static unsigned thread_rank() { return thread_block::thread_rank(); }
    static unsigned num_threads() { return thread_block::num_threads(); }
    static unsigned size() { return num_threads(); }
    template <class T> static T *map_shared_rank(T *address, int) { return address; }
    static unsigned query_shared_rank(const void *) { return 0; }
};
inline cluster_group this_cluster() { return {}; }

// A tile: `Size` lanes of one warp, where `Size` is a power of two.
template <unsigned Size, class Parent = thread_block> class thread_block_tile {
    static_assert(Size && Size <= unsigned(warpSize) && !(Size & (Size - 1)), "a tile is a power of two, and no larger than a warp");
    static unsigned lane() { return thread_block::thread_rank() % warpSize; }
    static unsigned long long mask() { return (Size == 64 ? ~0ull : (1ull << Size % 64) - 1) << lane() / Size * Size; }

public:
    static unsigned thread_rank() { return lane() % Size; }
    static constexpr unsigned num_threads() { return Size; }
    static constexpr unsigned size() { return Size; }
    static unsigned meta_group_rank() { return thread_block::thread_rank() / Size; }
    static unsigned meta_group_size() { return (thread_block::size() + Size - 1) / Size; }
    static void sync(PYGPU_CPU_PLACE) { __syncwarp(mask(), file, line); }
    template <class T> T shfl(T v, int from, PYGPU_CPU_PLACE) const { return __shfl_sync(mask(), v, from, Size, file, line); }
    template <class T> T shfl_up(T v, unsigned by, PYGPU_CPU_PLACE) const { return __shfl_up_sync(mask(), v, by, Size, file, line); }
    template <class T> T shfl_down(T v, unsigned by, PYGPU_CPU_PLACE) const { return __shfl_down_sync(mask(), v, by, Size, file, line); }
    template <class T> T shfl_xor(T v, unsigned by, PYGPU_CPU_PLACE) const { return __shfl_xor_sync(mask(), v, by, Size, file, line); }
    int any(int predicate, PYGPU_CPU_PLACE) const { return __any_sync(mask(), predicate, file, line); }
    int all(int predicate, PYGPU_CPU_PLACE) const { return __all_sync(mask(), predicate, file, line); }
    unsigned ballot(int predicate, PYGPU_CPU_PLACE) const {
        return unsigned(__ballot_sync(mask(), predicate, file, line) >> lane() / Size * Size);
    }
    template <class T> unsigned match_any(T v, PYGPU_CPU_PLACE) const {
        return unsigned(__match_any_sync(mask(), v, file, line) >> lane() / Size * Size);
    }
};
template <unsigned Size, class Parent> thread_block_tile<Size, Parent> tiled_partition(const Parent &) { return {}; }

// The threads of a warp that have converged at one position of the program.
class coalesced_group {
    unsigned long long mask;
    static unsigned long long below() { return (1ull << __lane_id()) - 1; }
    // Returns the lane whose rank in the group is `rank`.
    unsigned lane_of(unsigned rank) const {
        unsigned long long left = mask;
        while (rank--) left &= left - 1;
        return left ? unsigned(__builtin_ctzll(left)) : __lane_id();
    }

public:
    explicit coalesced_group(unsigned long long mask) : mask(mask) {}
    unsigned thread_rank() const { return unsigned(__builtin_popcountll(mask & below())); }
    unsigned num_threads() const { return unsigned(__builtin_popcountll(mask)); }
    unsigned size() const { return num_threads(); }
    void sync(PYGPU_CPU_PLACE) const { __syncwarp(mask, file, line); }
    template <class T> T shfl(T v, unsigned from, PYGPU_CPU_PLACE) const {
        return __shfl_sync(mask, v, int(lane_of(from % size())), warpSize, file, line);
    }
    template <class T> T shfl_down(T v, unsigned by, PYGPU_CPU_PLACE) const {
        unsigned rank = thread_rank() + by;
        return __shfl_sync(mask, v, int(lane_of(rank < size() ? rank : thread_rank())), warpSize, file, line);
    }
    template <class T> T shfl_up(T v, unsigned by, PYGPU_CPU_PLACE) const {
        unsigned rank = thread_rank();
        return __shfl_sync(mask, v, int(lane_of(rank >= by ? rank - by : rank)), warpSize, file, line);
    }
    int any(int predicate, PYGPU_CPU_PLACE) const { return __any_sync(mask, predicate, file, line); }
    int all(int predicate, PYGPU_CPU_PLACE) const { return __all_sync(mask, predicate, file, line); }
};
inline coalesced_group coalesced_threads(PYGPU_CPU_PLACE) { return coalesced_group(__activemask(file, line)); }

template <class Group> void sync(const Group &group, PYGPU_CPU_PLACE) { group.sync(file, line); }

template <class T> struct plus { T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { T operator()(T a, T b) const { return a ^ b; } };

// Reduces the values of all threads of a group.
template <class Group, class T, class Operation> T reduce(const Group &group, T value, Operation operation, PYGPU_CPU_PLACE) {
    T all = group.shfl(value, 0, file, line);
    for (unsigned rank = 1; rank < group.size(); rank++) all = operation(all, group.shfl(value, rank, file, line));
    return all;
}

}
}

#endif
