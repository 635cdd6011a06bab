// Stacks for the threads of a block, and the switch between stacks, by which a thread can stop anywhere and continue
// later. Part of runtime.cpp only.
#ifndef PYGPU_CPU_FIBERS_H
#define PYGPU_CPU_FIBERS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define PYGPU_CPU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PYGPU_CPU_ASAN 1
#endif
#endif
#ifdef PYGPU_CPU_ASAN
extern "C" {
void __sanitizer_start_switch_fiber(void **save, const void *bottom, size_t bytes);
void __sanitizer_finish_switch_fiber(void *save, const void **bottom_old, size_t *bytes_old);
void __asan_poison_memory_region(const volatile void *, size_t);
void __asan_unpoison_memory_region(const volatile void *, size_t);
}
#endif

extern "C" {
__attribute__((visibility("hidden"))) void pygpu_cpu_switch(void **save, void *to);
__attribute__((visibility("hidden"))) void pygpu_cpu_begin(void);
__attribute__((visibility("hidden"), used)) void pygpu_cpu_fiber_main(void);
}

#ifdef __APPLE__
#define PYGPU_CPU_SYMBOL(name) "_" #name
#define PYGPU_CPU_HIDE(name) ".private_extern _" #name "\n"
#else
#define PYGPU_CPU_SYMBOL(name) #name
#define PYGPU_CPU_HIDE(name) ".hidden " #name "\n"
#endif
#define PYGPU_CPU_LABEL(name) ".globl " PYGPU_CPU_SYMBOL(name) "\n" PYGPU_CPU_HIDE(name) PYGPU_CPU_SYMBOL(name) ":\n"

// The switch saves only callee-saved registers: for the compiler it is an ordinary function call, after which other
// registers are undefined.
#if defined(__x86_64__) && !defined(PYGPU_CPU_UCONTEXT)
__asm__(".text\n.p2align 4\n" PYGPU_CPU_LABEL(pygpu_cpu_switch)
        "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
        "movq %rsp, (%rdi)\nmovq %rsi, %rsp\n"
        "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\npopq %rcx\njmp *%rcx\n"
        PYGPU_CPU_LABEL(pygpu_cpu_begin) "xorl %ebp, %ebp\njmp " PYGPU_CPU_SYMBOL(pygpu_cpu_fiber_main) "\n");
static void *pygpu_cpu_fresh(char *top) {
    void **words = reinterpret_cast<void **>(top) - 8;
    memset(words, 0, 8 * sizeof *words);
    words[6] = reinterpret_cast<void *>(pygpu_cpu_begin);
    // After the switch returns, the stack pointer is at words[7], as if pygpu_cpu_begin had been called from address 0.
    // A debugger's backtrace therefore ends there.
    return words;
}
#elif defined(__aarch64__) && !defined(PYGPU_CPU_UCONTEXT)
__asm__(".text\n.p2align 4\n" PYGPU_CPU_LABEL(pygpu_cpu_switch)
        "sub sp, sp, #160\n"
        "stp x19, x20, [sp]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\nstp x25, x26, [sp, #48]\n"
        "stp x27, x28, [sp, #64]\nstp x29, x30, [sp, #80]\n"
        "stp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\n"
        "mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
        "ldp x19, x20, [sp]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\nldp x25, x26, [sp, #48]\n"
        "ldp x27, x28, [sp, #64]\nldp x29, x30, [sp, #80]\n"
        "ldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\nldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\n"
        "add sp, sp, #160\nret\n"
        PYGPU_CPU_LABEL(pygpu_cpu_begin) "mov x29, #0\nmov x30, #0\nb " PYGPU_CPU_SYMBOL(pygpu_cpu_fiber_main) "\n");
static void *pygpu_cpu_fresh(char *top) {
    void **words = reinterpret_cast<void **>(top) - 20;
    memset(words, 0, 20 * sizeof *words);
    words[11] = reinterpret_cast<void *>(pygpu_cpu_begin);
    return words;
}
#else
#include <ucontext.h>
// Slow implementation of the switch between fibers, for processors without a fast one. The context of a fiber is stored
// at the top of the fiber's stack.
extern "C" void pygpu_cpu_switch(void **save, void *to) {
    ucontext_t here;
    *save = &here;
    swapcontext(&here, static_cast<ucontext_t *>(to));
}
extern "C" void pygpu_cpu_begin(void) { pygpu_cpu_fiber_main(); }
static void *pygpu_cpu_fresh(char *top, char *bottom) {
    ucontext_t *context = reinterpret_cast<ucontext_t *>(reinterpret_cast<uintptr_t>(top - sizeof(ucontext_t)) & ~uintptr_t(63));
    getcontext(context);
    context->uc_stack.ss_sp = bottom;
    context->uc_stack.ss_size = size_t(reinterpret_cast<char *>(context) - bottom);
    context->uc_link = nullptr;
    makecontext(context, pygpu_cpu_begin, 0);
    return context;
}
#define PYGPU_CPU_FRESH_NEEDS_BOTTOM 1
#endif

