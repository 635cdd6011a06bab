// Handling and reporting of faults. Part of runtime.cpp only, in the unnamed namespace of that file.

unsigned long long instruction_of(const void *context) {
    const ucontext_t *at = static_cast<const ucontext_t *>(context);
#if defined(__linux__) && defined(__x86_64__)
    return (unsigned long long)at->uc_mcontext.gregs[REG_RIP];
#elif defined(__linux__) && defined(__aarch64__)
    return at->uc_mcontext.pc;
#elif defined(__APPLE__) && defined(__x86_64__)
    return at->uc_mcontext->__ss.__rip;
#elif defined(__APPLE__) && defined(__aarch64__)
    return at->uc_mcontext->__ss.__pc;
#else
    return at ? 0 : 0;
#endif
}

// Returns the return address of the interrupted function, i.e. the address after its call. The function must not have
// pushed anything on the stack yet.
unsigned long long caller_of(const void *context) {
    const ucontext_t *at = static_cast<const ucontext_t *>(context);
#if defined(__linux__) && defined(__x86_64__)
    return *reinterpret_cast<const unsigned long long *>(at->uc_mcontext.gregs[REG_RSP]);
#elif defined(__linux__) && defined(__aarch64__)
    return at->uc_mcontext.regs[30];
#else
    return at ? 0 : 0;
#endif
}

// Returns the offset of an instruction in this library; 0 if the instruction is in another library.
unsigned long long own_place(unsigned long long instruction) {
#ifdef __linux__
    unsigned long long begin = (unsigned long long)__ehdr_start, end = (unsigned long long)_end;
    return begin <= instruction && instruction < end ? instruction - begin : 0;
#else
    return 0;
#endif
}

Processor &Guarded::self() { return static_cast<Processor &>(*this); }

bool Guarded::may_leave(unsigned long long instruction, const void *context) const {
    if (!in_text || busy) return false;
    if (!instruction || own_place(instruction)) return true;
    // After a fault, the handler may abandon the kernel inside a copy function such as memcpy only if the kernel itself
    // called that function. If printf or realloc called it, the C library's lock that they hold would never be
    // released.
    int kind = self().host()->is_plain(instruction);
    return kind == PYGPU_CPU_COMPUTES || (kind == PYGPU_CPU_COPIES && own_place(caller_of(context)));
}

void Guarded::on_signal(pygpu_cpu_guarded *guarded, int number, const void *information, const void *context) {
    static_cast<Guarded *>(guarded)->signalled(number, static_cast<const siginfo_t *>(information), context);
}

void Guarded::signalled(int number, const siginfo_t *information, const void *context) {
    unsigned long long instruction = instruction_of(context);
    if (number == self().host()->nudge) {
        // The signal means that another thread of the launch has failed. If this thread cannot abandon the kernel at
        // the interrupted instruction, the failed thread sends the signal again.
        if (self().failed() && may_leave(instruction, context)) self().leave_text();
        return;
    }
    if (number == SIGINT) {
        asked = true;
        if (!may_leave(instruction, context)) return;
        held = true;
        self().leave_text();
        return;
    }
    // A signal that was sent by another process or by raise() is not caused by the kernel.
    if (information->si_code <= 0) return tell_the_end(number);
    // If the fault is a call of an invalid function pointer, no function that could hold a lock is running, so the
    // kernel may be abandoned.
    bool is_call = in_text && !busy && (number == SIGSEGV || number == SIGBUS) && (unsigned long long)information->si_addr == instruction;
    if (!is_call && !may_leave(instruction, context)) return tell_the_end(number);
    fault.code = information->si_code;
    fault.address = information->si_addr;
    fault.instruction = instruction;
    fault.signal = number;
    self().leave_text();
}

const char *name_of(int number) {
    switch (number) {
        case SIGSEGV: return "SIGSEGV";
        case SIGBUS: return "SIGBUS";
        case SIGFPE: return "SIGFPE";
        case SIGILL: return "SIGILL";
        case SIGABRT: return "SIGABRT";
        default: return "a signal";
    }
}

// Writes to stderr which kernel caused the signal, because the process will end.
void Guarded::tell_the_end(int number) const {
    char text[600];
    uint3 b = pygpu_cpu_block_index, t = self().index();
    int length = snprintf(text, sizeof text,
                          "PyGPU: %s in kernel %s, block (%u,%u,%u), thread (%u,%u,%u), %s: the process cannot go on\n", name_of(number),
                          self().kernel(), b.x, b.y, b.z, t.x, t.y, t.z,
                          in_text ? "in a function of the system that may hold a lock" : "in the scheduler");
    size_t bytes = length < 0 ? 0 : size_t(length) < sizeof text ? size_t(length) : sizeof text - 1;
    if (write(2, text, bytes) < 0) return;
}

void Guarded::report_fault(Launch &launch) {
    char what[300];
    const char *address = static_cast<const char *>(fault.address), *bottom = self().fiber_bottom();
    int code = PYGPU_CPU_FAULT;
    if (fault.signal == SIGSEGV || fault.signal == SIGBUS) {
        code = PYGPU_CPU_ADDRESS;
        if (bottom && address < bottom && address >= bottom - 65536)
            code = PYGPU_CPU_STACK, snprintf(what, sizeof what, "the stack of the thread is full: it calls itself too deeply, or has large arrays");
        else if (self().shared_begin() <= address && address < self().shared_end())
            snprintf(what, sizeof what, "it reads or writes beyond the dynamic shared memory, of which the launch gave %llu bytes",
                     launch.shape->shared_bytes);
        else if (fault.code != SEGV_MAPERR && fault.code != SEGV_ACCERR && !address)
            snprintf(what, sizeof what, "it reads or writes at an address that no memory can have");
        else if (address < reinterpret_cast<const char *>(4096))
            snprintf(what, sizeof what, "it reads or writes through a null pointer, at address 0x%llx", (unsigned long long)address);
        else
            snprintf(what, sizeof what, "it reads or writes at address %p, where there is no memory that it may touch", fault.address);
    } else if (fault.signal == SIGFPE) {
        snprintf(what, sizeof what, fault.code == FPE_INTDIV ? "integer division by zero" : "an arithmetic fault");
    } else {
        snprintf(what, sizeof what, "an instruction that stops it, as __builtin_trap() is");
    }
    fault.signal = 0;
    uint3 b = pygpu_cpu_block_index, t = self().index();
    char text[1024];
    snprintf(text, sizeof text, "kernel %s, block (%u,%u,%u), thread (%u,%u,%u): %s", self().kernel(), b.x, b.y, b.z, t.x, t.y, t.z, what);
    if (launch.shape->flags & PYGPU_CPU_STOP) raise(SIGTRAP);
    launch.fail(code, text, own_place(fault.instruction));
}

void run_thread(const pygpu_cpu_task *task) {
#if defined(__cpp_exceptions)
    char what[400];
    try {
        return task->run(task->arguments);
    } catch (const std::exception &thrown) {
        snprintf(what, sizeof what, "an exception that nobody caught: %s", thrown.what());
    } catch (...) {
        snprintf(what, sizeof what, "an exception that nobody caught");
    }
    // `fail` never returns. It is therefore called only after the end of the catch block, where the exception is freed.
    uint3 b = pygpu_cpu_block_index, t = here->index();
    here->fail(PYGPU_CPU_FAULT, "kernel %s, block (%u,%u,%u), thread (%u,%u,%u): %s", here->kernel(), b.x, b.y, b.z, t.x, t.y, t.z, what);
#else
    task->run(task->arguments);
#endif
}
