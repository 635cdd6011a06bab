"""Test the names of `PyGPU.cupy` and `PyGPU.cupyx`: each name of CuPy exists, or its error has a replacement."""

from __future__ import annotations

import importlib
import importlib.util
import io
import re
from pathlib import Path

import numpy as np
import pytest

import PyGPU
from PyGPU import cupy, cupyx
from PyGPU._cupy.missing_names import MISSING, missing_module, missing_text
from PyGPU.cupy import testing


def _listed() -> dict[str, list[str]]:
    """Return the public names of CuPy by module, from the list in the repository."""
    text = (Path(__file__).parent / "cupy_names.txt").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    modules = "\n".join(lines).replace("\n    ", " ").splitlines()
    return {module: names.split() for module, _, names in (line.partition(":") for line in modules)}


CUPY_NAMES = _listed()


def _found(package: str, name: str) -> bool:
    return hasattr(importlib.import_module(package), name)


@pytest.mark.parametrize("module", [module for module, names in CUPY_NAMES.items() if names])
def test_each_name_of_cupy_exists_or_its_error_names_replacement(module: str) -> None:
    for name in (name for name in CUPY_NAMES[module] if not _found(f"PyGPU.{module}", name)):
        text = missing_text(f"PyGPU.{module}", name)
        assert text, name
        with pytest.raises(AttributeError, match=re.escape(text)):
            getattr(importlib.import_module(f"PyGPU.{module}"), name)


def test_import_error_of_each_absent_cupy_module_names_replacement() -> None:
    lacking = [module for module, names in CUPY_NAMES.items() if not names]
    assert len(lacking) > 15
    assert [module for module in lacking if missing_module(module) is None] == []


def test_names_listed_as_missing_are_in_cupy_and_not_in_pygpu() -> None:
    known = {f"{module}.{name}" for module, names in CUPY_NAMES.items() for name in names} | set(CUPY_NAMES)
    names = [name for group in MISSING.values() for name in group if not name.startswith("cupy.cuda.")]
    assert len(names) == len(set(names))
    assert [name for name in names if name not in known] == []
    assert [name for name in names if hasattr(importlib.import_module("PyGPU"), name.rpartition(".")[2]) and
            name.startswith("cupy.") and name.count(".") == 1] == []  # fmt: skip
    special = [name.rpartition(".")[2] for name in names if name.startswith("cupyx.scipy.special.")]
    assert set(special) & set(PyGPU.special.__all__) == set()


