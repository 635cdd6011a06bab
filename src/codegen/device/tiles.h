// How a kernel reads arrays that lie across those it writes: a block has a tile of two axes, reads what lies across along the other
// axis, and turns it in shared memory. It needs access.h.
#ifndef PYGPU_TILES_H
#define PYGPU_TILES_H

namespace pygpu {

// A walk of N axes over tiles of X elements along the last axis and Y along the one before it, and the lengths of these in elements.
template <class Walk, int N, int X, int Y> struct tiles {
    typedef typename Walk::number number;
    enum { AXES = N, LONG_X = X, LONG_Y = Y };
    Walk walk;
    long long length_x, length_y;
};

// One of them, as a thread sees it: it has one place along x, and every LINES-th along y; of what lies across the other way round.
template <class Tiles> struct tile {
    enum {
        THREADS = 256, N = Tiles::AXES, X = Tiles::LONG_X, Y = Tiles::LONG_Y,
        EACH = X * Y / THREADS, LINES = THREADS / X, COLUMNS = THREADS / Y
    };
    const Tiles &all;
    long long first[N];
    int long_x, long_y; // less than X and Y at the ends

    __device__ tile(const Tiles &all, typename Tiles::number number) : all(all) {
#pragma unroll
        for (int axis = N - 1; axis >= 0; axis--) first[axis] = all.walk.index(number, axis);
        first[N - 1] *= X;
        first[N - 2] *= Y;
        const long long left_x = all.length_x - first[N - 1], left_y = all.length_y - first[N - 2];
        long_x = left_x < X ? (int)left_x : X;
        long_y = left_y < Y ? (int)left_y : Y;
    }

    __device__ bool is_whole() const { return long_x == X && long_y == Y; }

    // Whether the thread has so many elements, and one more.
    __device__ bool has(int turn) const {
        return (int)threadIdx.x % X < long_x && (int)threadIdx.x / X + turn * LINES < long_y;
    }

    __device__ bool has_across(int turn) const {
        return (int)threadIdx.x % Y < long_y && (int)threadIdx.x / Y + turn * COLUMNS < long_x;
    }

    // Bytes from the start of array A to what is so far into the tile.
    template <int A> __device__ long long offset(int x, int y) const {
        long long bytes = (long long)x * all.walk.step[A][N - 1] + (long long)y * all.walk.step[A][N - 2];
#pragma unroll
        for (int axis = 0; axis < N; axis++) bytes += first[axis] * all.walk.step[A][axis];
        return bytes;
    }

    template <int A, class T, class Pack> __device__ void read(T *array, Pack &held) const {
        const char *from = (const char *)array + offset<A>(threadIdx.x % X, threadIdx.x / X);
        const long long step = (long long)all.walk.step[A][N - 2] * LINES;
        if (is_whole()) {
#pragma unroll
            for (int turn = 0; turn < EACH; turn++) held.item[turn] = *(const T *)(from + turn * step);
        } else {
#pragma unroll
            for (int turn = 0; turn < EACH; turn++)
                if (has(turn)) held.item[turn] = *(const T *)(from + turn * step);
        }
    }

    template <int A, class T, class Pack> __device__ void read_across(T *array, Pack &held) const {
        const char *from = (const char *)array + offset<A>(threadIdx.x / Y, threadIdx.x % Y);
        const long long step = (long long)all.walk.step[A][N - 1] * COLUMNS;
        if (is_whole()) {
#pragma unroll
            for (int turn = 0; turn < EACH; turn++) held.item[turn] = *(const T *)(from + turn * step);
        } else {
#pragma unroll
            for (int turn = 0; turn < EACH; turn++)
                if (has_across(turn)) held.item[turn] = *(const T *)(from + turn * step);
        }
    }

    template <int A, class T, class Pack> __device__ void write(T *array, const Pack &held) const {
        char *to = (char *)array + offset<A>(threadIdx.x % X, threadIdx.x / X);
        const long long step = (long long)all.walk.step[A][N - 2] * LINES;
#pragma unroll
        for (int turn = 0; turn < EACH; turn++)
            if (has(turn)) *(T *)(to + turn * step) = held.item[turn];
    }

    // Lines are so far apart that neighbours along y lie in different banks.
    template <class T> static __device__ T *line(T *shared, int y) {
        return shared + y * (X + (sizeof(T) < 4 ? 4 / (int)sizeof(T) : 1));
    }

    // Puts what was read across where `turned` finds it, once the block has waited. Beyond the ends it is anything.
    template <class T, class Pack> __device__ void turn(const Pack &held, T *shared) const {
        T *to = line(shared, threadIdx.x % Y) + threadIdx.x / Y;
#pragma unroll
        for (int turn = 0; turn < EACH; turn++) to[turn * COLUMNS] = held.item[turn];
    }

    template <class T> __device__ T *turned(T *shared, int turn) const {
        return line(shared, threadIdx.x / X + turn * LINES) + threadIdx.x % X;
    }
};

}

#endif
