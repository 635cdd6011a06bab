// C interface of a compiled source: the symbols that the source's shared library exports, and the functions of the
// scheduler that the compiled code calls.
//
// To run a kernel: open the library, look up the symbol `pygpu_cpu_module`, check `abi`, find the kernel by its name,
// and call `launch`. `launch` returns when every thread of every block has ended:
//
//     const struct pygpu_cpu_module *module = dlsym(library, "pygpu_cpu_module");
//     int code = module->kernels[0].launch(&launch, arguments);   // 0, or one of the codes below with a text in `message`
//
// `arguments` has one pointer for each parameter, as in cuLaunchKernel. A caller that calls `launch` later must first
// copy `bytes` bytes of each parameter. Several threads may launch kernels of one library concurrently.
#ifndef PYGPU_CPU_ABI_H
#define PYGPU_CPU_ABI_H

#define PYGPU_CPU_ABI 4

#define PYGPU_CPU_EXPORT __attribute__((visibility("default")))

extern "C" {

enum {
    PYGPU_CPU_DONE = 0,
    PYGPU_CPU_ASSERT = 1,        // an assertion failed
    PYGPU_CPU_TRAP = 2,          // the kernel called __trap()
    PYGPU_CPU_DEADLOCK = 3,      // all threads wait, so none can continue
    PYGPU_CPU_BAD_LAUNCH = 4,    // the grid, the block or the amount of shared memory is invalid
    PYGPU_CPU_NO_RESOURCES = 5,  // no memory for stacks, or too few threads for a cooperative launch
    PYGPU_CPU_ADDRESS = 6,       // a kernel accessed an invalid address
    PYGPU_CPU_STACK = 7,         // stack overflow in a thread of a block
    PYGPU_CPU_FAULT = 8,         // any other processor fault, or an uncaught exception
    PYGPU_CPU_INTERRUPTED = 9,   // the caller cancelled the launch
};

enum {
    PYGPU_CPU_COOPERATIVE = 1,  // every block gets its own OS thread, because blocks may wait for each other
    PYGPU_CPU_REVERSED = 2,     // blocks and threads start in reverse order, which exposes missing barriers
    PYGPU_CPU_STOP = 4,         // a failure stops the process in a debugger
    PYGPU_CPU_SHUFFLED = 8,     // blocks and threads start in an order determined by `seed`
};

// An OS thread that works on a launch, with the data that the process's signal handlers use.
struct pygpu_cpu_guarded {
    // The process's signal handler calls this function. The function returns only if the signal does not concern the
    // kernel, or only requested a check of the launch.
    void (*signalled)(struct pygpu_cpu_guarded *, int number, const void *information, const void *context);
    struct pygpu_cpu_guarded *outer;
};

enum { PYGPU_CPU_COPIES = 1, PYGPU_CPU_COMPUTES = 2 };

// Memory for the stacks of 32 threads of a block. The process caches this memory, because mapping it with its guard
// pages takes longer than most kernels run.
struct pygpu_cpu_stacks {
    char *memory;
    unsigned long long bytes;
    unsigned guarded;    // one bit per stack that has an inaccessible guard page below it
    unsigned may_guard;  // whether more guard pages may be created
};

// Functions that the process provides for compiled kernels, because signal handlers belong to the process, while
// libraries are loaded and unloaded.
struct pygpu_cpu_host {
    void (*enter)(struct pygpu_cpu_guarded *);
    void (*leave)(struct pygpu_cpu_guarded *);
    int (*is_plain)(unsigned long long instruction);  // kind of the lock-free function at the address; 0 if none
    int (*interrupted)(void);                         // whether the launch should end because of Ctrl-C
    int nudge;                                        // signal that makes a thread check its launch
    struct pygpu_cpu_stacks *(*take_stacks)(unsigned long long bytes);  // returns null if there is no memory
    void (*give_stacks)(struct pygpu_cpu_stacks *);
};

struct pygpu_cpu_launch {
    unsigned grid[3];
    unsigned block[3];
    unsigned long long shared_bytes;  // size of dynamic shared memory
    unsigned long long stack_bytes;   // stack size of each thread of a block; 0 means 256 KiB
    unsigned threads;                 // maximum number of OS threads that work at the same time; 0 means 1
    unsigned flags;
    char *message;  // buffer for the text of a failure; the next field is its size, including the final zero
    unsigned long long message_bytes;
    unsigned long long seed;
    unsigned long long *place;          // receives the offset in the library of the instruction that failed
    const struct pygpu_cpu_host *host;  // null without signal handlers; a fault in a kernel then ends the process
};

struct pygpu_cpu_parameter {
    unsigned bytes, alignment;
    char kind;  // first letter of pointer, bool, integer, unsigned, float or structure
};

struct pygpu_cpu_kernel {
    const char *name;
    int (*launch)(const struct pygpu_cpu_launch *, void *const *arguments);
    const struct pygpu_cpu_parameter *parameters;
    unsigned parameter_count;
    unsigned max_threads;  // value of __launch_bounds__; 0 without it
    const void *function;  // address of the kernel function, by which its symbol is found
};

struct pygpu_cpu_global {
    const char *name;
    void *address;
    unsigned long long bytes;
    unsigned constant;  // whether the variable was declared __constant__
};

struct pygpu_cpu_module {
    unsigned abi;
    unsigned kernel_count, global_count;
    const struct pygpu_cpu_kernel *kernels;
    const struct pygpu_cpu_global *globals;
};

// ---- Below: the interface between a compiled source and the scheduler that is linked to it.

struct pygpu_cpu_task {
    const char *kernel;
    void (*run)(const void *arguments);  // runs one thread from start to end, or a whole block
    const void *arguments;
    unsigned is_whole;  // whether `run` runs all threads of a block in loops (barrier_regions.h)
};

// A row of threads, which run one after another: the three-dimensional index of the first thread, its linear number
// within the block, and the number of threads in the row.
struct pygpu_cpu_row {
    unsigned x, y, z, thread, length;
};

// Input and output of one lane in a warp operation. The structure is on the lane's stack while the lane waits.
struct pygpu_cpu_lane {
    const void *in;
    void *out;
    unsigned argument, width;
};

struct pygpu_cpu_warp_call {
    const char *name, *file;
    int line;
    unsigned converged;       // whether all lanes that arrive take part, instead of the lanes in `mask`
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
// Allocates memory for variables of a block's threads. Allocations must be freed in the reverse order.
void *pygpu_cpu_room(unsigned long long bytes);
void pygpu_cpu_room_back(void *);
void *pygpu_cpu_dynamic_shared(void);
// Registers a function that sets the compiled source's variable that points to dynamic shared memory. Every OS thread
// calls the function when it begins to work on a launch.
void pygpu_cpu_at_start(void (*set)(void *memory));
unsigned long long pygpu_cpu_clock(void);
[[noreturn]] void pygpu_cpu_assert(const char *condition, const char *file, int line, const char *function);
[[noreturn]] void pygpu_cpu_trap(const char *file, int line);
}

#endif
