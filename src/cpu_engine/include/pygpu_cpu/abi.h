// The C interface of a compiled source: what its shared library exports, and what the code in it asks of the scheduler.
//
// Who runs kernels opens the library, takes the symbol `pygpu_cpu_module`, checks `abi`, finds a kernel by its name and
// calls its `launch`, which returns when every thread of every block has ended:
//
//     const struct pygpu_cpu_module *module = dlsym(library, "pygpu_cpu_module");
//     int code = module->kernels[0].launch(&launch, arguments);   // 0, or one of the codes below with a text in `message`
//
// `arguments` holds one pointer for each parameter, as for cuLaunchKernel. Who launches later than it was asked to
// copies `bytes` of each parameter first. A library may be launched from several threads at once.
#ifndef PYGPU_CPU_ABI_H
#define PYGPU_CPU_ABI_H

#define PYGPU_CPU_ABI 4

#define PYGPU_CPU_EXPORT __attribute__((visibility("default")))

extern "C" {

enum {
    PYGPU_CPU_DONE = 0,
    PYGPU_CPU_ASSERT = 1,        // an assertion did not hold
    PYGPU_CPU_TRAP = 2,          // __trap()
    PYGPU_CPU_DEADLOCK = 3,      // threads that wait for what cannot come
    PYGPU_CPU_BAD_LAUNCH = 4,    // a grid, block or amount of shared memory that cannot be
    PYGPU_CPU_NO_RESOURCES = 5,  // no memory for stacks, or no threads for a cooperative launch
    PYGPU_CPU_ADDRESS = 6,       // memory that is not there
    PYGPU_CPU_STACK = 7,         // a thread of a block called itself too deeply
    PYGPU_CPU_FAULT = 8,         // what else a processor refuses, or an exception that nobody caught
    PYGPU_CPU_INTERRUPTED = 9,   // whoever launched wants no more of it
};

enum {
    PYGPU_CPU_COOPERATIVE = 1,  // every block gets a thread of the system of its own: they may wait for one another
    PYGPU_CPU_REVERSED = 2,     // blocks and threads start last first: a missing barrier shows itself
    PYGPU_CPU_STOP = 4,         // what goes wrong stops in a debugger
    PYGPU_CPU_SHUFFLED = 8,     // blocks and threads start in an order that `seed` chooses
};

// A thread of the system at work on a launch, as the process's handlers of signals know it.
struct pygpu_cpu_guarded {
    // Called in the handler. It returns only where the signal is none of the kernel's, or was only to be looked at.
    void (*signalled)(struct pygpu_cpu_guarded *, int number, const void *information, const void *context);
    struct pygpu_cpu_guarded *outer;
};

enum { PYGPU_CPU_COPIES = 1, PYGPU_CPU_COMPUTES = 2 };

// Memory for the stacks of 32 threads of a block. To map it and its guards takes longer than most kernels, so the process keeps it.
struct pygpu_cpu_stacks {
    char *memory;
    unsigned long long bytes;
    unsigned guarded;    // a bit for each stack below which lies a page that nobody may touch
    unsigned may_guard;  // whether there may be more of those
};

// What the process does for its kernels: signals belong to it, and a library comes and goes.
struct pygpu_cpu_host {
    void (*enter)(struct pygpu_cpu_guarded *);
    void (*leave)(struct pygpu_cpu_guarded *);
    int (*is_plain)(unsigned long long instruction);  // which of the functions of the system that take no lock it is of; else 0
    int (*interrupted)(void);                         // whether the launch is to end, since somebody pressed Ctrl-C
    int nudge;                                        // the signal that makes a thread look at its launch
    struct pygpu_cpu_stacks *(*take_stacks)(unsigned long long bytes);  // null where there is no memory
    void (*give_stacks)(struct pygpu_cpu_stacks *);
};

struct pygpu_cpu_launch {
    unsigned grid[3];
    unsigned block[3];
    unsigned long long shared_bytes;  // dynamic shared memory
    unsigned long long stack_bytes;   // of a thread of a block; 0 is 256 KiB
    unsigned threads;                 // most threads of the system that work at once; 0 is 1
    unsigned flags;
    char *message;  // where to put the text of a failure, and how long it may be with its zero
    unsigned long long message_bytes;
    unsigned long long seed;
    unsigned long long *place;          // where to put which instruction of the library failed; else it stays as it is
    const struct pygpu_cpu_host *host;  // null: signals are nobody's, and a fault ends the process
};

struct pygpu_cpu_parameter {
    unsigned bytes, alignment;
    char kind;  // 'p'ointer, 'b'ool, 'i'nteger, 'u'nsigned, 'f'loat, 's'tructure
};

struct pygpu_cpu_kernel {
    const char *name;
    int (*launch)(const struct pygpu_cpu_launch *, void *const *arguments);
    const struct pygpu_cpu_parameter *parameters;
    unsigned parameter_count;
    unsigned max_threads;  // of __launch_bounds__; 0 where there is none
    const void *function;  // the kernel itself, by which its symbol is found
};

struct pygpu_cpu_global {
    const char *name;
    void *address;
    unsigned long long bytes;
    unsigned constant;  // whether it was declared __constant__
};

struct pygpu_cpu_module {
    unsigned abi;
    unsigned kernel_count, global_count;
    const struct pygpu_cpu_kernel *kernels;
    const struct pygpu_cpu_global *globals;
};

// ---- below: between a compiled source and the scheduler that is linked to it

struct pygpu_cpu_task {
    const char *kernel;
    void (*run)(const void *arguments);  // one thread, from its first line to its last, or a whole block
    const void *arguments;
    unsigned is_whole;  // `run` runs all threads of a block (regions.h)
};

// Threads that have their turn one behind the other: the first one's index, its number within the block, and how many.
struct pygpu_cpu_row {
    unsigned x, y, z, thread, length;
};

// One lane's part in an operation of a warp; it lives on the lane's stack while the lane waits.
struct pygpu_cpu_lane {
    const void *in;
    void *out;
    unsigned argument, width;
};

struct pygpu_cpu_warp_call {
    const char *name, *file;
    int line;
    unsigned converged;       // takes part: whoever arrives, instead of whom `mask` names
    unsigned long long mask;
    void (*complete)(struct pygpu_cpu_lane *lanes, unsigned long long present);
    struct pygpu_cpu_lane lane;
};

enum { PYGPU_CPU_BARRIER, PYGPU_CPU_BARRIER_COUNT, PYGPU_CPU_BARRIER_AND, PYGPU_CPU_BARRIER_OR };

int pygpu_cpu_run(const struct pygpu_cpu_task *, const struct pygpu_cpu_launch *);
int pygpu_cpu_barrier(int kind, int predicate, const char *name, const char *file, int line);
void pygpu_cpu_warp(struct pygpu_cpu_warp_call *);
unsigned pygpu_cpu_lane_id(void);
void pygpu_cpu_yield(void);
const struct pygpu_cpu_row *pygpu_cpu_rows(unsigned *rows, unsigned *threads);
// Memory until it is given back, which is done in the reverse order.
void *pygpu_cpu_room(unsigned long long bytes);
void pygpu_cpu_room_back(void *);
void *pygpu_cpu_dynamic_shared(void);
// Functions that set a file's own pointer to dynamic shared memory, called whenever a thread of the system begins to work.
void pygpu_cpu_at_start(void (*set)(void *memory));
unsigned long long pygpu_cpu_clock(void);
[[noreturn]] void pygpu_cpu_assert(const char *condition, const char *file, int line, const char *function);
[[noreturn]] void pygpu_cpu_trap(const char *file, int line);
}

#endif
