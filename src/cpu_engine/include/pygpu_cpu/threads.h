// Thread indices, and synchronization of the threads of a block.
#ifndef PYGPU_CPU_THREADS_H
#define PYGPU_CPU_THREADS_H

// A block runs on one OS thread from start to end. The thread-local variables below are set at each switch between the
// threads of the block, so they always belong to the thread that reads them.
extern "C" {
#define PYGPU_CPU_OWN extern __attribute__((visibility("hidden"))) __thread
PYGPU_CPU_OWN uint3 pygpu_cpu_thread_index;
PYGPU_CPU_OWN uint3 pygpu_cpu_block_index;
PYGPU_CPU_OWN dim3 pygpu_cpu_block_size;
PYGPU_CPU_OWN dim3 pygpu_cpu_grid_size;
PYGPU_CPU_OWN unsigned pygpu_cpu_unchanged;
#undef PYGPU_CPU_OWN
int printf(const char *, ...);
}

#define threadIdx (static_cast<const uint3 &>(pygpu_cpu_thread_index))
#define blockIdx (static_cast<const uint3 &>(pygpu_cpu_block_index))
#define blockDim (static_cast<const dim3 &>(pygpu_cpu_block_size))
#define gridDim (static_cast<const dim3 &>(pygpu_cpu_grid_size))
// Older names of the thread and block indices in HIP.
#define hipThreadIdx_x (threadIdx.x)
#define hipThreadIdx_y (threadIdx.y)
#define hipThreadIdx_z (threadIdx.z)
#define hipBlockIdx_x (blockIdx.x)
#define hipBlockIdx_y (blockIdx.y)
#define hipBlockIdx_z (blockIdx.z)
#define hipBlockDim_x (blockDim.x)
#define hipBlockDim_y (blockDim.y)
#define hipBlockDim_z (blockDim.z)
#define hipGridDim_x (gridDim.x)
#define hipGridDim_y (gridDim.y)
#define hipGridDim_z (gridDim.z)

// Source position of a call. Messages contain the position. For operations without a mask, lanes take part in one
// operation only if they call it at the same position.
#define PYGPU_CPU_PLACE const char *file = __builtin_FILE(), int line = __builtin_LINE()

PYGPU_CPU_FUNCTION void __syncthreads(PYGPU_CPU_PLACE) {
    pygpu_cpu_barrier(PYGPU_CPU_BARRIER, 0, "__syncthreads", file, line);
}
PYGPU_CPU_FUNCTION int __syncthreads_count(int predicate, PYGPU_CPU_PLACE) {
    return pygpu_cpu_barrier(PYGPU_CPU_BARRIER_COUNT, predicate, "__syncthreads_count", file, line);
}
PYGPU_CPU_FUNCTION int __syncthreads_and(int predicate, PYGPU_CPU_PLACE) {
    return pygpu_cpu_barrier(PYGPU_CPU_BARRIER_AND, predicate, "__syncthreads_and", file, line);
}
PYGPU_CPU_FUNCTION int __syncthreads_or(int predicate, PYGPU_CPU_PLACE) {
    return pygpu_cpu_barrier(PYGPU_CPU_BARRIER_OR, predicate, "__syncthreads_or", file, line);
}

namespace pygpu_cpu {
// Called when a thread reads a value for which it may be waiting. The threads of a block take turns on one OS thread,
// so a thread that polls must let the other threads run.
inline void unchanged() {
    if (++pygpu_cpu_unchanged >= 64) {
        pygpu_cpu_unchanged = 0;
        pygpu_cpu_yield();
    }
}
}

PYGPU_CPU_FUNCTION void __threadfence() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    pygpu_cpu::unchanged();
}
PYGPU_CPU_FUNCTION void __threadfence_block() { __threadfence(); }
PYGPU_CPU_FUNCTION void __threadfence_system() { __threadfence(); }
PYGPU_CPU_FUNCTION void __nanosleep(unsigned) { pygpu_cpu_yield(); }

// The following functions do nothing: they are for kernels that start before the previous kernel has ended, and on the
// CPU launches run one after another.
PYGPU_CPU_FUNCTION void cudaGridDependencySynchronize() {}
PYGPU_CPU_FUNCTION void cudaTriggerProgrammaticLaunchCompletion() {}

extern "C++" {
template <unsigned X = 1, unsigned Y = 1, unsigned Z = 1> struct pygpu_cpu_cluster {
    static_assert(X * Y * Z == 1, "the cpu backend has no clusters of blocks: put __cluster_dims__ behind #ifndef __PYGPU_CPU__");
    char room[16];
};
}
#define __cluster_dims__(...) __attribute__((aligned(sizeof(pygpu_cpu_cluster<__VA_ARGS__>))))

PYGPU_CPU_FUNCTION long long clock64() { return static_cast<long long>(pygpu_cpu_clock()); }
PYGPU_CPU_FUNCTION long long wall_clock64() { return clock64(); }
PYGPU_CPU_FUNCTION long clock() { return static_cast<long>(pygpu_cpu_clock()); }

PYGPU_CPU_FUNCTION void __trap(PYGPU_CPU_PLACE) { pygpu_cpu_trap(file, line); }
PYGPU_CPU_FUNCTION void __brkpt() { __builtin_trap(); }

#include "pygpu_cpu/forward/assert.h"

#endif
