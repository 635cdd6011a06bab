// How kernels reach the elements of arrays of any layout. It includes nothing: every run-time compiler takes it
// as it is.
#ifndef PYGPU_ACCESS_H
#define PYGPU_ACCESS_H

namespace pygpu {

// Divides numbers below 2^31 by a product and a shift: an integer division costs as much as an element that is moved.
struct divisor {
    unsigned length, factor, shift;

    __device__ unsigned quotient(unsigned number) const {
        return ((unsigned)((unsigned long long)number * factor >> 32) + number) >> shift;
    }
};

// Lengths of N axes, for fewer than 2^31 elements. That of the outermost one is not needed: it has what is left.
template <int N> struct lengths {
    typedef unsigned number;
    divisor inner[N - 1];

    // Where a number is along an axis. Asked of the innermost axis first; the number becomes that for the axes outside.
    __device__ int index(number &rest, int axis) const {
        if (axis == 0) return (int)rest;
        unsigned outer = inner[axis - 1].quotient(rest);
        int found = (int)(rest - outer * inner[axis - 1].length);
        rest = outer;
        return found;
    }

    // The length of an axis but the outermost.
    __device__ unsigned length(int axis) const { return inner[axis - 1].length; }
};

template <> struct lengths<1> {
    typedef unsigned number;

    __device__ int index(number &rest, int) const { return (int)rest; }
};

// The same for any number of elements.
template <int N> struct long_lengths {
    typedef unsigned long long number;
    unsigned long long inner[N - 1];

    __device__ long long index(number &rest, int axis) const {
        if (axis == 0) return (long long)rest;
        unsigned long long outer = rest / inner[axis - 1];
        long long found = (long long)(rest - outer * inner[axis - 1]);
        rest = outer;
        return found;
    }

    __device__ unsigned long long length(int axis) const { return inner[axis - 1]; }
};

template <> struct long_lengths<1> {
    typedef unsigned long long number;

    __device__ long long index(number &rest, int) const { return (long long)rest; }
};

// N axes, outermost first, that S arrays share. Steps are the bytes from one element to the next.
template <class Lengths, class Step, int N, int S> struct walk_with : Lengths {
    typedef typename Lengths::number number;
    Step step[S][N];

    // Bytes from the first element of an array to one by its number in C order.
    __device__ long long offset(number at, int array) const {
        long long bytes = 0;
#pragma unroll
        for (int axis = N - 1; axis >= 0; axis--) bytes += (long long)this->index(at, axis) * step[array][axis];
        return bytes;
    }
};

// Below 2^31 elements, and 2^31 bytes from one to the next; at any distance; for anything.
template <int N, int S> using walk = walk_with<lengths<N>, int, N, S>;
template <int N, int S> using far_walk = walk_with<lengths<N>, long long, N, S>;
template <int N, int S> using wide_walk = walk_with<long_lengths<N>, long long, N, S>;

// An array whose elements do not lie side by side: `x[i]` is element `i` in C order. It is number A of the walk.
template <class T, class Walk, int A> struct strided {
    T *first;
    Walk walk;

    __device__ T &operator[](size_t at) const {
        return *(T *)((char *)first + walk.offset((typename Walk::number)at, A));
    }
};

// One element in the place of many.
template <class T> struct repeated {
    T *first;

    __device__ T &operator[](size_t) const { return *first; }
};

// Raw bytes, aligned for every type: shared memory of a type with constructors is refused.
struct alignas(16) bytes {
    unsigned char byte[16];
};

// Several elements that are read or written at once.
template <class T, int V> struct alignas(sizeof(T) * V < 16 ? sizeof(T) * V : 16) pack {
    T item[V];
};

// A pack from anywhere: aligned words, shifted together. It reads up to three bytes more at either end.
template <class Pack, class T> __device__ Pack shifted(const T *from) {
    enum { WORDS = sizeof(Pack) / 4 };
    const unsigned *words = (const unsigned *)((size_t)from & ~(size_t)3);
    const int bits = (int)((size_t)from & 3) * 8;
    unsigned word[WORDS + 1];
#pragma unroll
    for (int at = 0; at <= WORDS; at++) word[at] = words[at];
    Pack made;
#pragma unroll
    for (int at = 0; at < WORDS; at++)
        ((unsigned *)&made)[at] = (unsigned)(((unsigned long long)word[at + 1] << 32 | word[at]) >> bits);
    return made;
}

// The elements of a pack moved so many places to the front, and the first ones to the back.
template <int BY, class T, int V> __device__ void rotate(pack<T, V> &held) {
    const pack<T, V> before = held;
#pragma unroll
    for (int at = 0; at < V; at++) held.item[at] = before.item[(at + BY) % V];
}

// The element of `n` that is nearest to a place.
__device__ inline long long nearest(long long at, size_t n) {
    return at < 0 ? 0 : at < (long long)n ? at : (long long)n - 1;
}

// One of a pack's elements in the place of the array.
template <class T> struct element {
    T *item;

    __device__ T &operator[](size_t) const { return *item; }
};

}

#endif
