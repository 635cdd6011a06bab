// Functions that a compiled source calls. Part of runtime.cpp only.

extern "C" {

void pygpu_cpu_fiber_main(void) { here->live(); }

int pygpu_cpu_run(const pygpu_cpu_task *task, const pygpu_cpu_launch *shape) {
    if (int code = check(shape, task->kernel)) return code;
#ifdef PYGPU_CPU_ASAN
    pthread_mutex_lock(&one_at_a_time);
#endif
    Launch *launch = new Launch;
    launch->task = task;
    launch->shape = shape;
    launch->blocks = (unsigned long long)shape->grid[0] * shape->grid[1] * shape->grid[2];
    launch->block_order = Order(*shape, launch->blocks);
    launch->threads = shape->threads ? shape->threads : 1;
#ifdef PYGPU_CPU_ASAN
    launch->threads = 1;
#endif
    if (shape->flags & PYGPU_CPU_COOPERATIVE) {
        constexpr const char *too_many = "a cooperative launch of more blocks than can run at once";
        if (launch->blocks > 512) {
            // The number of blocks is checked before the helpers start, because the helpers would begin to run some of
            // the blocks.
            launch->fail(PYGPU_CPU_NO_RESOURCES, too_many);
            launch->blocks = 0;
        }
        launch->threads = unsigned(launch->blocks);
        launch->call_helpers();
        if (launch->helper_count + 1 < launch->blocks) launch->fail(PYGPU_CPU_NO_RESOURCES, too_many);
    }
    {
        Processor caller(*launch);
        Inside inside(shape->host, caller);
        caller.work();
        launch->wait_for_helpers(caller);
    }
    int code = launch->code;
    delete launch;
#ifdef PYGPU_CPU_ASAN
    pthread_mutex_unlock(&one_at_a_time);
#endif
    fflush(stdout);
    return code;
}

int pygpu_cpu_barrier(int kind, int predicate, const char *name, const char *file, int line) {
    return here->barrier(kind, predicate, name, file, line);
}

void pygpu_cpu_warp(pygpu_cpu_warp_call *call) { here->warp(call); }
unsigned pygpu_cpu_lane_id(void) { return here->lane(); }
void pygpu_cpu_yield(void) { here->yield(); }
const pygpu_cpu_row *pygpu_cpu_rows(unsigned *rows, unsigned *threads) { return here->all_rows(rows, threads); }
void *pygpu_cpu_room(unsigned long long bytes) { return here->room(size_t(bytes)); }
void pygpu_cpu_room_back(void *memory) { here->room_back(memory); }
void *pygpu_cpu_dynamic_shared(void) { return here->dynamic_shared(); }
unsigned long long pygpu_cpu_clock(void) { return nanoseconds(); }

void pygpu_cpu_at_start(void (*set)(void *memory)) {
    if (starter_count < sizeof starters / sizeof *starters) starters[starter_count++] = set;
}

void pygpu_cpu_assert(const char *condition, const char *file, int line, const char *function) {
    uint3 b = pygpu_cpu_block_index, t = here->index();
    here->fail(PYGPU_CPU_ASSERT, "kernel %s, block (%u,%u,%u), thread (%u,%u,%u): assertion `%s` failed in %s at %s:%d", here->kernel(), b.x,
               b.y, b.z, t.x, t.y, t.z, condition, function, file, line);
}

// Replaces the C library's abort in this library. The replacement ends only the launch, like a trap. It holds no lock,
// so that the process can continue.
[[noreturn]] __attribute__((visibility("hidden"))) void pygpu_cpu_abort() __asm__(PYGPU_CPU_SYMBOL(abort));
void pygpu_cpu_abort() {
    if (here && here->in_text) {
        uint3 b = pygpu_cpu_block_index, t = here->index();
        here->fail(PYGPU_CPU_TRAP, "kernel %s, block (%u,%u,%u), thread (%u,%u,%u): abort() was called", here->kernel(), b.x, b.y, b.z,
                   t.x, t.y, t.z);
    }
    signal(SIGABRT, SIG_DFL);
    raise(SIGABRT);
    _exit(134);
}

void pygpu_cpu_trap(const char *file, int line) {
    uint3 b = pygpu_cpu_block_index, t = here->index();
    here->fail(PYGPU_CPU_TRAP, "kernel %s, block (%u,%u,%u), thread (%u,%u,%u): __trap() at %s:%d", here->kernel(), b.x, b.y, b.z, t.x, t.y,
               t.z, file, line);
}
}
