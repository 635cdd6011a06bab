// The scheduler that every compiled source is linked with: blocks go to threads of the system, and the threads of a block
// take turns on one of them, each until it waits or ends.
//
// The first thread of a block runs on a stack of its own. If it ends without having waited, the next one runs on the same
// stack: a kernel in which nobody waits is a plain loop. When a thread waits, its stack stays as it is, and the others go
// on with another one. When nobody can go on, operations of a warp without a mask are completed with the lanes that have
// arrived; if there is none either, it is a deadlock, and the launch ends with a description of who waits where.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

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

// What all threads of the system that work on one launch share.
struct Launch {
    const pygpu_cpu_task *task;
    const pygpu_cpu_launch *shape;
    unsigned long long blocks, next_block = 0;
    unsigned threads;
    int code = PYGPU_CPU_DONE;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t helpers[512];
    unsigned helper_count = 0;
    bool asked_for_helpers = false;

    bool failed() const { return __atomic_load_n(&code, __ATOMIC_ACQUIRE) != PYGPU_CPU_DONE; }
    // Only the first failure counts.
    void fail(int why, const char *text) {
        pthread_mutex_lock(&lock);
        if (!failed()) {
            if (shape->message && shape->message_bytes) snprintf(shape->message, shape->message_bytes, "%s", text);
            __atomic_store_n(&code, why, __ATOMIC_RELEASE);
        }
        pthread_mutex_unlock(&lock);
    }
    void call_helpers();
};

void (*starters[256])(void *);
unsigned starter_count;

#include "processor.h"

__thread Processor *here;

void *help(void *launch) {
    Processor(*static_cast<Launch *>(launch)).work();
    return nullptr;
}

// Called when a launch turns out to take longer than threads take to start, or when a block waits for another one.
void Launch::call_helpers() {
    pthread_mutex_lock(&lock);
    if (!asked_for_helpers) {
        asked_for_helpers = true;
        unsigned long long wanted = threads < blocks ? threads : blocks;
        while (helper_count + 1 < wanted && helper_count < 512 && !pthread_create(&helpers[helper_count], nullptr, help, this))
            helper_count++;
    }
    pthread_mutex_unlock(&lock);
}

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
