"""Generate arguments of functions from the names of their parameters.

A parameter is an array (`ARRAYS`) or has a list of values (`VALUES`). The keys are names of parameters. A key with the
name of a function, such as `insert.obj`, applies to this function instead of the key `obj`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .operands import Callback, Operand, Out

GENERAL = [
    "a", "A", "a1", "a2", "ar", "ar1", "ar2", "arr", "array", "ary", "b", "dst", "element", "f", "filt", "fp", "m", "p",
    "prototype", "src", "test_elements", "v", "val", "values", "vals", "x", "x1", "x2", "y", "z",
]  # fmt: skip
ARRAYS = dict.fromkeys(GENERAL, "general") | {
    "bins": "sorted",
    "xp": "sorted",
    "searchsorted.a": "sorted",
    "condition": "general",
    "mask": "general",
    "argsort.a": "distinct",
    "bincount.x": "counts",
    "polydiv.u": "general",
}
"""Parameters that are arrays, each with the style in which values of the array are generated."""

DEFINITE = {"linalg"}
"""The modules of NumPy whose functions get positive definite matrices."""


class Values(NamedTuple):
    """Hold the values of a parameter.

    NumPy accepts each value in `accepted` in at least one call, and rejects the values in `rejected` in most calls.
    """

    accepted: list[Any]
    rejected: list[Any]


def _index(*shape: int) -> Operand:
    return Operand(shape, "int64", "index")


_SAME = Operand("same", None, salt=7)
_MASK = Operand("same", "bool")
_FLAG = Values([True, False], [])
_AXIS = Values([None, 0, 1, -1, (0, 1), (), (-1,), np.int64(0), 2], [7, -8, (0, 0), (0, 5), "0", 1.5, [0]])
_ONE_AXIS = Values([0, 1, -1, np.int64(0), 2], [7, -8, "0", 1.5, None, (0, 1)])
_AXES = Values([None, (0, 1), (1, 0), (-1, -2), (0,), 0, (0, 1, 2)], [(0, 0), (0, 7), "01", 1.5])
_COUNT = Values([3, 1, 0, 7, np.int64(2)], [-1, 2.0, "2", None])
_SHAPE = Values(
    [(2, 3), 4, (), (0, 2), (1,), [2, 2], (np.int64(2), 1), 6, (3, 2)], [-1, (2, -1), 2.5, "2", (2.0,), None]
)
_DTYPE = Values(
    ["float32", "int64", "complex128", "bool", "float16", "uint8", float, None, np.dtype("i2")], ["nonsense", 3]
)
_NUMBER = Values(
    [2, 0, 1.5, -1, True, 300, 2 + 1j, np.float32(0.5), None, float("nan"), Operand((), None)], ["2", [1, 2]]
)
_TEXT = ["bad", None, 3]
_DIAGONAL = Values([0, 1, -1, 5, -9, np.int64(1)], [1.0, None, "0"])
_INDICES = Values(
    [_index(2), 0, [0, 1], [], _index(2, 2), Operand((3,), "uint8", "index"), -1, Operand((2,), "bool"), _index(0)],
    [9, [-9], Operand((2,), "float64"), 1.5, "0", None],
)
_TOLERANCE = Values([0.25, 0, 1e-3, Operand((), "float64", "counts")], ["0.1"])
_LIST_OF_ARRAYS = Values(
    [[_SAME, Operand()], (_SAME,), [_SAME, Operand(), Operand("same", "int8")], [Operand((2, 2)), Operand((2, 3))],
     [Operand((0,)), Operand((2,), "complex64")], [Operand(()), 2], [Operand((1, 3), layout="F"), Operand((2, 3),
         "float16")],
     [Operand((3, 3)), Operand((3, 3), salt=3), Operand((3, 3), salt=4)], [Operand((2, 3)), Operand((3, 2))], _SAME],
    [[], [None], 3, "ab", None, [Operand((2, 3)), Operand((2,))]],
)  # fmt: skip
_TUPLE_OF_ARRAYS = Values(
    [(Operand(),), (Operand(), _SAME), (Operand((2, 1)), Operand((3,))), (), (Operand(()), Operand((2, 3), "int8")),
     (Operand((0,)), Operand((1,))), (Operand((3,)),), (2, Operand()), (Operand((3,)), Operand((2,), salt=2))],
    [("ab",), (None,), (Operand((2, 3)), Operand((3, 2)))],
)  # fmt: skip

VALUES: dict[str, Values] = {
    "M": Values([5, 1, 0, 2, 5.5, -1], ["5", None, 1j]),
    "N": _COUNT,
    "eye.M": Values([None, 2, 0], [-1, 2.0]),
    "tri.M": Values([None, 2, 0], [-1, 2.0]),
    "UPLO": Values(["L", "U", "l"], ["X", None]),
    "a_max": Values([None, 2, 1.5, _SAME, Operand(())], ["2"]),
    "a_min": Values([None, -1, 0.5, _SAME, Operand(())], ["2"]),
    "assume_unique": _FLAG,
    "atol": _TOLERANCE,
    "aweights": Values([None, Operand((3,), "float64", "counts"), Operand((2,), "float64", "counts")], [_SAME]),
    "axes": _AXES,
    "rot90.axes": Values([(0, 1), (1, 0), (-1, 0), (0, 2), [0, 1]], [(0, 0), (0,), 0, (0, 7)]),
    "tensordot.axes": Values([2, 1, 0, (0, 0), ([0, 1], [0, 1]), ([1], [0]), (-1, 0)], [7, -1, ([0], [0, 1]), "1",
        ([5], [0])]),
    "linalg.tensordot.axes": Values([2, 1, 0, (0, 0), ([0, 1], [0, 1]), ([1], [0])], [7, -1, ([0], [0, 1]), ([5],
        [0])]),
    "axis": _AXIS,
    "axis1": _ONE_AXIS,
    "axis2": Values([1, 0, -1, 2], [7, -8, 1.5, None]),
    "axisa": _ONE_AXIS,
    "axisb": _ONE_AXIS,
    "axisc": _ONE_AXIS,
    "base": Values([10.0, 2, 0.5, Operand((3,), "float64", "counts")], ["2"]),
    "beta": Values([2.5, 0, 14], ["2"]),
    "bias": _FLAG,
    "histogram.bins": Values([10, 3, 1, Operand((4,), "float64", "sorted"), "auto", "sturges", [0.0, 1.0, 3.0]], [0,
        -1, 2.5, "bad"]),
    "histogram_bin_edges.bins": Values([10, 3, Operand((4,), "float64", "sorted"), "auto", "fd", "rice", "sqrt",
        "doane", "scott", "stone"], [0, "bad"]),
    "bitorder": Values(["big", "little"], _TEXT),
    "casting": Values(["same_kind", "unsafe", "no", "safe", "equiv"], _TEXT),
    "choices": Values([[_SAME, Operand()], [Operand((3,)), 2, Operand((1,))], [1, 2, 3], Operand((3, 1))], [[], None,
        "ab"]),
    "compute_uv": _FLAG,
    "copy": Values([True, False], []),
    "asarray.copy": Values([None, True, False], []),
    "asanyarray.copy": Values([None, True, False], []),
    "reshape.copy": Values([None, True, False], []),
    "array.copy": Values([True, None, False], []),
    "correction": Values([0, 1, 0.5], []),
    "count": Values([None, 3, 0, -1, 8, 20], ["2", 1.5]),
    "d": Values([1.0, 2, 0.25], [0, "2"]),
    "ddof": Values([0, 1, 2, 0.5, 9], ["1"]),
    "cov.ddof": Values([None, 0, 1, 2], [0.5, "1"]),
    "decimals": Values([0, 1, 2, -1, -3, np.int64(1)], [1.5, "1", None]),
    "default": Values([0, 1.5, 2 + 1j, Operand((3,)), True], ["x"]),
    "deg": _FLAG,
    "density": Values([None, True, False], []),
    "destination": Values([0, 1, -1, (1, 0), (0, 1)], [7, (0, 0), (0,), "0", 1.5]),
    "dims": Values([(3, 4), (2, 2), [3, 4]], [(1, 1), (2,), (2.0, 3), "34"]),
    "dimensions": Values([(2, 3), (), (0, 2), [2], (np.int64(2), 1)], [3, (2, -1), (2.0,)]),
    "discont": Values([None, 1.0, 4], ["1"]),
    "dtype": _DTYPE,
    "astype.dtype": _DTYPE,
    "fromiter.dtype": _DTYPE,
    "finfo.dtype": Values(["float32", "float16", np.float64, "complex64", Operand((2,))], ["int8", "bad", None, 3]),
    "isdtype.dtype": Values(["float32", np.dtype("i2"), np.uint8, bool, "complex64"], ["bad", None]),
    "dx": Values([1.0, 2, 0.5, Operand((2,), "float64")], ["1"]),
    "edge_order": Values([1, 2], [0, 3, "1"]),
    "einsum_call": Values([False], []),
    "endpoint": _FLAG,
    "equal_nan": _FLAG,
    "fill_value": Values([2, 0.5, True, -1, 2 + 1j, Operand((), None), float("nan"), [1, 2]], ["x", 300, None]),
    "from_": Values(["float32", np.int8, Operand((2,)), np.dtype("c8"), bool], ["bad", 3, None]),
    "fromfunction.function": Values([Callback("lambda *i: sum(i) + 1", lambda _: lambda *i: sum(i) + 1),
        Callback("lambda *i: 7", lambda _: lambda *i: 7)], [3]),
    "func": Values([Callback(f"xp.{name}", lambda xp, name=name: getattr(xp, name)) for name in ("sum", "max",
        "cumsum")], [3, None]),
    "apply_over_axes.axes": Values([0, (0, 1), [1], -1, ()], [7, "0", 1.5]),
    "func1d": Values([Callback(f"xp.{name}", lambda xp, name=name: getattr(xp, name)) for name in ("sum", "sort",
        "diff", "outer")], [3, None]),
    "fweights": Values([None, Operand((3,), "int64", "counts"), Operand((2,), "int64", "counts"), Operand((3,),
        "uint8", "counts")], [Operand((3,), "float64", "counts"), [1, 2, 3]]),
    "full": _FLAG,
    "full_matrices": _FLAG,
    "funclist": Values([[1, 2], [Callback("xp.negative", lambda xp: xp.negative), 0.5], [1]], [[], None]),
    "hermitian": _FLAG,
    "ind": _INDICES,
    "linalg.tensorinv.ind": Values([2, 1, 3], [0, -1, "1", 1.5]),
    "include_initial": _FLAG,
    "increasing": _FLAG,
    "indexing": Values(["xy", "ij"], _TEXT),
    "indices": Values([*_INDICES.accepted, Operand("same", "int64", "index"), Operand((1, 2), "int64", "index"),
        Operand((2, 1), "int64", "index")], _INDICES.rejected),
    "indices_or_sections": Values([1, 3, 2, [1], [1, 2], [0, 7], (), [-1], _index(2), np.int64(1)], [0, -1, 4, "1",
        1.5, None]),
    "initial": Values([0, 2, 1.5, -3, None, np.int64(1), Operand(())], ["1", 1j, [1, 2]]),
    "invert": _FLAG,
    "int_type": Values(["int8", np.uint64, 3, Operand((2,), "int16")], ["float32", None, 2.5]),
    "iter": Values([[1, 2, 3], range(4), (), [True]], [3, None, ["x"]]),
    "k": _DIAGONAL,
    "polyint.k": Values([None, 2, [1], 1.5, [1, 2]], ["x"]),
    "rot90.k": Values([1, 0, 2, 3, -1, 6, np.int64(1)], [1.5, "1", None]),
    "keepdims": _FLAG,
    "keys": Values([(Operand((3,)), Operand((3,), salt=2)), Operand((2, 3)), [Operand((3,), "int8")], (Operand((2,
        3)), Operand((2, 3), salt=2)), Operand(())], [(), (Operand((3,)), Operand((2,))), 3, None]),
    "kind": Values([None, "quicksort", "stable", "mergesort", "heapsort"], ["bad", 3]),
    "argpartition.kind": Values(["introselect"], ["bad", 3, None]),
    "partition.kind": Values(["introselect"], ["bad", 3, None]),
    "isin.kind": Values([None, "sort", "table"], ["bad", 3]),
    "isdtype.kind": Values(["real floating", "numeric", "bool", np.int16, ("integral", "bool"), "complex floating",
        "signed integer"], ["bad", None, 3]),
    "kth": Values([0, 1, -1, [0, 1], np.int64(1), Operand((1,), "int64", "index"), ()], [9, -9, 1.5, "0", None, [1.0]]),
    "left": Values([None, -1, 0.5], ["1"]),
    "right": _FLAG,
    "interp.right": Values([None, -1, 0.5], ["1"]),
    "mask_func": Values([Callback("xp.triu", lambda xp: xp.triu), Callback("xp.tril", lambda xp: xp.tril)], [3, None]),
    "clip.max": Values([None, 2, 1.5, _SAME, Operand(())], ["2"]),
    "clip.min": Values([None, -1, 0.5, _SAME, Operand(())], ["2"]),
    "max_work": Values([0, 1, -1], ["1"]),
    "mean": Values([Operand((1, 1), "float64"), Operand((2, 1), "float64"), Operand((1, 3), "float64")], [2.0]),
    "polyder.m": Values([1, 0, 2, 5], [-1, 1.5, "1"]),
    "polyint.m": Values([1, 0, 2, 5], [-1, 1.5, "1"]),
    "tril_indices.m": Values([None, 2, 5, 0], [1.5, "1"]),
    "triu_indices.m": Values([None, 2, 5, 0], [1.5, "1"]),
    "method": Values(["linear", "nearest", "lower", "higher", "midpoint", "median_unbiased", "hazen", "weibull",
        "inverted_cdf", "closest_observation", "averaged_inverted_cdf", "interpolated_inverted_cdf",
        "normal_unbiased"], _TEXT),
    "minlength": Values([0, 3, 9], [-1, 1.5, "1", None]),
    "mode": Values(["full", "same", "valid"], _TEXT),
    "choose.mode": Values(["raise", "wrap", "clip"], _TEXT),
    "put.mode": Values(["raise", "wrap", "clip"], _TEXT),
    "take.mode": Values(["raise", "wrap", "clip"], _TEXT),
    "ravel_multi_index.mode": Values(["raise", "wrap", "clip", ("wrap", "clip")], ["bad", ("wrap",), 3]),
    "pad.mode": Values(["constant", "edge", "reflect", "symmetric", "wrap", "maximum", "minimum", "mean", "median",
        "linear_ramp"], _TEXT),
    "linalg.qr.mode": Values(["r", "reduced", "complete", "raw"], _TEXT),
    "multi_index": Values([(_index(2), _index(2)), (1, 1), (_index(2), 0), [[0, 1], [1, 1]], (Operand((2,), "bool"),
        _index(2)), (_index(2, 1), _index(3)), Operand((2, 3), "int64", "index")], [(_index(2),), (Operand((2,)), 0),
        (9, 9), 3, None, (-1, 0)]),
    "n": _COUNT,
    "diff.n": Values([1, 0, 2, 5], [-1, 1.5, "1", None]),
    "linalg.matrix_power.n": Values([2, 0, 1, 3, 5, -1, -2], [1.5, "1", None]),
    "nan": Values([0.0, 1, -0.5, Operand((), None), [2.5]], ["1"]),
    "posinf": Values([None, 1, 2.5, Operand((1,), "int64")], ["1"]),
    "neginf": Values([None, 1, -2.5], ["1"]),
    "ndim": Values([2, 1, 3, 0], [-1, 1.5, "1"]),
    "ndmax": Values([0, 3], []),
    "ndmin": Values([0, 1, 3, 5], [1.5, "1", 99]),
    "new_shape": _SHAPE,
    "norm": Values([None, "ortho", "forward", "backward"], ["bad", 3]),
    "num": Values([5, 1, 0, 2, np.int64(3)], [-1, 2.5, "2", None]),
    "obj": Values([0, 1, -1, [0, 1], [], slice(None, None, 2), _index(2), np.int64(1), [True, False]], [9, [9], 1.5,
        "0", None]),
    "object": Values([Operand(), _SAME, [1, 2], [[1.5, 2], [3, 4]], 3, (), 2 + 1j, True, [Operand((3,)), Operand((3,),
        salt=2)]], ["ab", None, [[1], [2, 3]]]),
    "offset": _DIAGONAL,
    "optimize": Values([False, True, "greedy", "optimal"], ["bad"]),
    "ord": Values([None, 2, 1, np.inf, -np.inf, "fro", "nuc", 0, -1, -2, 3, 0.5], ["bad", (1, 2)]),
    "order": Values(["K", "C", "F", "A", None], ["bad", 3, "k"]),
    "argpartition.order": Values([None], ["f"]),
    "partition.order": Values([None], ["f"]),
    "sort.order": Values([None], ["f"]),
    "argsort.order": Values([None], ["f"]),
    "out": Values([Out(), None, Out("F"), Out("wide"), Out("broadcast")], [Out("narrow"), Out("other shape"), [1],
        "x"]),
    "overwrite_input": _FLAG,
    "linalg.cond.p": Values([None, 2, 1, np.inf, "fro", -2, -1, "nuc"], ["bad", 3]),
    "pad_width": Values([1, 0, (1, 2), ((1, 0), (0, 2)), ((1,), (2,)), [1, 1], {0: 1}], [-1, 1.5, "1", None, ((1, 2,
        3),)]),
    "period": Values([6.0, 360, 2], [0, "1"]),
    "prepend": Values([0, 1.5, Operand((2, 1)), _SAME, Operand(())], ["x", [1, 2]]),
    "append": Values([0, 1.5, Operand((2, 1)), _SAME, Operand(())], ["x", [1, 2]]),
    "q": Values([0.5, 0, 1, [0.25, 0.75], Operand((2,), "bool"), 0.3, [[0, 1]], np.float32(0.5), []], [1.5, -1, "1",
        None, 1j]),
    "range": Values([None, (0, 5), (-1.5, 2), (1, 1)], [(2, 1), (0, np.inf), 3]),
    "rcond": Values([None, 1e-3, 0.5, -1], ["1"]),
    "repeats": Values([2, 0, 1, [1, 2], [2], _index(2), Operand((3,), "int64", "index"), np.int64(1)], [-1, 1.5, "1",
        None, [1, -1]]),
    "reps": Values([2, 0, (2, 1), (1, 2, 2), (), [3], np.int64(1)], [-1, 1.5, "1", None]),
    "requirements": Values([None, "C", ["F", "O"], ["W"], "FORTRAN", []], ["bad", 3]),
    "retstep": _FLAG,
    "return_counts": _FLAG,
    "return_index": _FLAG,
    "return_indices": _FLAG,
    "return_inverse": _FLAG,
    "returned": _FLAG,
    "rowvar": _FLAG,
    "rtol": _TOLERANCE,
    "s": Values([None, (2, 2), (4, 3), (2,), (-1, 2), [3, 1]], [(0, 2), 2, (1.5, 2), "22"]),
    "shape": _SHAPE,
    "unravel_index.shape": Values([(3, 4), 12, (2, 2, 2), [3, 4]], [(1, 1), (), -1, 2.5, "2"]),
    "unravel_index.indices": Values([_index(3), 1, _index(2, 2), Operand((2,), "uint8", "index"), [0, 1], _index(0),
        Operand((), "int64", "index"), (0, 1)], [100, -1, 1.5, Operand((2,), "float64"), None, "1"]),
    "shift": Values([1, 0, -2, 7, (1, 2), np.int64(1), 300], [1.5, "1", None]),
    "side": Values(["left", "right"], _TEXT),
    "sorted": _FLAG,
    "sorter": Values([None, Operand((3,), "int64", "index")], [Operand((3,)), Operand((2,), "int64", "index"), "x"]),
    "source": Values([0, 1, -1, (0, 1), (1, 0)], [7, (0, 0), (0,), "0", 1.5]),
    "sample": Values([Operand((5, 2)), Operand((2, 3)), Operand((5,)), (Operand((5,)), Operand((5,), salt=2)),
        Operand((0, 2)), Operand((5, 2), "int64")], [Operand(()), 3, None, (Operand((5,)), Operand((4,)))]),
    "seq_of_zeros": Values([Operand((3,)), Operand((3, 3), "float64", "definite"), [1, 2], (), Operand((0,)),
        Operand((2,), "complex64"), 3], [Operand((2, 3)), "ab", None]),
    "sparse": _FLAG,
    "descending": _FLAG,
    "check_bounds": Values([None, True], []),
    "stable": Values([None, True, False], []),
    "start": Values([1, 0.5, 2 + 1j, Operand((3,)), Operand(()), -3], ["1", None]),
    "rollaxis.start": Values([0, 1, 2, -1], [7, "1", 1.5, None]),
    "stop": Values([7, 2.5, 3 + 1j, Operand((3,), salt=5), Operand((2, 1), salt=2), -1], ["1", None]),
    "start_or_stop": Values([5, 2.5, 0, -3, np.int8(4), 1 + 1j], ["5", None, [1]]),
    "arange.stop": Values([None, 9, 0, 4.5], ["9"]),
    "step": Values([1, 2, 0.5, -1, 3], [0, "1"]),
    "arange.dtype": Values([None, "int8", "float32", "float16", "complex64", "uint8"], ["bad", "bool"]),
    "to": Values(["float64", np.int8, bool, "complex64"], ["bad", 3, None]),
    "to_begin": Values([None, 0, 1.5, Operand((2,)), [1, 2]], ["x"]),
    "to_end": Values([None, 0, 1.5, Operand((2,)), [1, 2]], ["x"]),
    "tol": Values([100, 1, 1e9, 0.5], ["1"]),
    "linalg.matrix_rank.tol": Values([None, 1e-3, 5], ["1"]),
    "trim": Values(["fb", "f", "b", "B"], ["x", 3]),
    "upper": _FLAG,
    "window_shape": Values([2, 1, (2,), (2, 2), (1, 2, 2), np.int64(2)], [0, 9, -1, 1.5, "2", None, (2, 2, 2, 2)]),
    "sliding_window_view.writeable": Values([False, True], []),
    "as_strided.writeable": Values([True, False], []),
    "as_strided.shape": Values([None, (2, 2), (3,), (), (0,)], [(-1,), 1.5, "2"]),
    "as_strided.strides": Values([None, (8, 8), (8,), (0,)], [(8, 8, 8, 8), "8", 1.5]),
    "polyfit.deg": Values([1, 0, 2, 3, [0, 2]], [-1, 1.5, "1", None]),
    "polyfit.cov": Values([False, True, "unscaled"], []),
    "polyfit.w": Values([None, _SAME, Operand((3,), "float64", "counts")], [Operand((7,)), 2]),
    "polyfit.y": Values([_SAME, Operand((3, 2)), Operand((5,))], [Operand((7,)), None]),
    "vander.N": Values([None, 3, 1, 0], [-1, 2.5, "1"]),
    "weights": Values([None, Operand("same", "float64", "counts"), Operand("same", "float32", "counts", "F"),
        Operand((3,), "float64", "counts")], [Operand((7,), "float64"), [1, 2], "x"]),
    "where": Values([True, _MASK, Operand((3,), "bool"), Operand((1, 1), "bool"), False], [Operand("same", "int64"),
        Operand((7,), "bool"), "x"]),
    "wrap": _FLAG,
    "trapezoid.x": Values([None, _SAME, Operand((3,), "float64", "sorted")], [Operand((7,)), "x"]),
    "y": Values([None, _SAME, Operand((3,))], [Operand((7, 2)), "x"]),
    "condlist": Values([[_MASK], [_MASK, Operand("same", "bool", salt=3)], [Operand((3,), "bool")], _MASK, [True],
        [False, True]], [[], [Operand()], None, "x"]),
    "choicelist": Values([[_SAME], [_SAME, 3], [Operand((3,), "int8")], [1.5], [Operand(()), Operand((3,))]], [[],
        None, "x"]),
    "_arrays": _LIST_OF_ARRAYS,
    "_tuple": _TUPLE_OF_ARRAYS,
}  # fmt: skip
for _name in ("arrays", "tup"):
    VALUES[_name] = _LIST_OF_ARRAYS
for _name in ("*arys", "*xi", "broadcast_arrays.*args", "*arrays"):
    VALUES[_name] = _TUPLE_OF_ARRAYS
LISTS_OF_ARRAYS = {
    "arrays",
    "tup",
    "*arys",
    "*xi",
    "*args",
    "*arrays",
    "keys",
    "condlist",
    "choicelist",
    "choices",
    "multi_index",
    "sample",
    "object",
}
"""The parameters that are sequences of arrays."""

VALUES |= {
    "*varargs": Values([(), (2.0,), (0.5, 2), (Operand((3,), "float64", "sorted"),), (2, Operand((3,), "float64",
        "sorted"))], [(1, 2, 3), ("x",), (Operand((7,)),)]),
    "broadcast_shapes.*args": Values([((2, 3), (3,)), (), ((1, 4), (3, 1)), (3, (2, 1)), ((0,), (1,)), ([2, 3],)],
        [((2,), (3,)), ("23",), ((-1,),), (1.5,), (None,)]),
    "ix_.*args": Values([(Operand((2,), "int64"), Operand((3,), "int64")), (Operand((2,), "bool"), [0, 1]), ([0, 1],
        [2]), (), (Operand((0,)),)], [(Operand((2, 2)),), (3,), (None,)]),
    "*arrays_and_dtypes": Values([(Operand(), "float32"), ("int8", "uint8"), (Operand((), "float64"), 2), (3, 2.5),
        (np.int8, Operand((2,), "bool")), (1j,)], [(), ("bad",), (None, "x")]),
}  # fmt: skip

KEYWORDS: dict[str, dict[str, Values]] = {
    "pad": {
        "constant_values": Values([3, (1, 2), ((1, 2), (3, 4)), 1.5], ["x"]),
        "stat_length": Values([None, 1, 2, (1, 2)], [0, -1]),
        "end_values": Values([0, 4, (1, 2)], ["x"]),
        "reflect_type": Values(["even", "odd"], ["bad"]),
        "unknown": Values([], [3]),
    },
    "einsum": {"dtype": _DTYPE, "order": VALUES["order"], "casting": VALUES["casting"]},
    "clip": {"dtype": Values([None, "float32", "complex64", "float64"], ["int8", "bad"]), "where": VALUES["where"],
        "casting": VALUES["casting"], "unknown": Values([], [3])},
}  # fmt: skip
"""The keywords of functions whose signature has only `**kwargs`."""

IGNORED = {
    "args": "passed on to the function argument",
    "device": "names devices; tests/backend",
    "kw": "passed on to the function argument",
    "kwargs": "KEYWORDS",
    "like": "NEP 35; tests/functions/test_array_function.py",
    "signature": "docs/arithmetic.md: not supported",
    "subok": "results of PyGPU have the class of the array",
}
"""Parameters without generated arguments, each with the reason or with the tests that cover it."""


def lookup(function: str, parameter: str) -> Any:
    """Return the generator of a parameter: the style of an array, the `Values` of another parameter, or None if
    unknown."""
    last = function.rpartition(".")[2]
    for key in (f"{function}.{parameter}", f"{last}.{parameter}"):
        if key in VALUES or key in ARRAYS:
            return VALUES.get(key) or ARRAYS[key]
    style = ARRAYS.get(parameter)
    if style is not None:
        return "definite" if function.partition(".")[0] in DEFINITE else style
    return VALUES.get(parameter)
