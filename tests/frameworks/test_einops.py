"""Test the backend that PyGPU registers when einops is imported; a stand-in replaces a missing einops."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import PyGPU
from support import assert_same

STAND_IN = '''
import sys


class AbstractBackend:
    """Base class that einops scans for backends; these methods are inherited by PyGPU's backend."""

    framework_name: str

    def reshape(self, x, shape):
        return x.reshape(shape)

    def reduce(self, x, operation, axes):
        return getattr(x, operation)(axis=axes)


def get_backend(tensor):
    for backend in AbstractBackend.__subclasses__():
        if backend.framework_name in sys.modules and backend().is_appropriate_type(tensor):
            return backend()
    raise RuntimeError(f"Tensor type unknown to einops {type(tensor)}")
'''

CHECKS = """
import numpy as np
import sys
from einops._backends import get_backend
assert not [finder for finder in sys.meta_path if getattr(finder, "name", "") == "einops._backends"]
assert PyGPU._EinopsFinder not in sys.meta_path
host = np.arange(6.0).reshape(2, 3)
x = PyGPU.to_gpu(host)
backend = get_backend(x)
assert backend.framework_name == "PyGPU"
for ours, expected in (
    (backend.from_numpy(host), host),
    (backend.reshape(x, (3, 2)), host.reshape(3, 2)),
    (backend.reduce(x, "mean", (0, 1)), host.mean((0, 1))),
    (backend.stack_on_zeroth_dimension([x, x]), np.stack([host, host])),
    (backend.add_axis(x, 1), host[:, None]),
    (backend.tile(x, (2, 3)), np.tile(host, (2, 3))),
    (backend.concat([x, x], 1), np.concatenate([host, host], 1)),
    (backend.einsum("ij,kj->ik", x, x), host @ host.T),
    (backend.arange(1, 4), np.arange(1, 4)),
):
    assert type(ours) is PyGPU.GPUArray, type(ours)
    np.testing.assert_array_equal(backend.to_numpy(ours), expected)
assert backend.is_float_type(x) and not backend.is_float_type(x.astype("i4"))
try:
    get_backend(host)
except RuntimeError:
    pass
else:
    assert False, "the backend accepts arrays of NumPy"
"""

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "rearrange": lambda einops, a: einops.rearrange(a, "a b c -> c (b a)"),
    "rearrange, split axis": lambda einops, a: einops.rearrange(a, "a b (c d) -> (a c) b d", c=2),
    "rearrange list": lambda einops, a: einops.rearrange([a, a + 1], "n a b c -> a b c n"),
    "reduce, mean": lambda einops, a: einops.reduce(a, "a b c -> b", "mean"),
    "reduce, max": lambda einops, a: einops.reduce(a, "a b c -> a 1 c", "max"),
    "reduce, any": lambda einops, a: einops.reduce(a > 3, "a b c -> a b", "any"),
    "reduce, callable": lambda einops, a: einops.reduce(a, "a b c -> a b", lambda x, axes: x.sum(axis=axes)),
    "repeat": lambda einops, a: einops.repeat(a, "a b c -> a b (c r)", r=3),
    "repeat, new axis": lambda einops, a: einops.repeat(a, "a b c -> n a b c", n=2),
    "pack": lambda einops, a: einops.pack([a, a[:, 0]], "i * k")[0],
    "unpack": lambda einops, a: einops.unpack(a, [(1,), (2,)], "i * k")[1],
    "einsum": lambda einops, a: einops.einsum(a, a, "a b c, a b d -> c d"),
}


def run(program: str, folder: Path | None) -> None:
    paths = [*([str(folder)] if folder else []), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    package = tmp_path / "einops"
    package.mkdir()
    (package / "__init__.py").write_text("from . import _backends\n")
    (package / "_backends.py").write_text(STAND_IN)
    return tmp_path


@pytest.mark.starts_processes
@pytest.mark.enough_on("cpu", "cuda")
@pytest.mark.parametrize("imports", ["import PyGPU, einops", "import einops, PyGPU", "import PyGPU, einops._backends"])
def test_einops_finds_backend_for_any_import_order(imports: str, stand_in: Path) -> None:
    run(imports + CHECKS, stand_in)


@pytest.mark.starts_processes
@pytest.mark.enough_on("cpu")
def test_einops_backend_is_registered_after_failed_search_for_einops(stand_in: Path) -> None:
    run("import PyGPU, importlib.util; importlib.util.find_spec('einops._backends'); import einops" + CHECKS, stand_in)


@pytest.mark.starts_processes
@pytest.mark.enough_on("cpu")
def test_import_of_pygpu_imports_neither_einops_nor_slow_modules() -> None:
    # A `.pth` file of another package, such as numba-cuda's, may import `importlib.abc` when Python starts.
    program = "import sys; before = set(sys.modules); import PyGPU; new = set(sys.modules) - before\n"
    run(program + "assert not {'einops', 'importlib.abc'} & new, new", None)


@pytest.mark.starts_processes
@pytest.mark.enough_on("cpu")
def test_einops_without_base_class_is_imported_with_a_warning(stand_in: Path) -> None:
    (stand_in / "einops" / "_backends.py").write_text("")
    program = (
        "import warnings, PyGPU\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    import einops\n"
        "assert ['could not register with einops' in str(one.message) for one in caught] == [True]"
    )
    run(program, stand_in)


@pytest.mark.enough_on("cpu", "cuda")
@pytest.mark.parametrize("name", OPERATIONS)
def test_einops_operation_matches_numpy_and_stays_on_device(name: str) -> None:
    einops = pytest.importorskip("einops")
    host = np.arange(24.0).reshape(2, 3, 4)
    assert_same(OPERATIONS[name](einops, PyGPU.to_gpu(host)), OPERATIONS[name](einops, host))


@pytest.mark.enough_on("cpu")
def test_einops_rejects_mean_of_integers() -> None:
    einops = pytest.importorskip("einops")
    with pytest.raises(NotImplementedError, match="not available for non-floating"):
        einops.reduce(PyGPU.arange(4).reshape(2, 2), "a b -> a", "mean")
