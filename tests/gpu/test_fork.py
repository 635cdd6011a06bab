"""Test a child process forked after its parent used a GPU: GPU calls raise `ForkError`, and host arrays work."""

from __future__ import annotations

import pytest

from gpu import support

support.require_gpu()
pytestmark = pytest.mark.starts_processes

SCRIPT = """
import os, sys, warnings
warnings.simplefilter("ignore")  # of Python 3.12: forking with threads
import numpy, PyGPU
{before}
child = os.fork()
if child == 0:
    status = 1
    try:
{in_child}
        status = 0
    except BaseException:
        import traceback
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
_, status = os.waitpid(child, 0)
assert status == 0, status
{after}
print("ended")
"""

USE = "array = PyGPU.arange(5)\nassert array.tolist() == [0, 1, 2, 3, 4]"


def run(in_child: str, before: str = USE, after: str = USE) -> None:
    indented = "\n".join(" " * 8 + line for line in in_child.strip().splitlines())
    result = support.run_script(SCRIPT.format(before=before, in_child=indented, after=after))
    assert support.ended_well(result).splitlines()[-1] == "ended"


def test_every_gpu_call_in_forked_child_raises_error_naming_spawn() -> None:
    run(
        """
for call in (
    lambda: PyGPU.zeros(3),
    lambda: PyGPU.to_gpu(numpy.ones(3)),
    array.get,
    array.copy,
    lambda: array.__setitem__(0, 1),
    PyGPU.synchronize,
    PyGPU.Stream,
    PyGPU.Event,
    PyGPU.memory_info,
    lambda: PyGPU.set_device(0),
):
    try:
        call()
    except PyGPU.ForkError as error:
        assert "spawn" in str(error), error
        assert isinstance(error, RuntimeError)
    else:
        raise AssertionError(f"{call} gave no error")
"""
    )


def test_host_arrays_can_be_used_in_forked_child() -> None:
    run(
        """
mine = PyGPU.to_gpu(numpy.arange(6).reshape(2, 3), device="cpu")
assert mine.T[1].tolist() == [1, 4]
mine[0] = 7
assert numpy.from_dlpack(mine).tolist() == [[7, 7, 7], [3, 4, 5]]
"""
    )


def test_attributes_of_gpu_array_are_readable_in_forked_child() -> None:
    run("assert array.shape == (5,) and array[1:3].ptr == array.ptr + array.itemsize and array.device.index == 0")


def test_gpu_objects_dropped_in_forked_child_stay_valid_in_parent() -> None:
    run(
        """
import gc
del array, stream, event, capsule
gc.collect()
""",
        before=USE + "\nstream, event, capsule = PyGPU.Stream(), PyGPU.Event(), array.__dlpack__()",
        after="assert array.tolist() == [0, 1, 2, 3, 4]\nstream.synchronize()",
    )


def test_child_of_multiprocessing_fork_exits_without_hang() -> None:
    script = """
        import multiprocessing, warnings
        warnings.simplefilter("ignore")
        import PyGPU
        array = PyGPU.arange(5)
        stream = PyGPU.Stream()

        def work():
            try:
                array.get()
            except PyGPU.ForkError:
                return
            raise SystemExit(3)

        child = multiprocessing.get_context("fork").Process(target=work)
        child.start()
        child.join(30)
        assert child.exitcode == 0, child.exitcode
        assert array.tolist() == [0, 1, 2, 3, 4]
        print("ended")
    """
    assert support.ended_well(support.run_script(script)) == "ended"


def test_child_forked_before_first_gpu_call_can_use_gpu() -> None:
    run(USE, before="assert PyGPU.zeros(2, device='cpu').tolist() == [0, 0]", after="")


def test_process_started_by_subprocess_can_use_gpu() -> None:
    script = """
        import subprocess, sys
        import PyGPU
        array = PyGPU.arange(5)
        code = "import PyGPU; assert PyGPU.arange(5).tolist() == [0, 1, 2, 3, 4]"
        subprocess.run([sys.executable, "-c", code], check=True)
        assert array.tolist() == [0, 1, 2, 3, 4]
        print("ended")
    """
    assert support.ended_well(support.run_script(script)) == "ended"
