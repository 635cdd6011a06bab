// An OS thread that works on the blocks of a launch. Part of runtime.cpp only, in the unnamed namespace of that file.

extern __thread Processor *here;
unsigned long long nanoseconds();

class Processor : public Guarded {
public:
    explicit Processor(Launch &launch) : launch(launch), stacks(launch.shape->stack_bytes, launch.shape->host) {
        const unsigned *block = launch.shape->block;
        count = block[0] * block[1] * block[2];
        warp_count = (count + WARP - 1) / WARP;
        thread_order = Order(*launch.shape, count);
        threads = static_cast<Thread *>(calloc(count, sizeof(Thread)));
        ready = static_cast<unsigned *>(calloc(count, sizeof(unsigned)));
        rows = static_cast<pygpu_cpu_row *>(malloc(count * sizeof(pygpu_cpu_row)));
        if (threads)
            for (unsigned t = 0; t < count; t++) threads[t].index = index_of(t);
        if (rows) set_rows();
        map_shared(launch.shape->shared_bytes);
    }
    ~Processor() {
        free(threads);
        free(ready);
        free(rows);
        if (shared_map) {
#ifdef PYGPU_CPU_ASAN
            __asan_unpoison_memory_region(shared_map, shared_map_bytes);
#endif
            munmap(shared_map, shared_map_bytes);
        }
    }
    Processor(const Processor &) = delete;

    // Runs blocks until no block of the launch is left.
    void work() {
        if (!threads || !ready || !rows || (launch.shape->shared_bytes && !shared_map))
            return launch.fail(PYGPU_CPU_NO_RESOURCES, "no memory for the threads of a block");
        Processor *outer = here;
        here = this;
        const pygpu_cpu_launch &shape = *launch.shape;
        pygpu_cpu_grid_size = {shape.grid[0], shape.grid[1], shape.grid[2]};
        pygpu_cpu_block_size = {shape.block[0], shape.block[1], shape.block[2]};
        for (unsigned i = 0; i < starter_count; i++) starters[i](shared);
        unsigned long long begun = nanoseconds();
        while (!launch.failed()) {
            unsigned long long number = __atomic_fetch_add(&launch.next_block, 1, __ATOMIC_RELAXED);
            if (number >= launch.blocks) break;
            number = launch.block_order.place(number);
            unsigned long long row = number / shape.grid[0];
            pygpu_cpu_block_index = {unsigned(number % shape.grid[0]), unsigned(row % shape.grid[1]), unsigned(row / shape.grid[1])};
            run_block();
            ask();
            if (!launch.asked_for_helpers && nanoseconds() - begun > 100000) launch.call_helpers();
        }
        here = outer;
    }

    // ---- Called by the threads of the block, on the stacks of these threads.

    [[noreturn]] void fail(int code, const char *format, ...) __attribute__((format(printf, 3, 4))) {
        char text[1024];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        // If a debugger is attached, this trap stops the process at the failure.
        if (launch.shape->flags & PYGPU_CPU_STOP) raise(SIGTRAP);
        launch.fail(code, text);
        leave();
        __builtin_unreachable();
    }

    int barrier(int kind, int predicate, const char *name, const char *file, int line) {
        if (launch.task->is_whole) refuse(name, file, line);
        if (!meeting.arrived) {
            meeting.kind = kind, meeting.name = name, meeting.file = file, meeting.line = line;
        } else if (meeting.kind != kind || meeting.line != line || differ(meeting.file, file)) {
            unsigned other = 0;
            while (threads[other].state != State::at_barrier) other++;
            uint3 a = index_of(other), b = index_of(current), c = pygpu_cpu_block_index;
            fail(PYGPU_CPU_DEADLOCK,
                 "kernel %s, block (%u,%u,%u): threads wait for one another at different barriers: thread (%u,%u,%u) in %s at %s:%d, "
                 "thread (%u,%u,%u) in %s at %s:%d",
                 launch.task->kernel, c.x, c.y, c.z, a.x, a.y, a.z, meeting.name, meeting.file, meeting.line, b.x, b.y, b.z, name,
                 file, line);
        }
        meeting.arrived++;
        meeting.sum += predicate != 0;
        threads[current].state = State::at_barrier;
        if (meeting.arrived == living) {
            open_barrier();
            // The last thread to arrive continues immediately. open_barrier has put all threads at the barrier,
            // including this one, on the list of ready threads. The current thread is removed from this list.
            take_off_the_list(current);
        } else {
            leave();
        }
        return meeting.result;
    }

