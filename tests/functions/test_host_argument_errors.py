"""Test functions that are called with host values: the error describes the value and names `PyGPU.to_gpu`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import PyGPU

pytestmark = pytest.mark.enough_on("cpu")

ROWS = [[1.0, 2.0], [3.0, 4.0]]
TRUTH = [True, False]

# Functions that create arrays from host values.
CREATING = (
    "arange array asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray bartlett blackman block "
    "diag_indices empty empty_like eye fftfreq from_dlpack frombuffer fromfile fromfunction fromiter fromstring full "
    "full_like genfromtxt geomspace hamming hanning identity indices ix_ kaiser linspace load loadtxt logspace "
    "mask_indices ones ones_like require rfftfreq tri tril_indices triu_indices zeros zeros_like"
)
# Functions that accept any value, like NumPy's functions of the same names: they report types, shapes or memory
# addresses, print values, or write values to files.
ACCEPTING_ANY_VALUE = (
    "array2string array_equal array_repr array_str base_repr binary_repr broadcast_shapes can_cast common_type finfo "
    "format_float_positional format_float_scientific get_include get_printoptions iinfo iscomplexobj isdtype "
    "isfortran isrealobj isscalar issubdtype iterable may_share_memory min_scalar_type ndim printoptions "
    "getbufsize geterr geterrcall info mintypecode setbufsize seterr seterrcall typename "
    "promote_types result_type save savetxt savez savez_compressed set_printoptions shape shares_memory show_config "
    "size"
)
# Functions of polynomials. They accept a list of coefficients.
POLYNOMIALS = {"roots", *(name for name in dir(np) if name.startswith("poly"))}
# Functions that NumPy has deprecated. For host values, they give a deprecation warning before they raise an error.
DEPRECATED = {"row_stack"}

# Arguments of the tested functions. A function that is not listed here gets one to three arrays.
OWN_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "apply_along_axis": (PyGPU.sum, 0, ROWS),
    "apply_over_axes": (PyGPU.sum, ROWS, [0]),
    "argpartition": (ROWS, 1),
    "array_split": (ROWS, 2),
    "astype": (ROWS, "int32"),
    "bincount": ([0, 1],),
    "broadcast_to": (ROWS, (2, 2, 2)),
    "choose": ([0, 1], ROWS),
    "compress": (TRUTH, ROWS),
    "concat": (ROWS,),
    "delete": (ROWS, 0),
    "dsplit": ([ROWS], 2),
    "einsum": ("ij->i", ROWS),
    "einsum_path": ("ij->i", ROWS),
    "expand_dims": (ROWS, 0),
    "extract": (TRUTH, ROWS),
    "fill_diagonal": (ROWS, 1),
    "hsplit": (ROWS, 2),
    "insert": (ROWS, 0, 1.0),
    "interp": ([1.0], [0.0, 1.0], [2.0, 3.0]),
    "matrix_power": (ROWS, 2),
    "moveaxis": (ROWS, 0, 1),
    "nanpercentile": (ROWS, 50),
    "nanquantile": (ROWS, 0.5),
    "pad": (ROWS, 1),
    "partition": (ROWS, 1),
    "percentile": (ROWS, 50),
    "permute_dims": (ROWS, (1, 0)),
    "piecewise": (ROWS, [TRUTH], [1]),
    "place": ([1, 2], TRUTH, [1]),
    "put": ([1, 2], [0], [1]),
    "put_along_axis": (ROWS, [[0, 0]], [[1, 1]], 0),
    "putmask": ([1, 2], TRUTH, [1]),
    "quantile": (ROWS, 0.5),
    "repeat": (ROWS, 2),
    "reshape": (ROWS, 4),
    "resize": (ROWS, 4),
    "roll": (ROWS, 1),
    "rollaxis": (ROWS, 1),
    "select": ([TRUTH], [[1, 2]]),
    "split": (ROWS, 2),
    "swapaxes": (ROWS, 0, 1),
    "take": (ROWS, [0]),
    "take_along_axis": (ROWS, [[0, 0]], 0),
    "tile": (ROWS, 2),
    "unpackbits": ([1],),
    "unravel_index": ([1, 2], (2, 2)),
    "vsplit": (ROWS, 2),
}


def functions() -> Iterator[Any]:
    """Yield the tested functions of PyGPU, each with its arguments from `OWN_ARGUMENTS`.

    The functions in the lists above are omitted.
    """
    for module, numpys in ((PyGPU, np), (PyGPU.linalg, np.linalg), (PyGPU.fft, np.fft)):
        left_out = {*CREATING.split(), *ACCEPTING_ANY_VALUE.split(), *POLYNOMIALS, *DEPRECATED}
        for name in sorted({*dir(module)} & {*dir(numpys)} - left_out):
            function = getattr(module, name)
            if callable(function) and not name.startswith("_") and not isinstance(function, type):
                yield pytest.param(function, OWN_ARGUMENTS.get(name), id=f"{module.__name__}.{name}")


def error_of(function: Callable[..., Any], arguments: tuple[Any, ...], *, is_exact: bool) -> str:
    """Return the text of the `TypeError` that a call raises.

    Without `is_exact`, the function is called with one argument, then two, and so on, until the error no longer
    concerns the number of arguments.
    """
    text = "no error"
    for count in range(len(arguments) if is_exact else 1, len(arguments) + 1):
        with pytest.raises(TypeError) as caught:
            function(*arguments[:count])
        text = str(caught.value)
        if not re.search(r"required|missing|positional|takes .* argument|at least", text):
            break
    return text


@pytest.mark.parametrize(("function", "own_arguments"), [*functions()])
def test_error_of_function_called_with_host_values_suggests_to_gpu(function: Any, own_arguments: Any) -> None:
    rows = own_arguments or (ROWS,) * 3
    arguments = tuple(np.array(one) if isinstance(one, list) else one for one in rows)
    # `copyto` with an ndarray as target copies a device array to the host, so the advice `to_gpu` would be wrong.
    advice = "source.get(out=target)" if function is PyGPU.copyto else "PyGPU.to_gpu(x)"
    assert advice in error_of(function, arguments, is_exact=own_arguments is not None)


@pytest.mark.parametrize("name", ["copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"])
def test_function_that_writes_into_array_rejects_list_as_target(name: str) -> None:
    arguments = OWN_ARGUMENTS.get(name) or ([1, 2], [3, 4])
    with pytest.raises(TypeError, match=r"to_gpu|must be (numpy\.ndarray|an array)|expected a GPUArray"):
        getattr(PyGPU, name)(*arguments)


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: PyGPU.sum(np.ones(2)), "the ndarray of shape (2,)"),
        (lambda: PyGPU.sort(np.ones((2, 3))), "the ndarray of shape (2, 3)"),
        (lambda: PyGPU.add.outer([np.ones(1)], [2]), "the list of shape (1, 1)"),
        (lambda: PyGPU.add.at([1], [0], 1), "add.at: the list of shape (1,)"),
        (lambda: PyGPU.ravel(np.ones(2)), "ravel: the ndarray of shape (2,)"),
    ],
)
def test_error_for_host_value_contains_its_type_and_shape(call: Callable[[], Any], what: str) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value) == f"{what} is in host memory; copy it to a device first, with PyGPU.to_gpu(x)"


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: PyGPU.mean(("a", "b")), "the tuple of shape (2,)"),
        (lambda: PyGPU.add(PyGPU.arange(3), ["a", "b", "c"]), "the list of shape (3,)"),
        (lambda: PyGPU.add([None], [2]), "the list of shape (1,)"),
        (lambda: PyGPU.add.reduce([[None], [2, 3]]), "the list of length 2"),
        (lambda: PyGPU.add.accumulate(("a", "b")), "the tuple of shape (2,)"),
        (lambda: PyGPU.where(["a", ""]), "the list of shape (2,)"),
    ],
)
def test_error_for_list_of_other_objects_names_the_accepted_operands(call: Callable[[], Any], what: str) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    expected = "has elements other than numbers; expected an array, a number, or a list of numbers"
    assert str(caught.value) == f"{what} {expected}"


def test_error_for_list_of_arrays_or_foreign_object_suggests_asarray() -> None:
    with pytest.raises(
        TypeError, match=r"expected a GPUArray, not a list of arrays; PyGPU.asarray\(x\) joins arrays of one shape"
    ):
        PyGPU.max([PyGPU.zeros(2)])
    for arguments, shown in ((range(3), "range"), (None, "None")):
        with pytest.raises(TypeError, match=rf"expected a GPUArray, not {shown}; PyGPU.asarray\(x\) makes"):
            PyGPU.sum(arguments)


def test_calls_recommended_by_error_texts_succeed() -> None:
    assert PyGPU.sum(PyGPU.to_gpu([1, 2])).item() == 3
    assert PyGPU.max(PyGPU.asarray([PyGPU.zeros(2), PyGPU.ones(2)]), axis=0).tolist() == [1.0, 1.0]
    assert PyGPU.sum(PyGPU.asarray(range(3))).item() == 3
