"""Test processes that exit, fork or reset their device while operations are pending."""

from __future__ import annotations

import pytest

import PyGPU
from gpu import support

pytestmark = pytest.mark.starts_processes

BEGIN = """
import os, sys, warnings
warnings.simplefilter("ignore")
import numpy as np, PyGPU
from PyGPU import _core
_core._set_fusion("auto")
_core._bound_fusion_age(0)
x = PyGPU.to_gpu(np.arange(5.0))
(x + 1).get()
def waiting():
    return _core._count_waiting()
y = (x + 1) * 2
assert waiting() == 2
"""

ENDS = {
    "with what waits": "",
    "in an exit": "sys.exit(0)",
    "with a result in a cycle": "cycle = [y]; cycle.append(cycle); del y",
    "with a result in a module": "np.kept = y; PyGPU.kept = y",
    "with a thread that waits": """
import threading
threading.Thread(target=lambda: (x + 3) * 4, daemon=True).start()
""",
    "with a handler that uses it": """
import atexit
atexit.register(lambda: print(y.tolist()))
""",
    "with a finaliser that uses it": """
class Last:
    def __del__(self):
        try:
            self.array + 1
        except Exception:
            pass
last = Last()
last.array = y
""",
    "on a stream": "stream = PyGPU.Stream(); stream.__enter__(); z = x * 3",
}


@pytest.mark.parametrize("end", ENDS)
def test_process_with_pending_operations_exits_without_error(end: str) -> None:
    support.ended_well(support.run_script(BEGIN + ENDS[end]))


def test_use_of_gpu_in_forked_child_raises_and_parent_continues() -> None:
    script = (
        BEGIN
        + support.in_a_child(
            """
for use in (y.get, lambda: x + 1, lambda: PyGPU.zeros(3), lambda: y[1:]):
    try:
        use()
    except PyGPU.ForkError:
        continue
    raise AssertionError("not refused")
assert PyGPU.zeros(3, device="cpu").tolist() == [0, 0, 0]
y = None
"""
        )
        + """
assert waiting() == 2
assert y.tolist() == [2, 4, 6, 8, 10]
print("ended")
"""
    )
    assert support.ended_well(support.run_script(script)) == "ended"


def test_forked_child_with_pending_operations_exits_with_status_0() -> None:
    script = (
        BEGIN
        + """
child = os.fork()
if child == 0:
    sys.exit(0)
_, status = os.waitpid(child, 0)
assert status == 0, status
assert y.tolist() == [2, 4, 6, 8, 10]
"""
    )
    support.ended_well(support.run_script(script))


def test_child_forked_during_launch_does_not_hang() -> None:
    script = (
        BEGIN
        + """
import threading
done = False
def work():
    while not done:
        ((x + 1) * 2 - x).get()
thread = threading.Thread(target=work, daemon=True)
thread.start()
for _ in range(20):
    child = os.fork()
    if child == 0:
        try:
            x + 1
        except PyGPU.ForkError:
            os._exit(0)
        os._exit(1)
    _, status = os.waitpid(child, 0)
    assert status == 0, status
done = True
thread.join()
"""
    )
    support.ended_well(support.run_script(script))


def test_device_reset_with_pending_operations_leaves_device_usable() -> None:
    script = (
        BEGIN
        + """
before = _core._fusion_figures()["kernels"]
status = PyGPU.cudaDeviceReset()
assert waiting() == 0
try:
    y.get()
except (ValueError, PyGPU.CudaError) as error:
    print("refused")
z = PyGPU.to_gpu(np.arange(3.0))
assert (z + 1).tolist() == [1, 2, 3]
"""
    )
    assert support.ended_well(support.run_script(script)) == "refused"


@pytest.mark.parametrize("mode", ["off", "auto"])
def test_environment_variable_selects_fusion_mode(mode: str) -> None:
    script = "import PyGPU\nfrom PyGPU import _core\nprint(_core._get_fusion())"
    assert support.ended_well(support.run_script(script, PYGPU_FUSION=mode)) == mode
    assert PyGPU.backend_name()