    void warp(Call *call) {
        if (launch.task->is_whole) refuse(call->name, call->file, call->line);
        unsigned w = current / WARP;
        Lanes me = Lanes(1) << current % WARP;
        if (!call->converged && !(call->mask & me)) {
            uint3 a = index_of(current), b = pygpu_cpu_block_index;
            fail(PYGPU_CPU_TRAP, "kernel %s, block (%u,%u,%u), thread (%u,%u,%u): lane %u calls %s at %s:%d with the mask %#llx, which does not name it",
                 launch.task->kernel, b.x, b.y, b.z, a.x, a.y, a.z, current % WARP, call->name, call->file, call->line, call->mask);
        }
        threads[current].call = call;
        threads[current].state = State::in_warp;
        warps[w].waiting |= me;
        if (Lanes group = complete_group(w, *call)) {
            finish(w, group);
            take_off_the_list(current);
        } else {
            leave();
        }
    }

    // Lets other threads run, because this thread may wait for one of them. Threads that have not started yet run
    // first.
    void yield() {
        if (launch.failed()) leave();
        if (launch.task->is_whole) {
            // All threads of this block run in one loop, so this thread can only wait for another block.
            launch.call_helpers();
            sched_yield();
            return;
        }
        if (!ready_count && started == count && !complete_whoever_arrived()) {
            launch.call_helpers();
            sched_yield();
            return;
        }
        unstarted_first = true;
        put_on_the_list(current);
        leave();
    }

    // Main loop of a fiber: runs one thread of the block after another, until waiting threads have become ready and
    // should continue instead.
    [[noreturn]] void live() {
        arrive();
        if (launch.task->is_whole) live_whole();
        for (;;) {
            while (started < count && (!ready_count || unstarted_first) && !launch.failed()) {
                unstarted_first = false;
                const pygpu_cpu_row &row = rows[started++];
                current = row.thread;
                Thread &thread = threads[current];
                thread.state = State::going;
                thread.fiber = running;
                pygpu_cpu_thread_index = {row.x, row.y, row.z};
                run_thread(launch.task);
                ended();
            }
            stacks.give(running);
            leave();
        }
    }

    unsigned lane() const { return (launch.task->is_whole ? number(pygpu_cpu_thread_index) : current) % WARP; }
    const pygpu_cpu_row *all_rows(unsigned *how_many, unsigned *all_threads) const {
        *how_many = row_count, *all_threads = count;
        return rows;
    }
    void *room(size_t bytes) {
        void *memory = rooms.take(bytes);
        if (!memory) fail(PYGPU_CPU_NO_RESOURCES, "kernel %s: no memory for the variables of a block", kernel());
        return memory;
    }
    void room_back(void *memory) { rooms.give(memory); }
    void *dynamic_shared() const { return shared; }
    const char *kernel() const { return launch.task->kernel; }
    uint3 index() const { return pygpu_cpu_thread_index; }
    const char *fiber_bottom() const { return running ? running->bottom : nullptr; }
    const char *shared_begin() const { return shared_map; }
    const char *shared_end() const { return shared_map + shared_map_bytes; }
    const pygpu_cpu_host *host() const { return launch.shape->host; }
    bool failed() const { return launch.failed(); }
    // Called from a signal handler. Leaves the kernel's code by a switch to the scheduler's stack: permanently after a
    // failure, or until the kernel is resumed after an interrupt check.
    void leave_text() { leave_to_scheduler(); }

    // Runs the interrupt check on the launching thread, if the user pressed Ctrl-C.
    void ask() {
        if (!asked) return;
        asked = false;
        if (host()->interrupted()) launch.fail(PYGPU_CPU_INTERRUPTED, "interrupted");
    }

private:
    // Reports an error for a synchronizing operation in a kernel that was converted to loops. The conversion did not
    // detect the operation.
    [[noreturn]] void refuse(const char *name, const char *file, int line) {
        fail(PYGPU_CPU_TRAP, "kernel %s: %s at %s:%d waits for threads that run one behind the other: an error of PyGPU, which please report",
             kernel(), name, file, line);
    }

