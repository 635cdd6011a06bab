// Processor faults inside a kernel. Instead of ending the process, a fault ends the launch with an error that names the
// thread and the position. Part of runtime.cpp only.
//
// The process's handlers (src/cpu_engine/fault_handlers.rs) call this code on the signal stack, while the OS thread is
// interrupted at the fault. A kernel runs on a fiber. A faulting kernel is left in the same way as a waiting one: by a
// switch to the scheduler's stack. The switch requires no preparation, so it adds no cost to a launch without faults.
// The kernel's frames are not unwound: destructors do not run, and the stacks are reused.
//
// Locks that the kernel holds stay locked. On a GPU, a lock of the user's program in device memory would stay locked
// too. A lock of the C library would later block the whole process. The kernel is therefore left only in code that
// holds no such lock: its own code, mathematical functions, and memory copies that the kernel called directly. In all
// other functions (`malloc` in a corrupt heap, `printf` of an invalid pointer) the kernel's name is written to stderr,
// and the signal is passed to the previous handler.

// Order in which blocks or threads start.
class Order {
public:
    Order() {}
    Order(const pygpu_cpu_launch &shape, unsigned long long count) : count(count) {
        if (shape.flags & PYGPU_CPU_REVERSED) is_plain = false, factor = count - 1, offset = count - 1;
        if (!(shape.flags & PYGPU_CPU_SHUFFLED)) return;
        is_plain = false;
        unsigned long long mixed = (shape.seed + 1) * 0x9e3779b97f4a7c15ull;
        // For a random order, indices are multiplied by a factor. If the factor and the count have no common divisor,
        // `place` returns every index once.
        factor = (mixed >> 33) % count;
        while (divisor(factor, count) != 1) factor++;
        offset = (mixed & 0x7fffffff) % count;
    }
    unsigned long long place(unsigned long long number) const {
        if (__builtin_expect(is_plain, 1)) return number;
        // The reverse order is computed without a multiplication, because the product would overflow for a large number
        // of blocks.
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

// An OS thread, with the state that the signal handlers read and write.
class Guarded : public pygpu_cpu_guarded {
public:
    Guarded() : pygpu_cpu_guarded{&on_signal, nullptr} {}
    // `in_text` is set while a kernel's code runs on the thread, `busy` while the scheduler is in a critical section.
    volatile bool in_text = false, busy = false;
    // `asked`: the user pressed Ctrl-C, and the interrupt check must run. `held`: the kernel was interrupted for that
    // check, and continues if the check returns false.
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

// While an object exists, its thread is registered with the signal handlers as a thread that works on a launch.
class Inside {
public:
    Inside(const pygpu_cpu_host *host, Guarded &guarded) : host(host), guarded(guarded) {
#ifndef PYGPU_CPU_ASAN  // the sanitizer reports a fault with more details than these handlers
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

// Runs one thread of a block. Exceptions must be caught here, because an exception that leaves a fiber ends the
// process.
void run_thread(const pygpu_cpu_task *task);
