// Arguments of functions that nanobind binds: `pygpu::array_view<T, N>`. PyGPU's arrays also match nanobind's `nb::ndarray`, but
// a conversion to `array_view` takes less time, and its error messages describe the mismatch.
#ifndef PYGPU_NANOBIND_H
#define PYGPU_NANOBIND_H

#include <nanobind/nanobind.h>

#ifndef PYGPU_PYTHON_ERROR
#define PYGPU_PYTHON_ERROR ::nanobind::python_error()
#endif

#include "array_view.h"
#include "ptr_wrapper.h"

NAMESPACE_BEGIN(NB_NAMESPACE)
NAMESPACE_BEGIN(detail)

template <class T, int N, int Flags>
struct type_caster<pygpu::array_view<T, N, Flags>> {
    using View = pygpu::array_view<T, N, Flags>;
    NB_TYPE_CASTER(View, const_name("PyGPU.GPUArray"))

    // After a mismatch the exception is cleared, because nanobind tries the next overload. To raise the exception, call
    // `View::from(object.ptr(), "x")` in the function's body.
    bool from_python(handle source, uint8_t, cleanup_list *) noexcept {
        if (value.take(source.ptr(), "an argument of the function")) return true;
        PyErr_Clear();
        return false;
    }
};

NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)

#endif
