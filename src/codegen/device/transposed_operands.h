// Transposed operands: a block processes a tile of two axes, loads a transposed operand along its own contiguous axis,
// and transposes it in shared memory. Requires array_access.h.
#ifndef PYGPU_TILES_H
#define PYGPU_TILES_H

namespace pygpu {

// A loop nest of N axes whose last two axes are divided into tiles: X elements along the last axis, Y elements along
// the axis before the last. Also stores the lengths of these axes in elements. A thread processes groups of V elements
// that are adjacent along x.
template <class Walk, int N, int X, int Y, int V> struct tiles {
    typedef typename Walk::number number;
    enum { AXES = N, LONG_X = X, LONG_Y = Y, GROUP = V };
    Walk walk;
    long long length_x, length_y;
};

// A thread's part of a tile: a group of V adjacent columns along x, and every LINES-th row along y. It loads transposed
// operands by squares of V x V elements, each of which it transposes in registers: V adjacent elements along y of V
// adjacent columns. Contiguous and aligned groups are loaded and stored as packs.
template <class Tiles> struct tile {
    enum {
        THREADS = 256, N = Tiles::AXES, X = Tiles::LONG_X, Y = Tiles::LONG_Y, V = Tiles::GROUP,
        EACH = X * Y / THREADS, ALONG_X = X / V, ALONG_Y = Y / V, LINES = THREADS / ALONG_X,
        COLUMNS = THREADS / ALONG_Y * V
    };
    // The elements that are loaded or stored at once. Code for groups of one element is compiled and not executed; the
    // alignment of a pack must be valid for elements of any size.
    template <class T> using group_of = pack<T, V == 1 ? 16 : V>;
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

    // Position of the thread's element `turn` in the tile.
    static __device__ int x(int turn) { return (int)threadIdx.x % ALONG_X * V + turn % V; }
    static __device__ int y(int turn) { return (int)threadIdx.x / ALONG_X + turn / V * LINES; }

    // The same for a transposed operand, whose elements are numbered by square, column and row.
    static __device__ int x_across(int turn) {
        return (int)threadIdx.x / ALONG_Y * V + turn / (V * V) * COLUMNS + turn / V % V;
    }
    static __device__ int y_across(int turn) { return (int)threadIdx.x % ALONG_Y * V + turn % V; }

    // Returns whether the thread's element in iteration `turn` is inside the array.
    __device__ bool has(int turn) const { return x(turn) < long_x && y(turn) < long_y; }

    __device__ bool has_across(int turn) const { return x_across(turn) < long_x && y_across(turn) < long_y; }

    // Byte offset in array A of position (x, y) of the tile.
    template <int A> __device__ long long offset(int x, int y) const {
        long long bytes = (long long)x * all.walk.step[A][N - 1] + (long long)y * all.walk.step[A][N - 2];
#pragma unroll
        for (int axis = 0; axis < N; axis++) bytes += first[axis] * all.walk.step[A][axis];
        return bytes;
    }

    // Returns whether all groups of the tile are inside the array, and are packs: contiguous along one axis, and aligned
    // at every position of the other axis.
    template <class T> __device__ bool are_packs(const char *of_thread, long long along, long long across) const {
        const unsigned long long bits = (unsigned long long)of_thread | (unsigned long long)across;
        return is_whole() && (V == 1 || (along == (long long)sizeof(T) && bits % (V * sizeof(T)) == 0));
    }

    template <int A, class T, class Pack> __device__ void read(T *array, Pack &held) const {
        const long long along = all.walk.step[A][N - 1], across = all.walk.step[A][N - 2];
        const char *from = (const char *)array + offset<A>(x(0), y(0));
        if (are_packs<T>(from, along, across)) {
#pragma unroll
            for (int turn = 0; turn < EACH; turn += V) load(held, turn, (T *)(from + turn / V * LINES * across));
        } else {
#pragma unroll
            for (int turn = 0; turn < EACH; turn++)
                if (has(turn)) held.item[turn] = *(const T *)(from + turn % V * along + turn / V * LINES * across);
        }
    }

    template <int A, class T, class Pack> __device__ void read_across(T *array, Pack &held) const {
        const long long along = all.walk.step[A][N - 2], across = all.walk.step[A][N - 1];
        const char *from = (const char *)array + offset<A>(x_across(0), y_across(0));
        if (are_packs<T>(from, along, across)) {
#pragma unroll
            for (int turn = 0; turn < EACH; turn += V)
                load(held, turn, (T *)(from + (x_across(turn) - x_across(0)) * across));
        } else {
#pragma unroll
            for (int turn = 0; turn < EACH; turn++)
                if (has_across(turn))
                    held.item[turn] = *(const T *)(from + turn % V * along + (x_across(turn) - x_across(0)) * across);
        }
    }

    template <int A, class T, class Pack> __device__ void write(T *array, const Pack &held) const {
        const long long along = all.walk.step[A][N - 1], across = all.walk.step[A][N - 2];
        char *to = (char *)array + offset<A>(x(0), y(0));
        if (V > 1 && are_packs<T>(to, along, across)) {
#pragma unroll
            for (int turn = 0; turn < EACH; turn += V) {
                group_of<T> group;
#pragma unroll
                for (int at = 0; at < V; at++) group.item[at] = held.item[turn + at];
                *(group_of<T> *)(to + turn / V * LINES * across) = group;
            }
        } else {
#pragma unroll
            for (int turn = 0; turn < EACH; turn++)
                if (has(turn)) *(T *)(to + turn % V * along + turn / V * LINES * across) = held.item[turn];
        }
    }

    // Loads V adjacent elements into a thread's pack, beginning at its element `turn`.
    template <class T, class Pack> static __device__ void load(Pack &held, int turn, const T *from) {
        if (V == 1) {
            held.item[turn] = *from; // a pack would require more alignment than the element has
        } else {
            const group_of<T> group = *(const group_of<T> *)from;
#pragma unroll
            for (int at = 0; at < V; at++) held.item[turn + at] = group.item[at];
        }
    }

    // Rows of the tile in shared memory are padded, so that elements that are adjacent along y are in different banks.
    template <class T> static __device__ T *line(T *shared, int y) {
        return shared + y * (X + (sizeof(T) < 4 ? 4 / (int)sizeof(T) : 1));
    }

    // Stores a transposed operand's elements to shared memory, from which `turned` or `fetch` reads after a barrier.
    // Elements beyond the tile's end are undefined.
    template <class T, class Pack> __device__ void turn(const Pack &held, T *shared) const {
        if (V == 1) {
#pragma unroll
            for (int turn = 0; turn < EACH; turn++) line(shared, y_across(turn))[x_across(turn)] = held.item[turn];
        } else {
#pragma unroll
            for (int square = 0; square < EACH; square += V * V) {
#pragma unroll
                for (int row = 0; row < V; row++) {
                    group_of<T> group;
#pragma unroll
                    for (int at = 0; at < V; at++) group.item[at] = held.item[square + at * V + row];
                    *(group_of<T> *)(line(shared, y_across(row)) + x_across(square)) = group;
                }
            }
        }
    }

    template <class T> __device__ T *turned(T *shared, int turn) const { return line(shared, y(turn)) + x(turn); }

    // Loads a transposed operand's elements from shared memory, as packs.
    template <class T, class Pack> __device__ void fetch(T *shared, Pack &held) const {
#pragma unroll
        for (int turn = 0; turn < EACH; turn += V) load(held, turn, turned(shared, turn));
    }
};

}

#endif
