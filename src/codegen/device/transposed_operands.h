// Transposed operands: a block processes a tile of two axes, loads a transposed operand along its own contiguous axis,
// and transposes it in shared memory. Requires array_access.h.
#ifndef PYGPU_TILES_H
#define PYGPU_TILES_H

namespace pygpu {

// A loop nest of N axes whose last two axes are divided into tiles: X elements along the last axis, Y elements along
// the axis before the last. Also stores the lengths of these axes in elements.
template <class Walk, int N, int X, int Y> struct tiles {
    typedef typename Walk::number number;
    enum { AXES = N, LONG_X = X, LONG_Y = Y };
    Walk walk;
    long long length_x, length_y;
};

// A thread's part of a tile: one column along x and every LINES-th row along y. For a transposed operand x and y are
// exchanged.
template <class Tiles> struct tile {
    enum {
        THREADS = 256, N = Tiles::AXES, X = Tiles::LONG_X, Y = Tiles::LONG_Y,
        EACH = X * Y / THREADS, LINES = THREADS / X, COLUMNS = THREADS / Y
    };
    const Tiles &all;
    long long first[N];
    int long_x, long_y; // lengths of the tile; smaller than X and Y in the last tile of an axis

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

    // Returns whether the thread's element in iteration `turn` is inside the array.
    __device__ bool has(int turn) const {
        return (int)threadIdx.x % X < long_x && (int)threadIdx.x / X + turn * LINES < long_y;
    }

    __device__ bool has_across(int turn) const {
        return (int)threadIdx.x % Y < long_y && (int)threadIdx.x / Y + turn * COLUMNS < long_x;
    }

    // Byte offset in array A of position (x, y) of the tile.
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

    // Rows of the tile in shared memory are padded, so that elements that are adjacent along y are in different banks.
    template <class T> static __device__ T *line(T *shared, int y) {
        return shared + y * (X + (sizeof(T) < 4 ? 4 / (int)sizeof(T) : 1));
    }

    // Stores a transposed operand's elements to shared memory, from which `turned` reads after a barrier. Elements
    // beyond the tile's end are undefined.
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
