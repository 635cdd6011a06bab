"""Test failures of each call that opens a driver, in separate processes: the error names the call."""

from __future__ import annotations

import itertools

import pytest

import PyGPU
import simulated_driver
from gpu import support

BACKEND = PyGPU.backend_name()
if BACKEND == "cpu" or (PyGPU.zeros(1) is not None and simulated_driver.driver() is None):
    pytest.skip("faults are planted in a simulated driver only", allow_module_level=True)

CALLS = {
    "cuda": ["cuInit", "cuDeviceGetCount", "cuDeviceGet"],
    "hip": ["hipInit", "hipGetDeviceCount"],
}[BACKEND]
CODES = [2, 1, 600, 719, 700, 214, 100]

SCRIPT = """
    import PyGPU
    try:
        PyGPU.zeros(3)
    except PyGPU.BackendUnavailableError as error:
        print(error)
    else:
        print("opened")
    print(PyGPU.zeros(3, device="cpu").tolist())
    PyGPU.show_config()
"""


# A third of all pairs of a driver call and an error code. The selected pairs contain each call and each code.
@pytest.mark.parametrize(("call", "code"), list(itertools.product(CALLS, CODES))[::3])
def test_failed_opening_of_driver_reports_code_and_cpu_backend_works(call: str, code: int) -> None:
    done = support.run_script(SCRIPT, PYGPU_SIM_FAULT=f"{call}:1:{code}:1000", PYGPU_BACKEND=BACKEND)
    output = support.ended_well(done)
    assert f"({code})" in output or str(code) in output, output
    assert f"PYGPU_BACKEND={BACKEND}" in output, output
    assert "[0.0, 0.0, 0.0]" in output, output