    void run_block() {
        if (launch.task->is_whole) return run_whole_block();
        started = ready_first = ready_count = 0;
        living = count;
        unstarted_first = false;
        meeting = {};
        for (unsigned w = 0; w < warp_count; w++) {
            unsigned lanes = count - w * WARP < WARP ? count - w * WARP : WARP;
            warps[w] = {lanes == 64 ? ~Lanes(0) : (Lanes(1) << lanes) - 1, 0};
        }
        for (unsigned t = 0; t < count; t++) threads[t].state = State::unstarted;
        fill_shared();
        while (!launch.failed() && living) {
            if (ready_count && !(unstarted_first && started < count)) {
                take_next();
                enter(threads[current].fiber);
            } else if (started < count) {
                Fiber *fiber = stacks.take();
                if (!fiber) return launch.fail(PYGPU_CPU_NO_RESOURCES, "no memory for the stacks of a block");
                enter(fiber);
            } else if (!complete_whoever_arrived()) {
                report_deadlock();
            }
        }
        if (launch.failed()) stacks.reset();
    }

    // The block runs on a separate stack, because a failure of the kernel abandons the stack with all its frames.
    void run_whole_block() {
        fill_shared();
        Fiber *fiber = stacks.take();
        if (!fiber) return launch.fail(PYGPU_CPU_NO_RESOURCES, "no memory for the stack of a block");
        enter(fiber);
        if (launch.failed()) {
            stacks.reset();
            rooms.reset();
        }
    }
    [[noreturn]] void live_whole() {
        for (;;) {
            run_thread(launch.task);
            stacks.give(running);
            leave();
        }
    }

    // Fills shared memory with a pattern, so that kernels that rely on its initial content fail as on a GPU. Without
    // the pattern, the content would be zero, because the system clears new pages.
    void fill_shared() {
        if (shared) memset(shared, 0xcd, size_t(launch.shape->shared_bytes));
    }

    unsigned number(uint3 index) const {
        const unsigned *size = launch.shape->block;
        return (index.z * size[1] + index.y) * size[0] + index.x;
    }
    uint3 index_of(unsigned thread) const {
        const unsigned *size = launch.shape->block;
        return {thread % size[0], thread / size[0] % size[1], thread / (size[0] * size[1])};
    }
    // Stores the rows of threads (`pygpu_cpu_row`) in the order in which the rows run.
    void set_rows() {
        bool one_by_one = !launch.task->is_whole || launch.shape->flags & (PYGPU_CPU_REVERSED | PYGPU_CPU_SHUFFLED);
        unsigned length = one_by_one ? 1 : launch.shape->block[0];
        row_count = count / length;
        for (unsigned row = 0; row < row_count; row++) {
            unsigned thread = one_by_one ? unsigned(thread_order.place(row)) : row * length;
            uint3 index = index_of(thread);
            rows[row] = {index.x, index.y, index.z, thread, length};
        }
    }

    void enter(Fiber *fiber) {
        switch_to(fiber);
        // A signal handler has interrupted the kernel. The fault or Ctrl-C that the handler recorded is handled here,
        // outside of the handler.
        while (asked || fault.signal) {
            if (fault.signal) return report_fault(launch);
            bool is_held = held;
            held = false;
            ask();
            if (!is_held || launch.failed()) return;
            switch_to(fiber);
        }
    }
    void switch_to(Fiber *fiber) {
        running = fiber;
        in_text = true;
#ifdef PYGPU_CPU_ASAN
        __sanitizer_start_switch_fiber(&main_shadow, fiber->bottom, size_t(fiber->top - fiber->bottom));
#endif
        pygpu_cpu_switch(&main_at, fiber->at);
#ifdef PYGPU_CPU_ASAN
        __sanitizer_finish_switch_fiber(main_shadow, nullptr, nullptr);
#endif
        in_text = false;
    }
    // Switches to the next ready thread, or to run_block. Returns when this fiber is resumed.
    void leave() {
#ifndef PYGPU_CPU_ASAN
        if (ready_count && !(unstarted_first && started < count) && !asked && !launch.failed()) {
            Fiber *fiber = running;
            // Until the switch is complete, no signal handler may leave the kernel: `running` already is the next
            // fiber, but the current stack still is that of the previous fiber.
            busy = true;
            take_next();
            running = threads[current].fiber;
            if (running != fiber) pygpu_cpu_switch(&fiber->at, running->at);
            busy = false;
            return;
        }
#endif
        leave_to_scheduler();
    }
    void leave_to_scheduler() {
        Fiber *fiber = running;
#ifdef PYGPU_CPU_ASAN
        __sanitizer_start_switch_fiber(&fiber->shadow, main_bottom, main_bytes);
#endif
        pygpu_cpu_switch(&fiber->at, main_at);
        // If another fiber switched directly to this fiber in `leave`, that fiber has set `busy`. This fiber must clear
        // `busy`, because otherwise no signal handler may leave the kernel.
        busy = false;
        arrive();
    }
    void arrive() {
#ifdef PYGPU_CPU_ASAN
        __sanitizer_finish_switch_fiber(running->shadow, &main_bottom, &main_bytes);
#endif
    }

