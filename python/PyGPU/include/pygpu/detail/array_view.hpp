// The view as a C++ template, whose creation checks the element type and the number of axes. Part of array_view.h.
#ifndef PYGPU_DETAIL_ARRAY_VIEW_HPP
#define PYGPU_DETAIL_ARRAY_VIEW_HPP

#ifdef Py_PYTHON_H
#define PYGPU_VIEWS_ARE_FROM_PYTHON
#endif

#if __cplusplus >= 201703L || (defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)

#include <complex>
#include <exception>
#include <type_traits>

#if defined(__CUDACC__) || defined(__HIPCC__)
#define PYGPU_BOTH_SIDES __host__ __device__
#else
#define PYGPU_BOTH_SIDES
#endif

namespace pygpu {

/// Dtype number of a C++ type; specialise it for further types, such as `__half`: `static constexpr int value = PYGPU_FLOAT16;`
template <class T, class = void>
struct dtype_of;
template <class T>
struct dtype_of<T, std::enable_if_t<std::is_integral_v<T>>> {
    static constexpr int value = std::is_same_v<T, bool> ? int(PYGPU_BOOL) : PYGPU_DTYPE(std::is_unsigned_v<T>, int(sizeof(T)) * 8);
};
template <class T>
struct dtype_of<T, std::enable_if_t<std::is_floating_point_v<T>>> {
    static constexpr int value = PYGPU_DTYPE(2, int(sizeof(T)) * 8);
};
template <class T>
struct dtype_of<std::complex<T>> {
    static constexpr int value = PYGPU_DTYPE(5, int(sizeof(T)) * 16);
};

#if defined(Py_PYTHON_H) && !defined(PYGPU_PYTHON_ERROR)
/// Thrown when a Python exception is set. `pygpu/pybind11.h` and `pygpu/nanobind.h` throw the exception of their library instead.
struct python_error : std::exception {
    const char *what() const noexcept override { return "a Python exception is set"; }
};
#define PYGPU_PYTHON_ERROR ::pygpu::python_error()
#endif

/// View of elements of type `T` along `N` axes; `const T` for read-only access. A kernel takes a view by value.
template <class T, int N, int Flags = PYGPU_READ>
class array_view {
public:
    static constexpr int dtype = dtype_of<std::remove_const_t<T>>::value;
    static constexpr int flags = Flags | (std::is_const_v<T> ? int(PYGPU_READ) : int(PYGPU_WRITE));

    array_view() = default;

#ifdef Py_PYTHON_H
    /// Creates a view of a Python object, which the caller keeps alive.
    static array_view from(PyObject *object, const char *name) {
        array_view found;
        if (!found.take(object, name)) throw PYGPU_PYTHON_ERROR;
        return found;
    }

    /// Replaces this view by a view of a Python object; returns false with a Python exception set.
    bool take(PyObject *object, const char *name) {
        pygpu_array_view view;
        if (pygpu_view(object, name, dtype, N, flags, &view) < 0) return false;
        *this = array_view(view);
        return true;
    }

    /// Returns the stream for work on the array: a CUstream or hipStream_t. Requires the GIL, so call it before the GIL is
    /// released.
    void *stream() const {
        pygpu_array_view view = {};
        view.device_type = device_type_;
        view.device_id = device_id_;
        view.table = table_;
        void *found = nullptr;
        if (table_ != nullptr && pygpu_current_stream(&view, &found) < 0) throw PYGPU_PYTHON_ERROR;
        return found;
    }
#endif

    PYGPU_BOTH_SIDES T *data() const { return data_; }
    PYGPU_BOTH_SIDES int64_t shape(int axis) const { return shape_[axis]; }
    /// Returns the stride of an axis in elements; it may be negative.
    PYGPU_BOTH_SIDES int64_t stride(int axis) const { return strides_[axis]; }
    PYGPU_BOTH_SIDES int64_t size() const {
        int64_t size = 1;
        for (int axis = 0; axis < N; axis++) size *= shape_[axis];
        return size;
    }

    /// Returns an element. A kernel may access elements in device memory, and the host those in host memory.
    template <class... Index>
    PYGPU_BOTH_SIDES T &operator()(Index... index) const {
        static_assert(sizeof...(Index) == N, "one index for each axis");
        const int64_t places[N + 1] = {int64_t(index)..., 0};
        int64_t offset = 0;
        for (int axis = 0; axis < N; axis++) offset += places[axis] * strides_[axis];
        return data_[offset];
    }

    int device_type() const { return device_type_; }
    int device_id() const { return device_id_; }

private:
    explicit array_view(const pygpu_array_view &view)
        : data_(static_cast<T *>(view.data)), device_type_(view.device_type), device_id_(view.device_id), table_(view.table) {
        for (int axis = 0; axis < N; axis++) shape_[axis] = view.shape[axis], strides_[axis] = view.strides[axis];
    }

    T *data_ = nullptr;
    int64_t shape_[N + 1] = {};
    int64_t strides_[N + 1] = {};
    int32_t device_type_ = PYGPU_CPU;
    int32_t device_id_ = 0;
    const void *table_ = nullptr;
};

}  // namespace pygpu

#endif
#endif

#if defined(Py_PYTHON_H) && !defined(PYGPU_VIEWS_ARE_FROM_PYTHON)
#error "include Python.h, pybind11 or nanobind before the first <pygpu/array_view.h> of a file: its template has no from() else"
#endif
