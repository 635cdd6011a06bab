# cython: language_level=3
from libc.stdint cimport int64_t, uintptr_t

import PyGPU
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from pygpu cimport *


cdef extern from "heat.h":
    float *heat_new(int64_t count)
    void heat_free(void *values)
    int heat_scale(float *values, int64_t count, int64_t stride, float factor, void *stream)
    int heat_step(const float *source, const int64_t *source_strides, float *target, const int64_t *target_strides,
                  const int64_t *shape, void *stream)
    int heat_total(const float *values, const int64_t *strides, const int64_t *shape, double *total, void *stream)


cdef check(int error):
    if error:
        raise RuntimeError(f"heat: error {error}")


def scale(x, float factor):
    cdef pygpu_array_view view
    cdef void *stream
    pygpu_view(x, "x", PYGPU_FLOAT32, 1, PYGPU_WRITE, &view)
    pygpu_current_stream(&view, &stream)
    check(heat_scale(<float *>view.data, view.shape[0], view.strides[0], factor, stream))


def step(source, target):
    cdef pygpu_array_view a, b
    cdef void *stream
    pygpu_view(source, "source", PYGPU_FLOAT32, 2, PYGPU_READ, &a)
    pygpu_view(target, "target", PYGPU_FLOAT32, 2, PYGPU_WRITE, &b)
    if a.shape[0] != b.shape[0] or a.shape[1] != b.shape[1]:
        raise ValueError(f"step: the shapes {source.shape} and {target.shape} differ")
    pygpu_current_stream(&a, &stream)
    check(heat_step(<const float *>a.data, a.strides, <float *>b.data, b.strides, a.shape, stream))


def total(x):
    cdef pygpu_array_view view
    cdef void *stream
    cdef double result
    pygpu_view(x, "x", PYGPU_FLOAT32, 2, PYGPU_READ, &view)
    pygpu_current_stream(&view, &stream)
    check(heat_total(<const float *>view.data, view.strides, view.shape, &result, stream))
    return result


# On the host a view is a typed memoryview too, which Cython indexes.
def corner(x):
    cdef pygpu_array_view view
    pygpu_view(x, "x", PYGPU_FLOAT32, 2, PYGPU_ON_HOST | PYGPU_C_CONTIGUOUS, &view)
    cdef const float[:, ::1] values = <float[:view.shape[0], :view.shape[1]]><float *>view.data
    return values[values.shape[0] - 1, values.shape[1] - 1]


def where(x):
    cdef pygpu_array_view view
    pygpu_view(x, "x", PYGPU_ANY_DTYPE, PYGPU_ANY_NDIM, PYGPU_READ, &view)
    return <uintptr_t>view.data


cdef void give_back(object capsule) noexcept:
    heat_free(PyCapsule_GetPointer(capsule, NULL))


def new(int64_t count):
    cdef float *values = heat_new(count)
    if values is NULL:
        raise MemoryError(f"heat_new({count})")
    return PyGPU.from_pointer(<uintptr_t>values, count, "float32", owner=PyCapsule_New(values, NULL, give_back))


# Cost of a call (benches/python/bindings.py).
def take_view(x):
    cdef pygpu_array_view view
    pygpu_view(x, "x", PYGPU_FLOAT32, 1, PYGPU_READ, &view)
    return view.data is not NULL


def take_integer(uintptr_t x):
    return x != 0
