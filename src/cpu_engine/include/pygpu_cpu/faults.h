// Processor faults inside a kernel: they end the launch with an error, which names the thread and the position,
// instead of ending the process. Part of block_worker.h.
//
// The process's handlers (src/cpu_engine/fault_handlers.rs) call this code on the signal stack, while the OS thread
// is interrupted at the fault. A kernel runs on a fiber. It is left in the same way as when it waits: by switching to
// the scheduler's stack. This needs no preparation and costs nothing. The kernel's frames are not unwound:
// destructors do not run, and the stacks are reused.
//
// Locks held by the kernel stay locked. A lock of the user's program, in device memory, would be lost on a GPU too. A
// lock of the C library would block the whole process later. The kernel is therefore left only in code without such
// locks: its own code, mathematical functions, and memory copies that the kernel called directly. In all other
// functions (`malloc` in a corrupt heap, `printf` of an invalid pointer) the kernel's name is written to stderr, and
// the signal is passed to the previous handler.

// Order in which blocks or threads start.
class Order {
public:
    Order() {}
    Order(const pygpu_cpu_launch &shape, unsigned long long count) : count(count) {
        if (shape.flags & PYGPU_CPU_REVERSED) is_plain = false, factor = count - 1, offset = count - 1;
        if (!(shape.flags & PYGPU_CPU_SHUFFLED)) return;
        is_plain = false;
        unsigned long long mixed = (shape.seed + 1) * 0x9e3779b97f4a7c15ull;
        // A factor coprime to the count visits every index once.
        factor = (mixed >> 33) % count;
        while (divisor(factor, count) != 1) factor++;
        offset = (mixed & 0x7fffffff) % count;
    }
    unsigned long long place(unsigned long long number) const {
        if (__builtin_expect(is_plain, 1)) return number;
        // Reverse order of very many blocks must not overflow.
        return factor == count - 1 ? (offset + count - number) % count : (number * factor + offset) % count;
    }

private:
    static unsigned long long divisor(unsigned long long a, unsigned long long b) {
        while (b) {
            unsigned long long rest = a % b;
            a = b, b = rest;
        }
        return a;
    }
    unsigned long long count = 1, factor = 1, offset = 0;
    bool is_plain = true;
};

struct Fault {
    volatile int signal;
    int code;
    const void *address;
    unsigned long long instruction;
};

// An OS thread, as seen by the signal handlers.
class Guarded : public pygpu_cpu_guarded {
public:
    Guarded() : pygpu_cpu_guarded{&on_signal, nullptr} {}
    // Set while a kernel's code runs on the thread, and while the scheduler is in a critical section.
    volatile bool in_text = false, busy = false;
    // Ctrl-C was pressed, and the interrupt check must run. The kernel was interrupted for it, and continues if the
    // check returns false.
    volatile bool asked = false, held = false;
    Fault fault = {};

    void report_fault(Launch &launch);

private:
    static void on_signal(pygpu_cpu_guarded *, int number, const void *information, const void *context);
    void signalled(int number, const siginfo_t *information, const void *context);
    bool may_leave(unsigned long long instruction, const void *context) const;
    inline Processor &self();
    const Processor &self() const { return const_cast<Guarded *>(this)->self(); }
    void tell_the_end(int number) const;
};

// Registers a thread at work on a launch with the handlers, for the object's lifetime.
class Inside {
public:
    Inside(const pygpu_cpu_host *host, Guarded &guarded) : host(host), guarded(guarded) {
#ifndef PYGPU_CPU_ASAN  // the sanitizer's own report has more details
        if (host) host->enter(&guarded);
#endif
    }
    ~Inside() {
#ifndef PYGPU_CPU_ASAN
        if (host) host->leave(&guarded);
#endif
    }

private:
    const pygpu_cpu_host *host;
    Guarded &guarded;
};

// Runs one thread of a block. An exception must be caught here: on a fiber nothing else would, and the process would
// end.
void run_thread(const pygpu_cpu_task *task);
