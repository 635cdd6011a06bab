// Element access for arrays of any layout. This header includes no other header, so that every run-time compiler
// accepts it unchanged.
#ifndef PYGPU_ACCESS_H
#define PYGPU_ACCESS_H

namespace pygpu {

// Divides numbers below 2^31 by a multiplication and a shift, because an integer division costs as much as moving an
// element.
struct divisor {
    unsigned length, factor, shift;

    __device__ unsigned quotient(unsigned number) const {
        return ((unsigned)((unsigned long long)number * factor >> 32) + number) >> shift;
    }
};

// Lengths of N axes, for arrays with fewer than 2^31 elements. The length of the outermost axis is not stored: after
// the divisions by all other lengths, the remaining quotient is the index along the outermost axis.
template <int N> struct lengths {
    typedef unsigned number;
    divisor inner[N - 1];

    // Returns the index along an axis. The call for the innermost axis must come first. Each call replaces `rest` by
    // the linear index over the remaining outer axes.
    __device__ int index(number &rest, int axis) const {
        if (axis == 0) return (int)rest;
        unsigned outer = inner[axis - 1].quotient(rest);
        int found = (int)(rest - outer * inner[axis - 1].length);
        rest = outer;
        return found;
    }

    // The length of an axis. The outermost axis has no stored length.
    __device__ unsigned length(int axis) const { return inner[axis - 1].length; }
};

template <> struct lengths<1> {
    typedef unsigned number;

    __device__ int index(number &rest, int) const { return (int)rest; }
};

// Lengths of N axes, for arrays with any number of elements.
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

// A loop nest: N axes, outermost first, shared by S arrays. Steps are strides in bytes.
template <class Lengths, class Step, int N, int S> struct walk_with : Lengths {
    typedef typename Lengths::number number;
    Step step[S][N];

    // Byte offset in an array of the element with linear index `at` in C order.
    __device__ long long offset(number at, int array) const {
        long long bytes = 0;
#pragma unroll
        for (int axis = N - 1; axis >= 0; axis--) bytes += (long long)this->index(at, axis) * step[array][axis];
        return bytes;
    }
};

// Loop nests of three widths: `walk` for fewer than 2^31 elements and strides below 2^31 bytes, `far_walk` for fewer
// than 2^31 elements and any strides, `wide_walk` for any number of elements and any strides.
template <int N, int S> using walk = walk_with<lengths<N>, int, N, S>;
template <int N, int S> using far_walk = walk_with<lengths<N>, long long, N, S>;
template <int N, int S> using wide_walk = walk_with<long_lengths<N>, long long, N, S>;

// Accessor for a non-contiguous array, which is array A of the loop nest: `x[i]` is element `i` in C order.
template <class T, class Walk, int A> struct strided {
    T *first;
    Walk walk;

    __device__ T &operator[](size_t at) const {
        return *(T *)((char *)first + walk.offset((typename Walk::number)at, A));
    }
};

// Accessor for an array with a single element: every index returns this element.
template <class T> struct repeated {
    T *first;

    __device__ T &operator[](size_t) const { return *first; }
};

// Aligned raw bytes for arrays in shared memory: CUDA rejects shared variables of a type with constructors.
struct alignas(16) bytes {
    unsigned char byte[16];
};

// Several elements that are loaded or stored by one instruction.
template <class T, int V> struct alignas(sizeof(T) * V < 16 ? sizeof(T) * V : 16) pack {
    T item[V];
};

// Loads a pack of elements from an unaligned address: loads aligned words and combines them by shifts. Reads up to
// three extra bytes at either end.
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

// Rotates a pack of elements: moves them BY positions to the front, and the first BY elements to the back.
template <int BY, class T, int V> __device__ void rotate(pack<T, V> &held) {
    const pack<T, V> before = held;
#pragma unroll
    for (int at = 0; at < V; at++) held.item[at] = before.item[(at + BY) % V];
}

// Clips an index: returns the valid index of an array of `n` elements that is nearest to `at`.
__device__ inline long long nearest(long long at, size_t n) {
    return at < 0 ? 0 : at < (long long)n ? at : (long long)n - 1;
}

// Accessor that returns the same loaded element for every index. A kernel uses this accessor in place of an array's
// accessor for an element that it has already loaded.
template <class T> struct element {
    T *item;

    __device__ T &operator[](size_t) const { return *item; }
};

}

#endif