    // Returns a position in the ring buffer, wrapped around at the buffer's end by a comparison, which is faster than a
    // division.
    unsigned in_ring(unsigned place) const { return place < count ? place : place - count; }
    void take_next() {
        current = ready[ready_first];
        ready_first = in_ring(ready_first + 1);
        ready_count--;
        unstarted_first = false;
        Thread &thread = threads[current];
        thread.state = State::going;
        pygpu_cpu_thread_index = thread.index;
    }
    void put_on_the_list(unsigned thread) {
        threads[thread].state = State::going;
        ready[in_ring(ready_first + ready_count++)] = thread;
    }
    // Removes a thread from the list of ready threads, and keeps the order of the other threads in it.
    void take_off_the_list(unsigned thread) {
        unsigned kept = 0;
        for (unsigned i = 0; i < ready_count; i++) {
            unsigned other = ready[in_ring(ready_first + i)];
            if (other != thread) ready[in_ring(ready_first + kept++)] = other;
        }
        ready_count = kept;
    }

    void open_barrier() {
        int all = meeting.sum == meeting.arrived, any = meeting.sum != 0;
        meeting.result = meeting.kind == PYGPU_CPU_BARRIER_COUNT ? int(meeting.sum) : meeting.kind == PYGPU_CPU_BARRIER_AND ? all : any;
        meeting.arrived = meeting.sum = 0;
        for (unsigned t = 0; t < count; t++)
            if (threads[t].state == State::at_barrier) put_on_the_list(t);
    }

    void ended() {
        unsigned w = current / WARP;
        threads[current].state = State::ended;
        living--;
        warps[w].living &= ~(Lanes(1) << current % WARP);
        // Barriers and warp operations do not wait for a thread that has ended. Threads that waited only for this
        // thread continue now.
        if (meeting.arrived && meeting.arrived == living) open_barrier();
        for (unsigned lane = 0; lane < WARP && warps[w].waiting; lane++)
            if (warps[w].waiting >> lane & 1)
                if (Lanes group = complete_group(w, *threads[w * WARP + lane].call)) finish(w, group);
    }

    static bool differ(const char *a, const char *b) { return a != b && strcmp(a, b); }
    // Returns the lanes that wait in the operation that `call` describes.
    Lanes same_operation(unsigned w, const Call &call) const {
        Lanes group = 0;
        for (unsigned lane = 0; lane < WARP; lane++) {
            if (!(warps[w].waiting >> lane & 1)) continue;
            const Call &other = *threads[w * WARP + lane].call;
            bool same = other.complete == call.complete && other.converged == call.converged &&
                        (call.converged ? other.line == call.line && !differ(other.file, call.file) : other.mask == call.mask);
            if (same) group |= Lanes(1) << lane;
        }
        return group;
    }
    // Returns the lanes for which a warp operation waits if all these lanes have arrived, otherwise 0.
    Lanes complete_group(unsigned w, const Call &call) const {
        Lanes needed = warps[w].living & (call.converged ? ~Lanes(0) : call.mask);
        if (needed & ~warps[w].waiting) return 0;
        return (same_operation(w, call) & needed) == needed ? needed : 0;
    }
    void finish(unsigned w, Lanes group) {
        pygpu_cpu_lane lanes[WARP];
        Call *call = nullptr;
        for (unsigned lane = 0; lane < WARP; lane++)
            if (group >> lane & 1) call = threads[w * WARP + lane].call, lanes[lane] = call->lane;
        call->complete(lanes, group);
        warps[w].waiting &= ~group;
        for (unsigned lane = 0; lane < WARP; lane++)
            if (group >> lane & 1) put_on_the_list(w * WARP + lane);
    }
    // Called when no thread of the block can continue. Completes each warp operation that has no mask, with the lanes
    // that have arrived.
    bool complete_whoever_arrived() {
        bool any = false;
        for (unsigned w = 0; w < warp_count; w++)
            for (unsigned lane = 0; lane < WARP; lane++) {
                if (!(warps[w].waiting >> lane & 1) || !threads[w * WARP + lane].call->converged) continue;
                finish(w, same_operation(w, *threads[w * WARP + lane].call));
                any = true;
                break;
            }
        return any;
    }

