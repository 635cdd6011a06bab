// Arguments of functions that pybind11 binds: `pygpu::array_view<T, N>`, `pygpu::address`, `ptr_wrapper<T>`.
//
//     m.def("scale", [](pygpu::array_view<float, 1> x, float factor) { ... }, py::arg("x"), py::arg("factor"));
//
// Overloads by dtype and rank work: pybind11 first tries each overload without conversions. If none matches, the first overload
// raises. pybind11 passes neither the name nor the position of a parameter to the conversion; for an error that names the
// parameter, call `pygpu::array_view<float, 1>::from(object.ptr(), "x")` in the function's body. Views are types of arguments,
// not of results.
#ifndef PYGPU_PYBIND11_H
#define PYGPU_PYBIND11_H

#if !(__cplusplus >= 201703L || (defined(_MSVC_LANG) && _MSVC_LANG >= 201703L))
#error "<pygpu/pybind11.h> needs C++17: compile with -std=c++17 or newer"
#endif

#include <pybind11/pybind11.h>

#ifndef PYGPU_PYTHON_ERROR
#define PYGPU_PYTHON_ERROR ::pybind11::error_already_set()
#endif

#include "array_view.h"
#include "ptr_wrapper.h"

namespace pygpu {

/// Address of an array or a pointer object, handle of a stream or an event, or a number. Converts to `uintptr_t`.
struct address {
    std::uintptr_t value = 0;
    operator std::uintptr_t() const { return value; }
    template <class T>
    T *as() const {
        return reinterpret_cast<T *>(value);
    }
};

namespace detail {

inline std::uintptr_t number(pybind11::handle object) {
    auto whole = pybind11::reinterpret_steal<pybind11::object>(PyNumber_Long(object.ptr()));
    if (!whole) throw pybind11::error_already_set();
    const auto value = PyLong_AsUnsignedLongLong(whole.ptr());
    if (PyErr_Occurred()) throw pybind11::error_already_set();
    return static_cast<std::uintptr_t>(value);
}

/// Stores the address, the handle or the number of an object in `value`; returns false if the object has none.
inline bool find_address(pybind11::handle object, std::uintptr_t &value) {
    if (PyBool_Check(object.ptr()) || PyFloat_Check(object.ptr())) return false;
    for (const char *name : {"ptr", "handle"}) {
        if (!PyLong_Check(object.ptr()) && pybind11::hasattr(object, name)) {
            value = number(object.attr(name));
            return true;
        }
    }
    if (!PyLong_Check(object.ptr()) && (!pybind11::hasattr(object, "__int__") || pybind11::hasattr(object, "__float__")))
        return false;
    value = number(object);
    return true;
}

}  // namespace detail
}  // namespace pygpu

namespace pybind11 {
namespace detail {

template <class T, int N, int Flags>
struct type_caster<pygpu::array_view<T, N, Flags>> {
    using View = pygpu::array_view<T, N, Flags>;
    PYBIND11_TYPE_CASTER(View, const_name("PyGPU.GPUArray"));

    bool load(handle source, bool convert) {
        if (value.take(source.ptr(), "an argument of the function")) return true;
        if (convert) throw error_already_set();
        PyErr_Clear();
        return false;
    }
};

template <>
struct type_caster<pygpu::address> {
    PYBIND11_TYPE_CASTER(pygpu::address, const_name("int"));

    bool load(handle source, bool) { return pygpu::detail::find_address(source, value.value); }
    static handle cast(pygpu::address source, return_value_policy, handle) {
        return PyLong_FromUnsignedLongLong(source.value);
    }
};

template <class T>
struct type_caster<ptr_wrapper<T>> {
    PYBIND11_TYPE_CASTER(ptr_wrapper<T>, const_name("PyGPU.ptr_wrapper"));

    bool load(handle source, bool convert) {
        constexpr int dtype = pygpu::dtype_of<std::remove_const_t<T>>::value;
        if (hasattr(source, "is_safe") && hasattr(source, "__int__")) {
            value = {reinterpret_cast<T *>(pygpu::detail::number(source)), source.attr("is_safe")().template cast<bool>()};
            return is_of_dtype(source, dtype);
        }
        if (PyLong_CheckExact(source.ptr())) {
            value = {reinterpret_cast<T *>(pygpu::detail::number(source)), false};
            return true;
        }
        pygpu_array_view view;
        if (pygpu_view(source.ptr(), "a pointer", dtype, PYGPU_ANY_NDIM, std::is_const_v<T> ? PYGPU_READ : PYGPU_WRITE, &view) < 0) {
            if (convert) throw error_already_set();
            PyErr_Clear();
            return false;
        }
        value = {static_cast<T *>(view.data), pygpu_is_on_host(&view) != 0};
        return true;
    }

    static handle cast(const ptr_wrapper<T> &source, return_value_policy, handle) {
        return PyLong_FromUnsignedLongLong(source.address());
    }

private:
    /// Tests whether a pointer object points to elements of a dtype. The name of the object's class ends in the dtype's name, as
    /// in `ptr_wrapper_float32`.
    static bool is_of_dtype(handle source, int dtype) {
        char text[64];
        std::string name = Py_TYPE(source.ptr())->tp_name, wanted = pygpu_dtype_name(dtype, text, sizeof text);
        return name.size() > wanted.size() && name.compare(name.size() - wanted.size() - 1, std::string::npos, "_" + wanted) == 0;
    }
};

}  // namespace detail
}  // namespace pybind11

#endif
