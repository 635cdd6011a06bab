"""Test programs for several devices: on the CPU backend four numbered CPU devices, otherwise the machine's GPUs."""

import os
import subprocess
import sys
import textwrap

import pytest

import PyGPU

CPU = PyGPU.backend_name() == "cpu"
pytestmark = pytest.mark.skipif(not CPU and PyGPU.device_count() < 2, reason="needs two devices")


def run(script: str, **settings: str) -> str:
    """Run a script in a separate process, with four devices on the CPU backend, and return its output."""
    counts = {"PYGPU_CPU_DEVICES": "4"} if CPU else {}
    program = "import threading\nimport numpy as np\nimport PyGPU\n" + textwrap.dedent(script)
    environment = os.environ | counts | settings
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_device_number_has_own_arrays_streams_and_uuid() -> None:
    run("""
        assert PyGPU.device_count() >= 2
        first, second = PyGPU.zeros(3), PyGPU.zeros(3, device=1)
        assert (first.device.index, second.device.index) == (0, 1)
        assert second.device == PyGPU.Device(str(second.device)) != first.device
        assert (second + 1).device == second[1:].device == second.copy().device == second.device
        assert PyGPU.device_properties(0)["uuid"] != PyGPU.device_properties(1)["uuid"]
        assert PyGPU.can_access_peer(0, 1)
        try:
            first + second
        except ValueError as error:
            assert str(first.device) in str(error) and str(second.device) in str(error), error
        else:
            raise AssertionError("operands of two devices were added")
        with PyGPU.Device(1):
            assert PyGPU.zeros(3).device == second.device
            assert PyGPU.Stream().device == second.device
        assert PyGPU.Stream().device == first.device
    """)


def test_copies_of_any_layout_between_devices_match_numpy() -> None:
    run("""
        host = np.arange(120, dtype="f4").reshape(10, 12)
        for take in (lambda a: a, lambda a: a.T, lambda a: a[::-1, ::2], lambda a: a[:, 3], lambda a: a[:0]):
            there = take(PyGPU.to_gpu(host, device=1))
            for order in "CFAK":
                here = there.copy(order, device=0)
                assert here.device.index == 0
                np.testing.assert_array_equal(here.get(), take(host))
                assert here.get().strides == take(host).copy(order).strides, order
            target = PyGPU.zeros((2, *there.shape), "f4")
            target[1] = there  # strided on both sides
            np.testing.assert_array_equal(target.get(), [np.zeros_like(take(host)), take(host)])
            back = there.to_device(PyGPU.Device(0))
            assert back.device.index == 0 and there.to_device(there.device) is there
    """)


def test_thread_without_set_device_uses_default_device() -> None:
    run("""
        def of_new_thread():
            seen = []
            thread = threading.Thread(target=lambda: seen.extend((PyGPU.current_device(), PyGPU.zeros(2).device.index)))
            thread.start()
            thread.join()
            return seen

        assert of_new_thread() == [0, 0]
        PyGPU.set_default_device(1)
        assert PyGPU.current_device() == 1 and of_new_thread() == [1, 1]
        PyGPU.set_device(0)
        assert PyGPU.current_device() == 0 and of_new_thread() == [1, 1]
    """)


def test_environment_variable_selects_default_device() -> None:
    script = "print(PyGPU.current_device(), PyGPU.ones(2).device.index, PyGPU.ones(2).sum())"
    assert run(script, PYGPU_DEVICE="1") == "1 1 2.0\n"
    assert run(script, PYGPU_DEVICE=f"{PyGPU.backend_name()}:1") == "1 1 2.0\n"


@pytest.mark.parametrize("value", ["99", "-1", "first", "metal:0"])
def test_missing_default_device_raises_error_that_names_variable(value: str) -> None:
    said = run(
        """
        try:
            PyGPU.zeros(3)
        except ValueError as error:
            print(error)
        """,
        PYGPU_DEVICE=value,
    )
    assert f"PYGPU_DEVICE={value} names no device" in said


def test_unpickled_array_is_on_its_original_device_if_device_exists() -> None:
    run("""
        import pickle
        data = pickle.dumps(PyGPU.full(3, 7.0, device=1))
        assert pickle.loads(data).device.index == 1
        with PyGPU.Device(1):
            assert pickle.loads(pickle.dumps(PyGPU.ones(3, device=0))).device.index == 0
        restore, (class_, values, (kind, _)), *_ = PyGPU.full(3, 7.0).__reduce__()
        assert restore(class_, values, (kind, 63)).device.index == 0
        assert restore(class_, values, ("another", 1)).device.index == 0
        assert restore(class_, values).device.index == 0
    """)


@pytest.mark.skipif(not CPU, reason="a GPU's driver says how many devices there are")
def test_cpu_device_count_is_limited_to_1_through_64() -> None:
    script = """
        try:
            print(PyGPU.device_count(), PyGPU.Device("cpu:63"))
        except ValueError as error:
            print(error)
    """
    assert run(script, PYGPU_CPU_DEVICES="64") == "64 cpu:63\n"
    assert "cpu" in run(script, PYGPU_CPU_DEVICES="1")
    for value in ("0", "65", "many"):
        assert f"PYGPU_CPU_DEVICES={value} is no number of devices from 1 to 64" in run(script, PYGPU_CPU_DEVICES=value)
