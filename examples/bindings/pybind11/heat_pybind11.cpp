#include <pygpu/pybind11.h>

#include <stdexcept>

#include "heat.h"

namespace py = pybind11;

// A `const` argument may be read-only; strides are arbitrary.
using Line = pygpu::array_view<float, 1>;
using Grid = pygpu::array_view<float, 2>;
using ConstGrid = pygpu::array_view<const float, 2>;

static void check(int error) {
    if (error != 0) throw std::runtime_error("heat: error " + std::to_string(error));
}

static void step(ConstGrid from, Grid to) {
    if (from.shape(0) != to.shape(0) || from.shape(1) != to.shape(1)) throw py::value_error("step: the shapes differ");
    const int64_t from_strides[] = {from.stride(0), from.stride(1)}, to_strides[] = {to.stride(0), to.stride(1)};
    const int64_t shape[] = {from.shape(0), from.shape(1)};
    check(heat_step(from.data(), from_strides, to.data(), to_strides, shape, to.stream()));
}

static double total(ConstGrid x) {
    const int64_t strides[] = {x.stride(0), x.stride(1)}, shape[] = {x.shape(0), x.shape(1)};
    double sum = 0.0;
    check(heat_total(x.data(), strides, shape, &sum, x.stream()));
    return sum;
}

// Memory of the library, which the capsule frees.
static py::object create(int64_t count) {
    float *values = heat_new(count);
    if (values == nullptr) throw std::bad_alloc();
    return py::module_::import("PyGPU").attr("from_pointer")(reinterpret_cast<uintptr_t>(values), count, "float32",
                                                             py::arg("owner") = py::capsule(values, heat_free));
}

PYBIND11_MODULE(heat_pybind11, m) {
    m.def("scale", [](Line x, float factor) { check(heat_scale(x.data(), x.shape(0), x.stride(0), factor, x.stream())); },
          py::arg("x"), py::arg("factor"));
    m.def("step", &step, py::arg("source"), py::arg("target"));
    m.def("total", &total, py::arg("x"));
    m.def("new", &create, py::arg("count"));

    // Accepts anything with an address: an array, a pointer object, a stream, a number.
    m.def("where", [](pygpu::address x) { return x.value; }, py::arg("x"));
    // As in PybindGPU: `first(a)`, `first(da.device_data())`, `first(a.ptr)`.
    m.def("first", [](ptr_wrapper<float> x) { return x.address(); }, py::arg("x"));
    // A named parameter, which error messages contain.
    m.def("named", [](py::object x) { return Line::from(x.ptr(), "x").size(); }, py::arg("x"));
    // Overloads by dtype.
    m.def("kind", [](pygpu::array_view<const float, 1>) { return "float"; }, py::arg("x"));
    m.def("kind", [](pygpu::array_view<const int, 1>) { return "int"; }, py::arg("x"));
    // Cost of a call (benches/python/bindings.py).
    m.def("take_view", [](pygpu::array_view<const float, 1> x) { return x.data() != nullptr; });
    m.def("take_integer", [](std::uintptr_t x) { return x != 0; });
}
