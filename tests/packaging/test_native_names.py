"""Test the native module's names, whose objects are created at their first use."""

import subprocess
import sys
from operator import attrgetter

import pytest

from PyGPU import _core

pytestmark = pytest.mark.enough_on("cpu")

IMPORTED = """
import PyGPU
from PyGPU import _core
exported = set(dir(_core))
created = {name for name in exported & vars(_core).keys() if not name.startswith("__")}
assert not created, created
for name in exported:
    getattr(_core, name)
assert exported == vars(_core).keys() == set(dir(_core))
"""

THREADS = """
import sys, threading
import PyGPU
from PyGPU import _core
sys.setswitchinterval(1e-6)
names = [*_core.__all__, "Error", "LogicError"]
found = []
barrier = threading.Barrier(8)
def access():
    barrier.wait()
    found.append([id(getattr(_core, name)) for name in names])
threads = [threading.Thread(target=access) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(found) == 8 and all(one == found[0] for one in found)
assert all(getattr(PyGPU, name) is getattr(_core, name) for name in _core.__all__)
"""


@pytest.mark.parametrize("code", [IMPORTED, THREADS], ids=["imported", "threads"])
def test_object_of_native_name_is_created_once_at_first_use(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_native_module_has_no_other_names() -> None:
    with pytest.raises(AttributeError, match=r"module 'PyGPU._core' has no attribute 'absent'"):
        attrgetter("absent")(_core)
