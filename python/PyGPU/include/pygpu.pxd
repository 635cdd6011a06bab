# Declarations of pygpu/array_view.h for Cython. Use them by `cimport pygpu`, with PyGPU.get_include() among the include folders
# of Cython and of the C compiler.
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t


cdef extern from "pygpu/array_view.h" nogil:
    ctypedef struct pygpu_array_view:
        void *data
        const int64_t *shape
        const int64_t *strides
        int32_t ndim
        int32_t dtype
        int32_t device_type
        int32_t device_id

    int PYGPU_ANY_DTYPE, PYGPU_ANY_NDIM, PYGPU_READ, PYGPU_WRITE, PYGPU_C_CONTIGUOUS, PYGPU_F_CONTIGUOUS, PYGPU_ON_HOST, PYGPU_ON_GPU
    int PYGPU_INT8, PYGPU_INT16, PYGPU_INT32, PYGPU_INT64, PYGPU_UINT8, PYGPU_UINT16, PYGPU_UINT32, PYGPU_UINT64, PYGPU_BOOL
    int PYGPU_FLOAT16, PYGPU_BFLOAT16, PYGPU_FLOAT32, PYGPU_FLOAT64, PYGPU_COMPLEX64, PYGPU_COMPLEX128

    int64_t pygpu_size(const pygpu_array_view *view)


cdef extern from "pygpu/array_view.h":
    int pygpu_view(object object, const char *name, int dtype, int ndim, int flags, pygpu_array_view *view) except -1
    int pygpu_current_stream(const pygpu_array_view *view, void **stream) except -1
