#include <nanobind/ndarray.h>
#include <pygpu/nanobind.h>

#include <stdexcept>

#include "heat.h"

namespace nb = nanobind;
using namespace nb::literals;

// nanobind's own type accepts arrays of PyGPU and NumPy on any device, with any strides; `const` accepts read-only ones. DLPack
// makes them usable on the default stream.
using Line = nb::ndarray<float, nb::ndim<1>>;
using Grid = nb::ndarray<float, nb::ndim<2>>;
using ConstGrid = nb::ndarray<const float, nb::ndim<2>>;

static void check(int error) {
    if (error != 0) throw std::runtime_error("heat: error " + std::to_string(error));
}

static void step(const ConstGrid &from, const Grid &to) {
    if (from.shape(0) != to.shape(0) || from.shape(1) != to.shape(1)) throw nb::value_error("step: the shapes differ");
    const int64_t shape[] = {int64_t(from.shape(0)), int64_t(from.shape(1))};
    check(heat_step(from.data(), from.stride_ptr(), to.data(), to.stride_ptr(), shape, nullptr));
}

// PyGPU's view instead: cheaper, on PyGPU's current stream, and its errors name the mismatch.
static double total(nb::object x) {
    auto view = pygpu::array_view<const float, 2>::from(x.ptr(), "x");
    const int64_t strides[] = {view.stride(0), view.stride(1)}, shape[] = {view.shape(0), view.shape(1)};
    double sum = 0.0;
    check(heat_total(view.data(), strides, shape, &sum, view.stream()));
    return sum;
}

// Memory of the library, exported by nanobind: PyGPU.from_dlpack imports it, the capsule frees it.
static nb::ndarray<float, nb::ndim<1>> create(size_t count, int device_type) {
    float *values = heat_new(int64_t(count));
    if (values == nullptr) throw std::bad_alloc();
    nb::capsule owner(values, [](void *memory) noexcept { heat_free(memory); });
    return nb::ndarray<float, nb::ndim<1>>(values, {count}, owner, {1}, nb::dtype<float>(), device_type, 0);
}

NB_MODULE(heat_nanobind, m) {
    m.def("scale", [](const Line &x, float factor) { check(heat_scale(x.data(), int64_t(x.shape(0)), x.stride(0), factor, nullptr)); },
          "x"_a, "factor"_a);
    m.def("step", &step, "source"_a, "target"_a);
    m.def("total", &total, "x"_a);
    m.def("create", &create, "count"_a, "device_type"_a);
    m.def("where", [](const nb::ndarray<nb::ro> &x) { return reinterpret_cast<uintptr_t>(x.data()); }, "x"_a);
    // Cost of a call (benches/python/bindings.py).
    m.def("take_view", [](pygpu::array_view<const float, 1> x) { return x.data() != nullptr; });
    m.def("take_ndarray", [](const nb::ndarray<const float, nb::ndim<1>> &x) { return x.data() != nullptr; });
    m.def("take_integer", [](std::uintptr_t x) { return x != 0; });
}
