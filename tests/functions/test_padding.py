"""Test `pad`: results and errors match NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import PyGPU
from installed.numpy_version import is_numpy
from support import assert_same, assert_same_refusal, of_few, outcome

pytestmark = pytest.mark.usefixtures("compiled_together")

MODES = ["constant", "edge", "linear_ramp", "maximum", "mean", "minimum", "reflect", "symmetric", "wrap"]
WIDTHS: list[Any] = [0, 2, (1, 3), ((2, 0), (0, 5)), ((7, 9), (8, 11)), {1: (2, 3)}, {-1: 1}]
KEYWORDS: dict[str, list[dict[str, Any]]] = {
    "constant": [{"constant_values": 4}, {"constant_values": ((1, 2), (3, 4))}],
    "linear_ramp": [{"end_values": (2, -3)}],
    "maximum": [{"stat_length": 2}],
    "mean": [{"stat_length": ((1, 2), (9, 1))}],
    "minimum": [{"stat_length": 0}],
    "reflect": [{"reflect_type": "odd"}],
    "symmetric": [{"reflect_type": "odd"}],
    "edge": [{"end_values": 3}],
}


def compare(host: np.ndarray, *arguments: Any, **keywords: Any) -> None:
    ours = outcome(lambda: np.pad(PyGPU.to_gpu(host), *arguments, **keywords))
    numpys = outcome(lambda: np.pad(host, *arguments, **keywords))
    if numpys[0] == "error":
        assert_same_refusal(ours, numpys)
    else:
        assert_same(ours[1], numpys[1])
        assert ours[1].flags.f_contiguous == numpys[1].flags.f_contiguous


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", of_few(["float32", "int32"], ["float32"]))
def test_every_pad_mode_matches_numpy(mode: str, dtype: str) -> None:
    host = (np.arange(12) ** 2 % 17).astype(dtype).reshape(3, 4)
    for width in of_few(WIDTHS, [((7, 9), (8, 11))]):
        if isinstance(width, dict) and not is_numpy("2.4"):
            continue
        compare(host, width, mode)
    for keywords in KEYWORDS.get(mode, []):
        compare(host, ((2, 1), (5, 9)), mode, **keywords)
    compare(host.T, 2, mode)
    compare(host[:1], 3, mode)
    compare(host[:0], ((0, 0), (1, 1)), mode)
    compare(host[:0], 1, mode)


@pytest.mark.parametrize(
    ("width", "mode", "keywords"),
    [
        (-1, "constant", {}),
        (1.5, "constant", {}),
        ((1, 2, 3), "constant", {}),
        (1, "none", {}),
        (1, "wrap", {"stat_length": 3}),
    ],
)
def test_pad_rejects_same_arguments_as_numpy(width: Any, mode: str, keywords: dict[str, Any]) -> None:
    compare(np.zeros((2, 3), "float32"), width, mode, **keywords)


def test_pad_accepts_0d_array_and_mode_empty() -> None:
    compare(np.float32(3).reshape(()), 1)
    padded = PyGPU.pad(PyGPU.ones(3, "float32"), 2, "empty")
    assert padded.shape == (7,)
    assert padded[2:5].tolist() == [1, 1, 1]


def test_pad_rejects_dictionary_with_missing_axis() -> None:
    with pytest.raises(IndexError):
        PyGPU.pad(PyGPU.ones(3), {1: 1})


def test_pad_rejects_function_as_mode() -> None:
    with pytest.raises(NotImplementedError, match="function as the mode"):
        PyGPU.pad(PyGPU.ones(3), 1, lambda *_: None)  # type: ignore[arg-type]
