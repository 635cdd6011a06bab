// Atomic functions, for the same types as on a GPU: code that compiles here should also compile there.
#ifndef PYGPU_CPU_ATOMICS_H
#define PYGPU_CPU_ATOMICS_H

namespace pygpu_cpu {

// Atomically replaces a value by operation(old value), and returns the old value.
template <class T, class Operation> T atomic_update(T *address, Operation operation) {
    T before, after;
    __atomic_load(address, &before, __ATOMIC_RELAXED);
    do {
        after = operation(before);
        if (!__builtin_memcmp(&after, &before, sizeof(T))) {
            // A thread whose updates repeatedly change nothing probably waits for another thread, so other threads must
            // run.
            unchanged();
        }
    } while (!__atomic_compare_exchange(address, &before, &after, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return before;
}

template <class T> T atomic_compare_and_set(T *address, T compare, T value) {
    if (!__atomic_compare_exchange(address, &compare, &value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) unchanged();
    return compare;
}

}

#define PYGPU_CPU_ATOMIC(name, expression, ...)                                                                    \
    template <class T> T name(T *address, pygpu_cpu::given<T> value) {                                             \
        static_assert(pygpu_cpu::one_of<T, __VA_ARGS__>, #name " takes " #__VA_ARGS__);                            \
        return pygpu_cpu::atomic_update(address, [&](T before) -> T { return expression; });                       \
    }                                                                                                              \
    template <class T> T name##_block(T *address, pygpu_cpu::given<T> value) { return name(address, value); }      \
    template <class T> T name##_system(T *address, pygpu_cpu::given<T> value) { return name(address, value); }

PYGPU_CPU_ATOMIC(atomicAdd, T(before + value), int, unsigned, unsigned long long, float, double)
PYGPU_CPU_ATOMIC(atomicSub, T(before - value), int, unsigned)
PYGPU_CPU_ATOMIC(atomicExch, value, int, unsigned, unsigned long long, float)
PYGPU_CPU_ATOMIC(atomicMin, value < before ? value : before, int, unsigned, unsigned long long, long long)
PYGPU_CPU_ATOMIC(atomicMax, before < value ? value : before, int, unsigned, unsigned long long, long long)
PYGPU_CPU_ATOMIC(atomicAnd, before & value, int, unsigned, unsigned long long)
PYGPU_CPU_ATOMIC(atomicOr, before | value, int, unsigned, unsigned long long)
PYGPU_CPU_ATOMIC(atomicXor, before ^ value, int, unsigned, unsigned long long)
PYGPU_CPU_ATOMIC(atomicInc, before >= value ? 0u : before + 1, unsigned)
PYGPU_CPU_ATOMIC(atomicDec, before == 0 || before > value ? value : before - 1, unsigned)
#undef PYGPU_CPU_ATOMIC

template <class T> T atomicCAS(T *address, pygpu_cpu::given<T> compare, pygpu_cpu::given<T> value) {
    static_assert(pygpu_cpu::one_of<T, int, unsigned, unsigned long long, unsigned short>,
                  "atomicCAS takes int, unsigned, unsigned long long, unsigned short");
    return pygpu_cpu::atomic_compare_and_set(address, compare, value);
}
template <class T> T atomicCAS_block(T *address, pygpu_cpu::given<T> compare, pygpu_cpu::given<T> value) {
    return atomicCAS(address, compare, value);
}
template <class T> T atomicCAS_system(T *address, pygpu_cpu::given<T> compare, pygpu_cpu::given<T> value) {
    return atomicCAS(address, compare, value);
}

// The condition of a conditional graph node, which kernels set. The condition's handle is the address of its value.
typedef unsigned long long cudaGraphConditionalHandle;
extern "C" inline void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned number) {
    __atomic_store_n(reinterpret_cast<unsigned *>(handle), number, __ATOMIC_RELAXED);
}

#endif