namespace {

struct Fiber {
    void *at;  // stack pointer at the last switch
    char *bottom, *top;
    Fiber *next_free;
    void *shadow;  // fake stack of the fiber, for the sanitizer
    pygpu_cpu_stacks *stacks;
    unsigned bit;  // bit of this stack in `stacks->guarded`
};

// Maps stack memory if the process provides no cache of stacks.
int own_stacks;
pygpu_cpu_stacks *map_stacks(unsigned long long bytes) {
    void *memory = mmap(nullptr, size_t(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    pygpu_cpu_stacks *stacks = static_cast<pygpu_cpu_stacks *>(malloc(sizeof(pygpu_cpu_stacks)));
    if (!stacks) return munmap(memory, size_t(bytes)), nullptr;
    *stacks = {static_cast<char *>(memory), bytes, 0, __atomic_fetch_add(&own_stacks, 1, __ATOMIC_RELAXED) < 256};
    return stacks;
}
void unmap_stacks(pygpu_cpu_stacks *stacks) {
    munmap(stacks->memory, size_t(stacks->bytes));
    free(stacks);
    __atomic_fetch_sub(&own_stacks, 1, __ATOMIC_RELAXED);
}

// Stacks, allocated on first use in groups of 32. An inaccessible guard page is below each stack, up to a limit for the
// process: each guard page splits a mapping in two, and the system limits the number of mappings.
class Stacks {
public:
    Stacks(size_t bytes, const pygpu_cpu_host *host) : page_(size_t(sysconf(_SC_PAGESIZE))), host_(host) {
        bytes_ = ((bytes ? bytes : 256 << 10) + page_ - 1) / page_ * page_ + page_;
    }
    ~Stacks() {
        while (blocks_) {
            Block *block = blocks_;
            blocks_ = block->next;
            host_ ? host_->give_stacks(block->stacks) : unmap_stacks(block->stacks);
            free(block);
        }
    }
    // Returns a fiber that starts at pygpu_cpu_fiber_main; null if memory is exhausted.
    Fiber *take() {
        if (!free_ && !grow()) return nullptr;
        Fiber *fiber = free_;
        free_ = fiber->next_free;
        if (!fiber->at) prepare(*fiber);
        return fiber;
    }
    void give(Fiber *fiber) {
        fiber->next_free = free_;
        free_ = fiber;
    }
    // Marks all fibers as unused, so that the next thread block can use their stacks.
    void reset() {
        free_ = nullptr;
        for (Block *block = blocks_; block; block = block->next)
            for (Fiber &fiber : block->fibers) fiber.at = nullptr, give(&fiber);
    }

private:
    enum { PER_BLOCK = 32 };
    struct Block {
        Block *next;
        pygpu_cpu_stacks *stacks;
        Fiber fibers[PER_BLOCK];
    };

    bool grow() {
        Block *block = static_cast<Block *>(calloc(1, sizeof(Block)));
        if (!block) return false;
        block->stacks = (host_ ? host_->take_stacks : map_stacks)(bytes_ * PER_BLOCK);
        if (!block->stacks) return free(block), false;
        block->next = blocks_;
        blocks_count_++;
        blocks_ = block;
        for (int i = PER_BLOCK - 1; i >= 0; i--) {
            Fiber &fiber = block->fibers[i];
            fiber.stacks = block->stacks;
            fiber.bit = 1u << i;
            fiber.bottom = block->stacks->memory + bytes_ * size_t(i) + page_;
            // The top of each stack has a different offset within its page. With equal offsets, the tops of all stacks
            // would compete for the same few cache lines.
            fiber.top = fiber.bottom - page_ + bytes_ - size_t(blocks_count_ * PER_BLOCK + i) * 320 % 4096 / 64 * 64;
            give(&fiber);
        }
        return true;
    }
    // Prepares an unused stack: protects its guard page and writes the initial frame, the first access to the memory.
    void prepare(Fiber &fiber) {
        pygpu_cpu_stacks &stacks = *fiber.stacks;
        bool is_guarded = stacks.guarded & fiber.bit;
        if (!is_guarded && stacks.may_guard && !mprotect(fiber.bottom - page_, page_, PROT_NONE)) stacks.guarded |= fiber.bit;
#ifdef PYGPU_CPU_ASAN
        __asan_unpoison_memory_region(fiber.bottom, size_t(fiber.top - fiber.bottom));
#endif
#ifdef PYGPU_CPU_FRESH_NEEDS_BOTTOM
        fiber.at = pygpu_cpu_fresh(fiber.top, fiber.bottom);
#else
        fiber.at = pygpu_cpu_fresh(fiber.top);
#endif
        fiber.shadow = nullptr;
    }

    size_t page_, bytes_;
    const pygpu_cpu_host *host_;
    int blocks_count_ = 0;
    Block *blocks_ = nullptr;
    Fiber *free_ = nullptr;
};

}

#endif
