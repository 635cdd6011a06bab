// What a kernel does that no processor can do: it ends the launch with an error instead of the process, and who and where is
// told. Part of block_worker.h.
//
// The process's handlers (src/cpu_engine/fault_handlers.rs) come here on a stack of their own, with the thread of the
// system still where it failed. The kernel's text runs on a fiber; so it is left as it leaves itself when it waits: by going back
// to the scheduler's stack. Nothing is prepared for that, so it costs nothing, and nothing of the text is unwound: its
// destructors do not run, and the stacks are used anew.
//
// What the text held stays held. A lock of the program's own, in memory of the device, is as lost as on a GPU. A lock of the C
// library would stop the whole process later. So the text is left only from its own instructions, which hold none, and from those
// functions of the system that take none (mathematics, and copying, where the text itself called it). In all others (`malloc` in a broken heap, `printf` of a wrong
// pointer) the kernel's name is written to stderr, and the signal goes on to whoever had it before.
// The order in which blocks or threads start.
class Order {
public:
    Order() {}
    Order(const pygpu_cpu_launch &shape, unsigned long long count) : count(count) {
        if (shape.flags & PYGPU_CPU_REVERSED) is_plain = false, factor = count - 1, offset = count - 1;
        if (!(shape.flags & PYGPU_CPU_SHUFFLED)) return;
        is_plain = false;
        unsigned long long mixed = (shape.seed + 1) * 0x9e3779b97f4a7c15ull;
        // What has no divisor in common with the count meets every place once.
        factor = (mixed >> 33) % count;
        while (divisor(factor, count) != 1) factor++;
        offset = (mixed & 0x7fffffff) % count;
    }
    unsigned long long place(unsigned long long number) const {
        if (__builtin_expect(is_plain, 1)) return number;
        // A last-first order of very many blocks must not overflow.
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

// A thread of the system, as the handlers know it.
class Guarded : public pygpu_cpu_guarded {
public:
    Guarded() : pygpu_cpu_guarded{&on_signal, nullptr} {}
    // Set while the text of a kernel has the thread, and while the scheduler does what must not be left in the middle.
    volatile bool in_text = false, busy = false;
    // Ctrl-C was pressed: whoever launched is to be asked. The text was held up for that, and goes on if the answer is no.
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

// From its beginning to its end a thread at work on a launch is known to the handlers.
class Inside {
public:
    Inside(const pygpu_cpu_host *host, Guarded &guarded) : host(host), guarded(guarded) {
#ifndef PYGPU_CPU_ASAN  // whose own report says more
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

// One thread of a block. On a fiber an exception would find nobody, and end the process.
void run_thread(const pygpu_cpu_task *task);
