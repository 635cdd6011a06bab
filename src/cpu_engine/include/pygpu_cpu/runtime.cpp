// The scheduler, which is linked to every compiled source. It distributes blocks to OS threads. The threads of a block
// take turns on one OS thread, and each runs until it waits or ends.
//
// The first thread of a block runs on a separate stack. If it ends without waiting, the next thread runs on the same
// stack, so a kernel without waits is a plain loop. When a thread waits, its stack is kept, and the other threads
// continue on another stack. When no thread can continue, warp operations without a mask are completed with the lanes
// that have arrived. If there are no such operations, it is a deadlock: the launch ends with a description of the
// waiting threads.
#include <exception>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ucontext.h>
#include <time.h>
#include <new>

#ifdef __linux__
// The start and the end of this library in memory, which the linker defines.
extern "C" __attribute__((visibility("hidden"))) char __ehdr_start[], _end[];
#endif

#define PYGPU_CPU_FUNCTION template <class PygpuUnused = void> inline
#include "abi.h"
#include "types.h"
#include "fibers.h"

#ifndef PYGPU_CPU_WARP_SIZE
#define PYGPU_CPU_WARP_SIZE 32
#endif

extern "C" {
#define PYGPU_CPU_OWN __attribute__((visibility("hidden"))) __thread
PYGPU_CPU_OWN uint3 pygpu_cpu_thread_index;
PYGPU_CPU_OWN uint3 pygpu_cpu_block_index;
PYGPU_CPU_OWN dim3 pygpu_cpu_block_size;
PYGPU_CPU_OWN dim3 pygpu_cpu_grid_size;
PYGPU_CPU_OWN unsigned pygpu_cpu_unchanged;
}

namespace {

using Lanes = unsigned long long;
using Call = pygpu_cpu_warp_call;
constexpr unsigned WARP = PYGPU_CPU_WARP_SIZE;

enum class State : unsigned char { unstarted, going, at_barrier, in_warp, ended };

struct Thread {
    Fiber *fiber;
    Call *call;
    uint3 index;
    State state;
};

struct Warp {
    Lanes living, waiting;
};

struct Barrier {
    int kind, line;
    const char *name, *file;
    unsigned arrived, sum;
    int result;
};

class Processor;
struct Launch;
#include "faults.h"

// State shared by all OS threads of a launch.
struct Launch {
    const pygpu_cpu_task *task;
    const pygpu_cpu_launch *shape;
    unsigned long long blocks, next_block = 0;
    unsigned threads;
    int code = PYGPU_CPU_DONE;
    Order block_order;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
    pthread_t caller = pthread_self(), helpers[512];
    unsigned helper_count = 0, helpers_at_work = 0;
    bool asked_for_helpers = false, caller_at_work = true;

    bool failed() const { return __atomic_load_n(&code, __ATOMIC_ACQUIRE) != PYGPU_CPU_DONE; }
    // Records a failure, unless one is already recorded. `place` is the failing instruction, or 0.
    void fail(int why, const char *text, unsigned long long place = 0);
    void call_helpers();
    void wait_for_helpers(Processor &caller);
};

void (*starters[256])(void *);
unsigned starter_count;

#include "arena.h"
#include "block_worker.h"

__thread Processor *here;

#include "fault_handling.h"
#include "helper_threads.h"

unsigned long long nanoseconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec;
}

int refuse(const pygpu_cpu_launch *shape, const char *kernel, const char *why) {
    if (shape->message && shape->message_bytes) snprintf(shape->message, shape->message_bytes, "kernel %s: %s", kernel, why);
    return PYGPU_CPU_BAD_LAUNCH;
}

int check(const pygpu_cpu_launch *shape, const char *kernel) {
    for (int axis = 0; axis < 3; axis++)
        if (!shape->grid[axis] || !shape->block[axis]) return refuse(shape, kernel, "a grid or a block without threads");
    unsigned long long threads = (unsigned long long)shape->block[0] * shape->block[1];
    if (threads > 1024 || threads * shape->block[2] > 1024) return refuse(shape, kernel, "a block of more than 1024 threads");
    if (shape->shared_bytes > 1u << 30) return refuse(shape, kernel, "more than 1 GiB of dynamic shared memory");
    return PYGPU_CPU_DONE;
}

#ifdef PYGPU_CPU_ASAN
// The sanitizer does not check thread-local variables. With the sanitizer, shared memory is therefore global, and only
// one block runs at a time.
pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
#endif

}

#include "runtime_calls.h"