    void report_deadlock() {
        char text[1500];
        uint3 b = pygpu_cpu_block_index;
        int length = snprintf(text, sizeof text, "kernel %s, block (%u,%u,%u): deadlock, nobody can go on:", kernel(), b.x, b.y, b.z);
        for (unsigned t = 0; t < count && length < 1200; t++) {
            unsigned others = 0;
            bool first = threads[t].state != State::ended;
            for (unsigned s = 0; s < count && first; s++) {
                if (!waits_like(t, s)) continue;
                if (s < t) first = false;
                others++;
            }
            if (!first) continue;
            uint3 a = index_of(t);
            length += snprintf(text + length, sizeof text - size_t(length), " %u thread%s, from (%u,%u,%u) on, in ", others,
                               others == 1 ? "" : "s", a.x, a.y, a.z);
            const Call *call = threads[t].call;
            if (threads[t].state == State::at_barrier)
                length += snprintf(text + length, sizeof text - size_t(length), "%s at %s:%d;", meeting.name, meeting.file, meeting.line);
            else
                length += snprintf(text + length, sizeof text - size_t(length), "%s with mask %#llx at %s:%d;", call->name, call->mask,
                                   call->file, call->line);
        }
        if (count > living) snprintf(text + length, sizeof text - size_t(length), " %u have ended", count - living);
        if (launch.shape->flags & PYGPU_CPU_STOP) raise(SIGTRAP);
        launch.fail(PYGPU_CPU_DEADLOCK, text);
    }
    bool waits_like(unsigned t, unsigned s) const {
        if (threads[t].state != threads[s].state) return false;
        if (threads[t].state != State::in_warp) return true;
        const Call &a = *threads[t].call, &b = *threads[s].call;
        return a.complete == b.complete && a.line == b.line && a.mask == b.mask;
    }

    // Maps dynamic shared memory so that it ends directly before an inaccessible page.
    void map_shared(unsigned long long bytes) {
        if (!bytes) return;
        size_t page = size_t(sysconf(_SC_PAGESIZE)), used = (size_t(bytes) + 15) / 16 * 16, pages = (used + page - 1) / page * page;
        void *memory = mmap(nullptr, pages + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return;
        shared_map = static_cast<char *>(memory);
        shared_map_bytes = pages + 2 * page;
        mprotect(shared_map, page, PROT_NONE);
        mprotect(shared_map + page + pages, page, PROT_NONE);
        shared = shared_map + page + pages - used;
#ifdef PYGPU_CPU_ASAN
        __asan_poison_memory_region(shared_map + page, pages);
        __asan_unpoison_memory_region(shared, size_t(bytes));
#endif
    }

    Launch &launch;
    Stacks stacks;
    Order thread_order;
    Thread *threads;
    pygpu_cpu_row *rows;
    unsigned row_count = 0;
    Rooms rooms;
    unsigned *ready;  // ring buffer of the threads that can continue
    unsigned ready_first = 0, ready_count = 0;
    unsigned count, warp_count, started = 0, living = 0, current = 0;
    bool unstarted_first = false;
    Warp warps[1024 / 32];
    Barrier meeting = {};
    Fiber *running = nullptr;
    void *main_at = nullptr, *main_shadow = nullptr;
    const void *main_bottom = nullptr;
    size_t main_bytes = 0;
    char *shared = nullptr, *shared_map = nullptr;
    size_t shared_map_bytes = 0;
};
