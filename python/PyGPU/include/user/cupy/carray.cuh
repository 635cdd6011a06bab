// Arrays with a shape in device code, under CuPy's names: CArray, CIndexer and CUPY_FOR.
//
// This header includes no other header, so that NVRTC, hiprtc and the CPU engine accept it without changes.
#ifndef PYGPU_CUPY_CARRAY_CUH
#define PYGPU_CUPY_CARRAY_CUH

#if defined(__HIPCC_RTC__)
typedef __PTRDIFF_TYPE__ ptrdiff_t; // NVRTC defines this type itself.
#endif

#ifndef M_PI
#define M_PI 3.1415926535897932384626433832795
#endif

#define CUPY_FOR(i, n)                                                                                                 \
    for (ptrdiff_t i = (ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x; i < (n);                                       \
         i += (ptrdiff_t)blockDim.x * gridDim.x)

namespace pygpu_cupy {

template <bool is_short> struct index_type { typedef ptrdiff_t type; };
template <> struct index_type<true> { typedef int type; };

// A kernel parameter: number of elements, lengths of the axes and strides in bytes.
template <int ndim> struct extent { ptrdiff_t size, shape[ndim], strides[ndim]; };
template <> struct extent<0> { ptrdiff_t size; };

}

// An array in C order of its indices, for any strides. `index_32_bits`: all indices and byte offsets fit into an int.
template <typename T, int _ndim, bool _c_contiguous = false, bool _index_32_bits = false> class CArray {
public:
    static const int ndim = _ndim;
    static const bool c_contiguous = _c_contiguous;
    typedef typename pygpu_cupy::index_type<_index_32_bits>::type index_t;

    __device__ CArray(const T *data, const pygpu_cupy::extent<_ndim> &extent) : data_((T *)data), extent_(extent) {}

    __device__ ptrdiff_t size() const { return extent_.size; }
    __device__ const ptrdiff_t *shape() const { return extent_.shape; }
    __device__ const ptrdiff_t *strides() const { return extent_.strides; }

    __device__ T &operator[](ptrdiff_t i) { return *address(i); }
    __device__ const T &operator[](ptrdiff_t i) const { return *address(i); }
    template <typename Int> __device__ T &operator[](const Int (&index)[_ndim]) { return *address_at(index); }
    template <typename Int> __device__ const T &operator[](const Int (&index)[_ndim]) const { return *address_at(index); }

private:
    T *data_;
    pygpu_cupy::extent<_ndim> extent_;

    __device__ T *address(ptrdiff_t at) const {
        if (_c_contiguous) return data_ + at;
        index_t rest = (index_t)at, offset = 0;
        for (int axis = _ndim - 1; axis > 0; axis--) {
            index_t length = (index_t)extent_.shape[axis], whole = rest / length;
            offset += (rest - whole * length) * (index_t)extent_.strides[axis];
            rest = whole;
        }
        return (T *)((char *)data_ + (offset + rest * (index_t)extent_.strides[0]));
    }

    template <typename Int> __device__ T *address_at(const Int (&index)[_ndim]) const {
        index_t offset = 0;
        for (int axis = 0; axis < _ndim; axis++) offset += (index_t)index[axis] * (index_t)extent_.strides[axis];
        return (T *)((char *)data_ + offset);
    }
};

template <typename T, bool _c_contiguous, bool _index_32_bits> class CArray<T, 0, _c_contiguous, _index_32_bits> {
public:
    static const int ndim = 0;
    static const bool c_contiguous = true;
    typedef typename pygpu_cupy::index_type<_index_32_bits>::type index_t;

    __device__ CArray(const T *data, const pygpu_cupy::extent<0> &) : data_((T *)data) {}

    __device__ ptrdiff_t size() const { return 1; }
    __device__ const ptrdiff_t *shape() const { return nullptr; }
    __device__ const ptrdiff_t *strides() const { return nullptr; }
    template <typename Index> __device__ T &operator[](const Index &) { return *data_; }
    template <typename Index> __device__ const T &operator[](const Index &) const { return *data_; }

private:
    T *data_;
};

// The index of an element along each axis.
template <int _ndim, bool _index_32_bits = false> class CIndexer {
public:
    static const int ndim = _ndim;
    typedef ptrdiff_t index_t[_ndim];

    __device__ explicit CIndexer(const pygpu_cupy::extent<_ndim> &extent) : extent_(extent) {}

    __device__ ptrdiff_t size() const { return extent_.size; }
    __device__ const ptrdiff_t *shape() const { return extent_.shape; }
    __device__ const index_t &get() const { return index_; }
    __device__ void set(ptrdiff_t i) {
        typedef typename pygpu_cupy::index_type<_index_32_bits>::type number;
        number rest = (number)i;
        for (int axis = _ndim - 1; axis > 0; axis--) {
            number length = (number)extent_.shape[axis], whole = rest / length;
            index_[axis] = rest - whole * length;
            rest = whole;
        }
        index_[0] = rest;
    }

private:
    pygpu_cupy::extent<_ndim> extent_;
    index_t index_;
};

template <bool _index_32_bits> class CIndexer<0, _index_32_bits> {
public:
    static const int ndim = 0;

    __device__ explicit CIndexer(const pygpu_cupy::extent<0> &) {}

    __device__ ptrdiff_t size() const { return 1; }
    __device__ void set(ptrdiff_t) {}
    __device__ const ptrdiff_t *get() const { return nullptr; }
};

#endif
