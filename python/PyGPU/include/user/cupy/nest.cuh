// The loop nest of a reduction: offsets of elements for an index over the kept axes and one over the reduced axes.
#ifndef PYGPU_CUPY_NEST_CUH
#define PYGPU_CUPY_NEST_CUH

namespace pygpu_cupy {

// Offsets in bytes of `arrays` arrays along `axes` axes, of which index 0 is the outermost.
template <int axes, int arrays> struct nest {
    ptrdiff_t lengths[axes], strides[arrays][axes];

    template <typename number> __device__ ptrdiff_t offset(number index, int array) const {
        ptrdiff_t sum = 0;
        for (int axis = axes - 1; axis > 0; axis--) {
            number length = (number)lengths[axis], whole = index / length;
            sum += (ptrdiff_t)(index - whole * length) * strides[array][axis];
            index = whole;
        }
        return sum + (ptrdiff_t)index * strides[array][0];
    }
};

// Room for values of any type: 16 bytes with the alignment that complex numbers of double precision need.
struct alignas(16) room { double parts[2]; };

struct count { ptrdiff_t number; __device__ ptrdiff_t size() const { return number; } };

}

#endif
