"""Compare the cost of calling compiled code with an array argument and with an integer argument.

``python benches/python/bindings.py --json bindings.json`` builds the modules of examples/bindings with a C++ compiler,
pybind11, nanobind and Cython, and skips missing tools. For each function, the call with an array and the call with an
integer are timed alternately. On an NVIDIA GPU the program needs no nvcc, because it launches no kernel.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import timeit
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import machine

import PyGPU
from PyGPU import driver

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "bindings"
TURNS, CALLS = 41, 20000

FLOOR = """
#include <Python.h>
#include <pygpu/array_view.h>

static PyObject *take_view(PyObject *self, PyObject *x) {
    pygpu_array_view view;
    (void)self;
    if (pygpu_view(x, "x", PYGPU_FLOAT32, 1, PYGPU_READ, &view) < 0) return NULL;
    return PyBool_FromLong(view.data != NULL);
}

static PyObject *take_view_to_write(PyObject *self, PyObject *x) {
    pygpu_array_view view;
    (void)self;
    if (pygpu_view(x, "x", PYGPU_FLOAT32, 1, PYGPU_WRITE | PYGPU_C_CONTIGUOUS, &view) < 0) return NULL;
    return PyBool_FromLong(view.data != NULL);
}

static PyObject *take_integer(PyObject *self, PyObject *x) {
    (void)self;
    unsigned long long address = PyLong_AsUnsignedLongLong(x);
    return PyErr_Occurred() ? NULL : PyBool_FromLong(address != 0);
}

static PyMethodDef methods[] = {{"take_view", take_view, METH_O, NULL},
                                {"take_view_to_write", take_view_to_write, METH_O, NULL},
                                {"take_integer", take_integer, METH_O, NULL},
                                {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "in_c", NULL, -1, methods, NULL, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit_in_c(void) { return PyModule_Create(&module); }
"""


def build(out: Path) -> list[str]:
    """Build the extension modules whose build tools are installed, and return the names of the modules."""
    environment = {**os.environ, "PYTHON": sys.executable}

    def do(*command: object, cwd: Path = EXAMPLES) -> None:
        subprocess.run([str(part) for part in command], cwd=cwd, env=environment, check=True)

    # The benchmark does not call the functions of the example's library, so the library's CPU version is sufficient on
    # every backend.
    do("env", "-u", "HEAT", "sh", "library/make.sh", out)
    (out / "in_c.c").write_text(FLOOR)
    includes = [f"-I{folder}" for folder in (sysconfig.get_path("include"), PyGPU.get_include())]
    do("cc", "-O2", "-shared", "-fPIC", *includes, "in_c.c", "-o", "in_c.so", cwd=out)
    built = ["in_c"]
    for kind, package in (("pybind11", "pybind11"), ("nanobind", "nanobind"), ("cython", "Cython")):
        if find_spec(package) is not None:
            do("sh", f"{kind}/make.sh", out)
            built.append(f"heat_{kind}")
    return built


def both(statements: tuple[str, str], names: dict[str, Any]) -> tuple[float, float]:
    """Time two statements alternately in many short runs, and return the median nanoseconds of each."""
    timers = [timeit.Timer(statement, globals=names) for statement in statements]
    times: list[list[float]] = [[], []]
    for _ in range(TURNS):
        for of, timer in zip(times, timers, strict=True):
            of.append(timer.timeit(CALLS) / CALLS * 1e9)
    return statistics.median(times[0]), statistics.median(times[1])


def rows(modules: list[str]) -> list[dict[str, Any]]:
    """Time a call with an array and a call with an integer for each module, and return one row for each pair."""
    a = PyGPU.zeros(1000, "float32")
    entries: list[dict[str, Any]] = []

    def add(what: str, statement: str, beside: str, most: float | None, **names: Any) -> None:
        taken, floor = both((statement, beside), {"a": a, "address": a.ptr, **names})
        entries.append({"what": what, "ns": round(taken, 1), "beside": beside, "beside_ns": round(floor, 1),
                      "more_ns": round(taken - floor, 1), "most_ns": most})  # fmt: skip

    for name in modules:
        module = importlib.import_module(name)
        for takes in ("take_view", "take_view_to_write", "take_ndarray"):
            if (function := getattr(module, takes, None)) is not None:
                most = None if takes == "take_ndarray" else 60
                add(f"{name}: {takes}(a)", "f(a)", "f_int(address)", most, f=function, f_int=module.take_integer)

    add("GPUArray", "a._as_parameter_", "a.ptr", 40)
    add("DeviceAllocation", "m._as_parameter_", "m.ptr", 40, m=driver.mem_alloc(64))
    library = ctypes.CDLL(None)
    plain, checked, deleter = library["labs"], library["labs"], library["labs"]
    plain.argtypes = deleter.argtypes = [ctypes.c_void_p]
    checked.argtypes = [PyGPU.as_argtype("float32", 1, "C_CONTIGUOUS")]
    add("ctypes, c_void_p", "f(a)", "f(a.ptr)", None, f=plain)
    add("ctypes, as_argtype", "g(a)", "f(a.ptr)", None, f=plain, g=checked)
    for what, owner in (("an object", object()), ("a function of C", deleter)):
        make = "make(address, 10, 'float32', owner=owner)"
        add(f"from_pointer, owned by {what}", make, "None", 500, make=PyGPU.from_pointer, owner=owner)
    return entries


def main() -> None:
    """Build the modules, time and print the calls, and write the requested files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the rows and the machine there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        modules = build(Path(folder))
        sys.path.insert(0, folder)
        entries = rows(modules)
    for row in entries:
        print("{what:34} {ns:7.1f} ns, {beside} {beside_ns:.1f}: {more_ns:+.1f}, at most {most_ns}".format(**row))
    if options.json:
        machine.write(options.json, {"rows": entries})


if __name__ == "__main__":
    main()