def test_replacements_cite_titles_of_documentation_pages() -> None:
    pages = (Path(__file__).parents[2] / "docs").rglob("*.md")
    titles = [page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") for page in pages]
    cited = {title for text in MISSING for title in re.findall(r"page: ([^)]+)", text)}
    assert len(cited) == 3
    assert [title for title in cited if not any(one.startswith(title) for one in titles)] == []


def test_names_in_table_of_replacements_by_pygpu_exist() -> None:
    page = (Path(__file__).parents[2] / "docs" / "porting_from_cupy.md").read_text(encoding="utf-8")
    table = page.partition("## Names of PyGPU\n")[2].partition("```")[0]
    names = set(re.findall(r"\b(?:PyGPU|cupyx?)(?:\.\w+)+", table))
    assert len(names) > 35
    for name in names:
        value: object = importlib.import_module("PyGPU")
        for part in name.removeprefix("PyGPU.").split("."):
            value = getattr(value, part)


def test_dir_of_module_lists_only_names_that_exist() -> None:
    for package in (cupy, cupyx, cupyx.scipy):
        assert [name for name in dir(package) if not hasattr(package, name)] == []
    assert {"RawKernel", "asnumpy", "ndarray", "float32", "cuda", "sum"} <= set(dir(cupy))
    assert {"Stream", "to_gpu", "show_backend"}.isdisjoint(dir(cupy))


def test_missing_cupy_name_raises_attribute_error_with_replacement() -> None:
    with pytest.raises(AttributeError, match=r"module 'cupy' has no attribute 'cublas'; use cupy.linalg"):
        cupy.cublas  # noqa: B018
    with pytest.raises(AttributeError, match=r"module 'cupy' has no attribute 'zeross'$"):
        cupy.zeross  # noqa: B018


def test_cupy_shares_classes_with_pygpu_and_dtypes_with_numpy() -> None:
    assert cupy.ndarray is PyGPU.GPUArray
    assert isinstance(cupy.add, cupy.ufunc)
    assert cupy.__version__ == "14.1.0"
    assert (cupy.float_, cupy.int32, cupy.AxisError) == (np.float64, np.int32, np.exceptions.AxisError)
    assert cupy.get_array_module(np.ones(2)) is np
    assert cupy.get_array_module(np.ones(2), cupy.ones(2)) is cupy
    assert cupyx.scipy.get_array_module(cupy.ones(2)) is cupyx.scipy
    assert cupy.typing.NDArray[np.float32].__origin__ is cupy.ndarray
    assert cupy.ndarray[tuple, np.dtype].__origin__ is cupy.ndarray


def test_creation_functions_never_share_memory_with_host_array() -> None:
    makers = [cupy.array, cupy.asarray, cupy.asanyarray, cupy.ascontiguousarray, cupy.asfortranarray, cupy.require]
    makers += [cupy.asarray_chkfinite, cupy.asfarray, lambda values: cupy.asarray(memoryview(values))]
    for make in (*makers, lambda values: cupy.array(values, copy=False), lambda values: cupy.array(values, copy=None)):
        host = np.arange(6.0)
        make(host)[...] = 7
        np.testing.assert_array_equal(host, np.arange(6))
    device = cupy.arange(3)
    assert cupy.array(device, copy=False) is device
    assert cupy.array(device, "f4", copy=False).dtype == np.float32


def test_creation_functions_accept_parameters_of_cupy() -> None:
    host = np.arange(6, dtype=">i4").reshape(2, 3)
    for got in (cupy.array(host, blocking=True), cupy.asarray(host), cupy.ascontiguousarray(host)):
        assert got.dtype.isnative
        np.testing.assert_array_equal(got.get(), host)
    a = cupy.array(np.arange(6.0).reshape(2, 3), "f4", True, "F")
    assert a.flags.f_contiguous
    out = np.empty((2, 3), np.float32)
    assert cupy.asnumpy(a, None, "C", out, blocking=True) is out
    np.testing.assert_array_equal(out, host)
    assert cupy.asnumpy([1, 2]).tolist() == [1, 2]
    stream = PyGPU.Stream()
    np.testing.assert_array_equal(a.get(stream), out)
    host_copy = a.get(stream=stream, order="F", blocking=False)
    stream.synchronize()
    assert host_copy.flags.f_contiguous
    a.set(out + 1, stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(a.get(), out + 1)


class Pointer:
    """Imitate CuPy's class `MemoryPointer`.

    The attribute `mem` is a memory block, and `ptr` is an address in the block.
    """

    def __init__(self, mem: PyGPU.GPUArray, offset: int = 0) -> None:
        self.mem, self.ptr = mem, mem.ptr + offset


def test_ndarray_constructor_accepts_memory_pointer() -> None:
    memory = cupy.arange(8, dtype=np.int32)
    whole = cupy.ndarray((2, 4), np.int32, Pointer(memory))
    assert whole.get().tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert cupy.ndarray((3,), "i4", memptr=Pointer(memory, 4), strides=(8,)).get().tolist() == [1, 3, 5]
    assert cupy.ndarray((2, 2), "i4", Pointer(memory), (4, 8), "C").get().tolist() == [[0, 2], [1, 3]]
    fortran = cupy.ndarray((2, 3), "f4", None, None, "F")
    assert fortran.flags.f_contiguous
    assert cupy.ndarray((2, 3)).dtype == np.float64
    whole[0, 0] = 9
    assert int(memory[0]) == 9
    with pytest.raises(TypeError, match="gpudata= and memptr="):
        cupy.ndarray((2,), "i4", gpudata=memory, memptr=Pointer(memory))


def test_scatter_methods_apply_each_repeated_index() -> None:
    a = cupy.zeros((3, 2), np.int32)
    a.scatter_add(([0, 0, 2], slice(None)), 1.9)
    assert a.tolist() == [[2, 2], [0, 0], [1, 1]]
    a.scatter_max([1, 1], cupy.array([[3, 4], [5, 0]]))
    a.scatter_min([0], -1)
    assert a.tolist() == [[-1, -1], [5, 4], [1, 1]]
    assert int(a.ptp()) == 6
    assert PyGPU.from_dlpack(a).tolist() == a.tolist()


@pytest.mark.enough_on("cpu")
def test_cupy_functions_that_numpy_2_removed_exist() -> None:
    a = cupy.array([[3, 1], [2, 4]])
    assert bool(cupy.alltrue(a))
    assert bool(cupy.sometrue(a))
    assert cupy.in1d(a, cupy.array([1, 2])).tolist() == [False, True, True, False]
    assert float(cupy.trapz(cupy.array([1.0, 3.0]))) == 2
    assert cupy.asfarray([1, 2]).dtype == np.float64
    assert cupy.byte_bounds(a[:, ::-1]) == (a.ptr, a.ptr + a.nbytes)
    assert (cupy.obj2sctype("f4"), cupy.issctype(np.int8), cupy.issubsctype("i4", np.integer)) == (
        np.float32,
        True,
        True,
    )
    assert (cupy.sctype2char("f8"), cupy.issubclass_(3, int)) == ("d", False)
    for name in ("product", "cumproduct", "msort", "round_"):
        with pytest.warns(DeprecationWarning, match=f"cupy.{name} is deprecated"):
            getattr(cupy, name)(a)
    with pytest.raises(RuntimeError, match="NumPy 2 removed the function; use print"):
        cupy.disp("text")


def test_roll_accepts_shift_in_device_memory() -> None:
    a = cupy.arange(6).reshape(2, 3)
    for shift, axis in ((cupy.array(2), None), (cupy.array([1, 2]), (0, 1)), ((1, 2), (0, 1)), (cupy.array([1]), 1)):
        host = shift.get() if isinstance(shift, cupy.ndarray) else shift
        np.testing.assert_array_equal(cupy.roll(a, shift, axis).get(), np.roll(a.get(), host, axis))


def test_memoize_stores_results_by_arguments() -> None:
    calls = []

    @cupy.memoize(for_each_device=True)
    def doubled(number: int, *, offset: int = 0) -> int:
        calls.append(number)
        return 2 * number + offset

    assert [doubled(1), doubled(1), doubled(1, offset=1), doubled(2)] == [2, 2, 3, 4]
    assert calls == [1, 1, 2]
    cupy.clear_memo()
    doubled(1)
    assert len(calls) == 4


def test_random_functions_accept_dtype() -> None:
    cupy.random.seed(3)
    first = cupy.random.uniform(-1, 1, 4, "f4")
    assert (first.dtype, first.shape) == (np.float32, (4,))
    assert bool(((first >= -1) & (first < 1)).all())
    cupy.random.seed(3)
    np.testing.assert_array_equal(cupy.random.uniform(-1, 1, 4, dtype="f4").get(), first.get())
    assert cupy.random.rand(2, 3, dtype="f4").shape == (2, 3)
    assert cupy.random.poisson(3.0, 5, np.int32).dtype == np.int32
    assert cupy.random.noncentral_f(2, 3, 1, (2,), np.int16).dtype == np.int16
    assert cupy.random.RandomState(1).standard_normal(2, "f4").dtype == np.float32
    assert cupy.random.Generator(cupy.random.XORWOW(1)).random(2).shape == (2,)
    with pytest.raises(TypeError, match="normal: random numbers cannot have the dtype int32; pass float32"):
        cupy.random.normal(size=2, dtype="i4")


@pytest.mark.enough_on("cpu")
def test_poly1d_results_match_numpy() -> None:
    ours, theirs = cupy.poly1d([0, 1, 2, 3], variable="z"), np.poly1d([0, 1, 2, 3], variable="z")
    assert (repr(ours), str(ours), ours.order, len(ours)) == (repr(theirs), str(theirs), 2, 2)
    for got, expected in [
        (ours + 1, theirs + 1), (2 - ours, 2 - theirs), (ours * ours, theirs * theirs), (ours**3, theirs**3),
        (-ours, -theirs), (ours.deriv(), theirs.deriv()), (ours.integ(), theirs.integ()), (ours(ours), theirs(theirs)),
    ]:  # fmt: skip
        np.testing.assert_array_equal(got.coeffs.get(), expected.coeffs)
    np.testing.assert_array_equal(ours(cupy.arange(3)).get(), theirs(np.arange(3)))
    np.testing.assert_array_equal((cupy.arange(3) * ours).get(), np.arange(3) * theirs)
    np.testing.assert_array_equal((cupy.arange(3) - ours).get(), np.arange(3) - theirs)
    testing.numpy_cupy_array_equal()(lambda xp: xp.poly1d([1, 2]) + 1)()
    with pytest.raises(AssertionError, match="has the variable z, of numpy x"):
        testing.numpy_cupy_array_equal()(lambda xp: xp.poly1d([1, 2], variable="x" if xp is np else "z"))()
    np.testing.assert_allclose(np.sort(ours.r.get()), np.sort(theirs.r))
    assert [cupy.roots(cupy.array(c)).dtype.kind for c in ([1, -3, 2], [1, 0, 1], [1j, 2])] == ["f", "c", "c"]
    ours[4] = 7
    theirs[4] = 7
    assert ours.get() == theirs
    assert [ours[4], ours[3], ours[9]] == [7, 0, 0]
    assert ours == cupy.poly1d(theirs)
    assert ours != cupy.poly1d([1])
    with pytest.raises(ValueError, match="not an integer of 0 or above"):
        ours**-1
    with pytest.raises(TypeError, match="polyval: the coefficients have one axis"):
        cupy.polyval(3, 2)


@pytest.mark.enough_on("cpu")
def test_vectorize_calls_function_once_with_whole_arrays() -> None:
    def step(x, y):
        x += 1
        return x * y, y

    x, y = cupy.arange(3), cupy.array([[1], [2]])
    product, other = cupy.vectorize(step, otypes="fi")(x, y)
    assert product.get().tolist() == [[1, 2, 3], [2, 4, 6]]
    assert (product.dtype, other.dtype, other.shape) == (np.float32, np.int32, (2, 3))
    assert x.tolist() == [0, 1, 2]
    assert cupy.vectorize(lambda x: 5)(x).tolist() == [5, 5, 5]
    with pytest.raises(TypeError, match="depends on the value of an element"):
        cupy.vectorize(lambda x: 1 if x > 1 else 0)(x)
    with pytest.raises(NotImplementedError, match="cache=True is not supported"):
        cupy.vectorize(step, cache=True)


@pytest.mark.enough_on("cpu")
def test_make_aligned_dtype_aligns_fields_like_cuda_cxx() -> None:
    aligned = cupy.make_aligned_dtype
    for fields, itemsize, offsets in (
        ("?,c8", 16, (0, 8)),
        ("c16,?", 32, (0, 16)),
        ("?,(3,)c8", 32, (0, 8)),
        ([("a", "?"), ("b", "c8,?")], 24, (0, 8)),
        ("?,(4,)V3", 13, (0, 1)),
        ("i1,f8", 16, (0, 8)),
    ):
        dtype = aligned(fields)
        assert (dtype.itemsize, tuple(offset for _, offset in dtype.fields.values())) == (itemsize, offsets)
    wide = aligned("f4,f4", alignment=16)
    assert wide.itemsize == 16
    assert aligned([("a", "i1"), ("b", wide)]).fields["b"][1] == 16
    assert aligned([("a", "?"), ("b", "i1,c8")], recurse=False).itemsize == 16
    for text, arguments, keywords in (
        ("only supports structured dtypes", ("c16",), {}),
        ("alignment=4 is below 8", ("i4,c8",), {"alignment": 4}),
        ("alignment=12 is not a power of 2", ("i4,c8",), {"alignment": 12}),
        ("overlap", ({"names": ["a", "b"], "formats": ["i4", "i4"], "offsets": [4, 0]},), {}),
    ):
        with pytest.raises(ValueError, match=text):
            aligned(*arguments, **keywords)


@pytest.mark.enough_on("cpu")
def test_reductions_of_host_arrays_stay_on_host() -> None:
    host = np.arange(6.0).reshape(2, 3)
    for name in ("sum", "prod", "max", "amin", "mean", "std", "var", "cumsum"):
        function = getattr(cupy, name)
        result = function(host, 1)
        assert isinstance(result, np.ndarray)
        np.testing.assert_allclose(function(cupy.asarray(host), 1).get(), result)


def test_argmax_accepts_dtype_and_out() -> None:
    a = cupy.array([[3, 9], [4, 1]])
    out = cupy.zeros(2, np.int64)
    assert cupy.argmax(a, 1, np.int32).dtype == np.int32
    assert cupy.argmin(a, axis=1, out=out, keepdims=False) is out
    assert (out.tolist(), int(cupy.argmax(a))) == ([0, 1], 1)


def test_npz_archive_returned_by_load_is_context_manager() -> None:
    file = io.BytesIO()
    cupy.savez(file, a=cupy.arange(3), b=cupy.ones(2))
    file.seek(0)
    with cupy.load(file) as arrays:
        assert sorted(arrays.files) == ["a", "b"]
        assert arrays["a"].tolist() == [0, 1, 2]
    dumped = io.BytesIO()
    cupy.arange(3).dump(dumped)
    dumped.seek(0)
    assert cupy.load(dumped, allow_pickle=True).tolist() == [0, 1, 2]


def test_show_config_prints_name_pygpu(capsys: pytest.CaptureFixture[str]) -> None:
    cupy.show_config()
    text = capsys.readouterr().out
    assert text.startswith("cupy is PyGPU's facade of CuPy 14.1.0; it is not CuPy\nPyGPU ")
    assert f"backend: {PyGPU.backend_name()}" in text
