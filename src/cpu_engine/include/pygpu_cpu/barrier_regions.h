// Support for kernels in which one call runs a whole block: the code between two barriers is a loop over the block's
// threads. The engine generates such kernels (src/cpu_engine/thread_loops).
#ifndef PYGPU_CPU_REGIONS_H
#define PYGPU_CPU_REGIONS_H

namespace pygpu_cpu {

// The threads of the block, in the order in which they run.
struct threads {
    unsigned rows = 0, count = 0;
    const pygpu_cpu_row *first = pygpu_cpu_rows(&rows, &count);
    uint3 *index = &pygpu_cpu_thread_index;

    template <class Body> __attribute__((always_inline)) void each(Body body) const {
        const pygpu_cpu_row *const end = first + rows;
        for (const pygpu_cpu_row *at = first; at < end; at++) {
            const pygpu_cpu_row row = *at;
            *index = {row.x, row.y, row.z};
            // The thread's index is written to memory before the thread's code runs, because functions that this code
            // calls, and error messages, read the index from there.
            volatile unsigned *const x = &index->x;
            for (unsigned turn = 0; turn < row.length; turn++) {
                *x = row.x + turn;
                body(uint3{row.x + turn, row.y, row.z}, row.thread + turn);
            }
        }
    }
};

// Storage for a variable that is used after a barrier: one copy for each thread of the block.
template <class T> struct room {
    void *memory;
    explicit room(const threads &all) : memory(pygpu_cpu_room(sizeof(T) * all.count)) {}
    ~room() { pygpu_cpu_room_back(memory); }
    room(const room &) = delete;
    T &operator[](unsigned thread) const { return static_cast<T *>(memory)[thread]; }
};

template <class T> T &keep(T &place, T &value) {
    static_assert(__is_trivially_copyable(T), "kept byte by byte");
    __builtin_memcpy((void *)&place, (const void *)&value, sizeof(T));
    return place;
}

}

#endif
