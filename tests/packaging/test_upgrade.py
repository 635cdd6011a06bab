"""Test upgrades: pickles of 0.1.0 and 0.2.0 can be read, and a kernel cache of 0.1.0 is not used and causes no error.

``pickles_0.1.0.json`` contains pickles that version 0.1.0 wrote on the CPU, and the expressions of the pickled objects.
``test_public_names.py`` tests the names of 0.1.0.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import PyGPU
import PyGPU.curandom
import PyGPU.driver
import PyGPU.tools
from PyGPU._kernels import occupancy, pickled_kernels
from PyGPU._names import moved_modules
from PyGPU._observability import benchmark
from support_kernels import needs_kernels

pytestmark = pytest.mark.enough_on("cpu", "cuda")

PICKLES: dict[str, dict[str, str]] = json.loads((Path(__file__).parent / "pickles_0.1.0.json").read_text())
OF_THE_CPU = {"Device"}  # This pickle contains the device name "cpu".


def expected(name: str) -> Any:
    """Return the object whose pickle version 0.1.0 wrote."""
    return eval(PICKLES[name]["expression"], {"np": np, "PyGPU": PyGPU})


def state(value: Any) -> Any:
    """Return the type and the contents of an unpickled object, for comparison."""
    if isinstance(value, PyGPU.GPUArray):
        return type(value), value.dtype, value.get().tolist()
    if isinstance(value, np.ndarray):
        return value.dtype, value.tolist()
    if isinstance(value, BaseException):
        return type(value), value.args
    return type(value), repr(value)


@pytest.mark.parametrize("protocol", ["protocol 2", "protocol 5"])
@pytest.mark.parametrize("name", PICKLES)
def test_pickle_of_0_1_0_is_read(name: str, protocol: str) -> None:
    if name in OF_THE_CPU and PyGPU.backend_name() != "cpu":
        pytest.skip("the pickle names a device of the CPU backend")
    assert state(pickle.loads(base64.b64decode(PICKLES[name][protocol]))) == state(expected(name))


@pytest.mark.parametrize("module", moved_modules.HOMES)
def test_former_private_module_has_names_of_present_module(module: str) -> None:
    found = __import__(module, fromlist=["*"])
    home = sys.modules[moved_modules.HOMES[module]]
    name = next(one for one in sorted(home.__all__) if not one.startswith("_"))
    assert getattr(found, name) is getattr(home, name)


@pytest.mark.parametrize(
    ("reference", "present"),
    [
        ("_native.c_arguments\nScalarArg", PyGPU.tools.ScalarArg),
        ("_native.compiled.occupancy\nOccupancy", occupancy.Occupancy),
        ("_native.observability.benchmark\nBenchmarkResult", benchmark.BenchmarkResult),
        ("_native.pickled_kernels\nshared", pickled_kernels.shared),
        ("_pybindgpu.labels\ndtype", PyGPU.backend.dtype),
        ("_pycuda.curandom.tables\ndirection_vector_set", PyGPU.curandom.direction_vector_set),
        ("_sharing.handle\nSharedHandle", PyGPU.SharedHandle),
    ],
)
def test_name_in_pickle_of_0_2_0_is_found(reference: str, present: object) -> None:
    assert pickle.loads(f"cPyGPU.{reference}\n.".encode()) is present


def test_unknown_private_module_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'PyGPU\._never_existed'"):
        __import__("PyGPU._never_existed")


def entry_of_0_1_0(key: str, image: bytes) -> bytes:
    """Return a cache file in the format of 0.1.0.

    The file has a fixed text, a checksum, the key, the image and the log. The key, the image and the log each follow
    their length.
    """
    parts = [key.encode(), image, b""]
    payload = b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    return b"PyGPU k2" + hashlib.sha256(payload).digest() + payload


SCRIPT = """
import PyGPU
a = PyGPU.zeros(1, "i4")
PyGPU.Kernel('extern "C" __global__ void put(int *x) { *x = 5; }', "put")[1, 1](a)
assert a.item() == 5
print(PyGPU.config()["kernel_cache_refused"])
"""


@needs_kernels
def test_cache_entry_of_0_1_0_is_kept_when_new_entries_are_added(tmp_path: Path) -> None:
    # The key of a cache entry contains the version, so another version of PyGPU does not find the old entries.
    folder = tmp_path / "kernels"
    folder.mkdir(mode=0o700)
    key = hashlib.sha256(b"0.1.0").hexdigest()
    old = folder / f"{key}.pgk"
    old.write_bytes(entry_of_0_1_0(key, b"an image"))
    old.chmod(0o600)
    before = old.read_bytes()
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        env={**os.environ, "PYGPU_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "None\n", "")
    assert old.read_bytes() == before
    assert len(list(folder.glob("*.pgk"))) == 2
