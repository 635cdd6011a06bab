// The scheduler that every compiled source is linked with: blocks go to threads of the system, and the threads of a block
// take turns on one of them, each until it waits or ends.
//
// The first thread of a block runs on a stack of its own. If it ends without having waited, the next one runs on the same
// stack: a kernel in which nobody waits is a plain loop. When a thread waits, its stack stays as it is, and the others go
// on with another one. When nobody can go on, operations of a warp without a mask are completed with the lanes that have
// arrived; if there is none either, it is a deadlock, and the launch ends with a description of who waits where.
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
// Where this library begins and ends: the linker says.
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

// What all threads of the system that work on one launch share.
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
    // Only the first failure counts. `place` is the instruction that failed, if it is known.
    void fail(int why, const char *text, unsigned long long place = 0);
    void call_helpers();
    void wait_for_helpers(Processor &caller);
};

void (*starters[256])(void *);
unsigned starter_count;

#include "arena.h"
#include "block_worker.h"

__thread Processor *here;

#include "faults_calls.h"
#include "helpers.h"

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
// The sanitizer does not watch variables of threads: for it shared memory is that of the process, and one block runs at a time.
pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
#endif

}

#include "runtime_calls.h"
