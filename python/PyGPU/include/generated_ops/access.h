// How generated kernels reach the elements of arrays. It includes nothing: every run-time compiler takes it as it is.
#ifndef PYGPU_OPS_ACCESS_H
#define PYGPU_OPS_ACCESS_H

namespace pygpu {

// Lengths of axes, outermost first, with what turns a division by each into a multiplication. For fewer than 2^31 elements.
template <int N> struct lengths {
    unsigned length[N], magic[N], shift[N];

    __device__ unsigned divided(unsigned value, int axis) const {
        unsigned high = (unsigned)((unsigned long long)value * magic[axis] >> 32);
        return (high + value) >> shift[axis];
    }
    __device__ long long offset(size_t at, const long long *steps) const {
        unsigned rest = (unsigned)at;
        long long bytes = 0;
#pragma unroll
        for (int axis = N - 1; axis > 0; axis--) {
            unsigned next = divided(rest, axis);
            bytes += (long long)(rest - next * length[axis]) * steps[axis];
            rest = next;
        }
        return bytes + (long long)rest * steps[0];
    }
};

// The same for any number of elements.
template <int N> struct long_lengths {
    unsigned long long length[N];

    __device__ long long offset(size_t at, const long long *steps) const {
        unsigned long long rest = at;
        long long bytes = 0;
#pragma unroll
        for (int axis = N - 1; axis > 0; axis--) {
            unsigned long long next = rest / length[axis];
            bytes += (long long)(rest - next * length[axis]) * steps[axis];
            rest = next;
        }
        return bytes + (long long)rest * steps[0];
    }
};

// Bytes from one element to the next along each axis.
template <int N> struct steps {
    long long step[N];
};

// An array whose elements do not lie side by side: `x[i]` is element `i` in C order.
template <class T, class Lengths, int N> struct strided {
    T *first;
    Lengths lengths;
    steps<N> by;

    __device__ T &operator[](size_t at) const { return *(T *)((char *)first + lengths.offset(at, by.step)); }
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

// One of a pack's elements in the place of the array.
template <class T> struct element {
    T *item;

    __device__ T &operator[](size_t) const { return *item; }
};

}

#endif
