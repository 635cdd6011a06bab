/* View of a Python array in C and C++: pointer, shape, strides, dtype, device, stream. Creating a view copies nothing.
 * The header needs no library to link.
 *
 *     #include <Python.h>
 *     #include <pygpu/array_view.h>
 *
 *     pygpu_array_view x;                                             // C
 *     if (pygpu_view(object, "x", PYGPU_FLOAT32, 2, PYGPU_WRITE, &x) < 0) return NULL;
 *
 *     auto x = pygpu::array_view<float, 2>::from(object, "x");        // C++: const float for read-only access
 *
 * `object` is a GPUArray or another array whose type has DLPack's C exchange table, such as PyTorch's. A mismatch raises
 * a Python exception that names the parameter and the argument. A view is a borrowed reference, valid while the
 * caller keeps the object alive. Enqueue work on the array on the stream that `pygpu_current_stream` returns: PyGPU tracks
 * the work on this stream, and makes this stream wait for earlier work on the array on other streams. The array may be
 * released while this work runs. If the current stream belongs to another library, call `record_stream` of the array after
 * enqueueing the work. Create views, and request the stream, with the GIL.
 *
 * Without Python.h, the header defines only types and functions of views. It requires C99 or C++11 (the template: C++17), and
 * compiles as CUDA and HIP.
 */
#ifndef PYGPU_ARRAY_VIEW_H
#define PYGPU_ARRAY_VIEW_H

#include <stddef.h>
#include <stdint.h>

/* Dtype number: DLPack's type code and the bits of an element. */
#define PYGPU_DTYPE(code, bits) ((code) * 256 + (bits))

enum {
    PYGPU_ANY_DTYPE = -1,
    PYGPU_INT8 = PYGPU_DTYPE(0, 8),
    PYGPU_INT16 = PYGPU_DTYPE(0, 16),
    PYGPU_INT32 = PYGPU_DTYPE(0, 32),
    PYGPU_INT64 = PYGPU_DTYPE(0, 64),
    PYGPU_UINT8 = PYGPU_DTYPE(1, 8),
    PYGPU_UINT16 = PYGPU_DTYPE(1, 16),
    PYGPU_UINT32 = PYGPU_DTYPE(1, 32),
    PYGPU_UINT64 = PYGPU_DTYPE(1, 64),
    PYGPU_FLOAT16 = PYGPU_DTYPE(2, 16),
    PYGPU_FLOAT32 = PYGPU_DTYPE(2, 32),
    PYGPU_FLOAT64 = PYGPU_DTYPE(2, 64),
    PYGPU_BFLOAT16 = PYGPU_DTYPE(4, 16),
    PYGPU_COMPLEX64 = PYGPU_DTYPE(5, 64),
    PYGPU_COMPLEX128 = PYGPU_DTYPE(5, 128),
    PYGPU_BOOL = PYGPU_DTYPE(6, 8)
};

/* Requirements that a view places on an array. */
enum {
    PYGPU_READ = 0,
    PYGPU_WRITE = 1,        /* the array is not read-only */
    PYGPU_C_CONTIGUOUS = 2, /* C order without gaps */
    PYGPU_F_CONTIGUOUS = 4, /* Fortran order without gaps */
    PYGPU_ON_HOST = 8,      /* the host can dereference the pointer */
    PYGPU_ON_GPU = 16,      /* a GPU can dereference the pointer */
    PYGPU_ANY_NDIM = -1
};

/* DLPack's device types. */
enum { PYGPU_CPU = 1, PYGPU_CUDA = 2, PYGPU_CUDA_HOST = 3, PYGPU_ROCM = 10, PYGPU_ROCM_HOST = 11, PYGPU_CUDA_MANAGED = 13 };

typedef struct pygpu_array_view {
    void *data;             /* element zero; may be null if there is no element */
    const int64_t *shape;   /* lengths of the axes */
    const int64_t *strides; /* Distance of adjacent elements along each axis, in elements; may be negative. */
    int32_t ndim;
    int32_t dtype;       /* PYGPU_FLOAT32, ... */
    int32_t device_type; /* PYGPU_CPU, PYGPU_CUDA, ... */
    int32_t device_id;
    const void *table; /* DLPack's exchange table, for pygpu_current_stream */
} pygpu_array_view;

static inline int64_t pygpu_size(const pygpu_array_view *view) {
    int64_t size = 1;
    for (int axis = 0; axis < view->ndim; axis++) size *= view->shape[axis];
    return size;
}

static inline int64_t pygpu_itemsize(const pygpu_array_view *view) { return (view->dtype % 256 + 7) / 8; }

static inline int pygpu_is_on_host(const pygpu_array_view *view) {
    int32_t type = view->device_type;
    return type == PYGPU_CPU || type == PYGPU_CUDA_HOST || type == PYGPU_ROCM_HOST || type == PYGPU_CUDA_MANAGED;
}

static inline int pygpu_is_on_gpu(const pygpu_array_view *view) {
    int32_t type = view->device_type;
    return type != PYGPU_CPU;
}

/* Tests whether elements are contiguous if `axis` is the innermost axis, and the next outer axes follow in steps of `step`. */
static inline int pygpu_is_contiguous_from(const pygpu_array_view *view, int axis, int step) {
    int64_t expected = 1;
    if (pygpu_size(view) == 0) return 1;
    for (int left = view->ndim; left > 0; left--, axis += step) {
        if (view->shape[axis] == 1) continue;
        if (view->strides[axis] != expected) return 0;
        expected *= view->shape[axis];
    }
    return 1;
}

static inline int pygpu_is_c_contiguous(const pygpu_array_view *view) {
    return pygpu_is_contiguous_from(view, view->ndim - 1, -1);
}

static inline int pygpu_is_f_contiguous(const pygpu_array_view *view) { return pygpu_is_contiguous_from(view, 0, 1); }

#endif

/* Outside the include guard, because a file that included this header before Python.h may include it again after Python.h. */
#ifdef Py_PYTHON_H
#include "detail/from_python.h"
#endif

#ifdef __cplusplus
#include "detail/array_view.hpp"
#endif
