"""Test that no forked child waits for a process-wide lock that a thread of the parent held during the fork."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from support import on_cpu
from support_kernels import needs_kernels

ROOT = Path(__file__).parents[2]
STATIC = re.compile(r"\bstatic\s+(?:mut\s+)?(\w+)\s*:\s*([^=;]+)")
# Types that contain a lock, which stays locked in a child forked while a thread holds it.
# `Condvar` is not listed: a fork cannot interrupt a change of its state, and `ForkSafeGuard::wait` releases the lock.
DANGEROUS = re.compile(r"\b(?:Mutex|RwLock|OnceLock|PyOnceLock|LazyLock|ReentrantLock|Barrier|sync::Once)\b")
# Types of other crates that are forbidden in statics. A `LazyLock` is always part of a static. pyo3 releases the GIL
# while it initializes a `PyOnceLock`, so a fork by another thread can leave the initialization unfinished.
OF_OTHERS = re.compile(r"\bPyOnceLock\b|\bpyo3::intern\b|\bpyo3::\{[^}]*\bintern\b|\bLazyLock\b")


def locks_unsafe_after_fork(name: str, text: str) -> list[str]:
    """Return the static locks in a source file that could stay locked forever in a forked child."""
    code = text.split("#[cfg(test)]\nmod tests")[0]
    aliases = {alias for alias, of in re.findall(r"\btype (\w+)(?:<\w+>)? = ([^;]+);", code) if DANGEROUS.search(of)}
    found = [f"{name}: {static}" for static, of in STATIC.findall(code) if DANGEROUS.search(of)]
    found += [f"{name}: {static}" for static, of in STATIC.findall(code) if aliases & set(re.findall(r"\w+", of))]
    return found


@pytest.mark.enough_on("cpu")
def test_every_static_lock_in_rust_sources_is_usable_after_fork() -> None:
    # A former defect: a dozen static locks stayed locked in the child if a thread held them at the fork.
    files = {str(path.relative_to(ROOT)): path.read_text() for path in (ROOT / "src").rglob("*.rs")}
    statics = [static for text in files.values() for static in STATIC.findall(text)]
    found = [of for _, of in statics if re.search(r"\b(?:ForkSafeMutex|ForkSafeOnce)<", of)]
    assert len(found) > 25, "too few were found"
    code = {name: re.sub(r"//[^\n]*", "", text) for name, text in files.items()}
    assert [name for name, text in code.items() if OF_OTHERS.search(text)] == []
    tests_of_programs = "src/backend/cpu/device_code/tests/"
    assert [
        each
        for name, text in files.items()
        if not name.startswith(tests_of_programs)
        for each in locks_unsafe_after_fork(name, text)
    ] == []


@pytest.mark.enough_on("cpu")
@pytest.mark.parametrize(
    "planted",
    [
        "static TABLE: Mutex<Vec<u8>> = Mutex::new(Vec::new());",
        "type Lists = [Mutex<u8>; 3]; static ALL: Lists = [];",
        "fn f() { static ONCE: std::sync::OnceLock<u8> = OnceLock::new(); }",
    ],
)
def test_static_lock_that_is_unsafe_after_fork_is_detected(planted: str) -> None:
    assert len(locks_unsafe_after_fork("src/a.rs", planted)) == 1


def run(script: str) -> str:
    """Run a script in a separate process and return its output; fail if the process fails or takes more than 110 s."""
    text = "import warnings\nwarnings.simplefilter('ignore')\n" + textwrap.dedent(script)
    command = [sys.executable, "-X", "faulthandler", "-c", text]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, env=dict(os.environ), check=False)
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


FORKS = """
import os, sys, threading, numpy as np, PyGPU
from PyGPU import driver
def forked(work):
    '''Hold that a child does the work, and does not hang.'''
    child = os.fork()
    if child == 0:
        import faulthandler, signal
        faulthandler.register(signal.SIGALRM)  # where it hangs
        signal.alarm(40)
        status = 1
        try:
            work()
            status = 0
        finally:
            if status:
                import traceback
                traceback.print_exc()
                sys.stderr.flush()
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.starts_processes
@needs_kernels
@pytest.mark.skipif(not on_cpu(), reason="a forked child has no GPU")
def test_forked_child_compiles_kernels_while_parent_compiles() -> None:
    # A former defect: a lock that a compiling thread of the parent held at the fork stayed locked in the child.
    run(
        FORKS
        + """
SOURCE = 'extern "C" __global__ void k(double *a) {{ a[threadIdx.x] += {}; }}'
def compile_and_run(number, **keywords):
    kernel = PyGPU.Kernel(SOURCE.format(number), "k", **keywords)
    array = PyGPU.zeros(4, "f8")
    kernel[1, 4](array)
    assert array.get().tolist() == [number] * 4
stop = threading.Event()
def work(first):
    number = first
    while not stop.is_set():
        compile_and_run(number % (first + 50))
        number += 1
compile_and_run(1)
threads = [threading.Thread(target=work, args=(100 * at,)) for at in (1, 2)]
[thread.start() for thread in threads]
try:
    for at in range(8):
        forked(lambda: compile_and_run(10_000 + at))
finally:
    stop.set()
    [thread.join() for thread in threads]
"""
    )


@pytest.mark.starts_processes
def test_forked_child_can_use_host_arrays_while_parent_threads_run() -> None:
    # A former defect: a lock that a copying thread of the parent held at the fork stayed locked in the child.
    run(
        FORKS
        + """
stop = threading.Event()
def work():
    while not stop.is_set():
        array = PyGPU.to_gpu(np.zeros(1 << 19), device="cpu")
        array.get()
        event = PyGPU.Event(device="cpu")
        del event
        PyGPU.arange(1 << 18).get()
        memory = driver.mem_alloc(1 << 16)
        memory.free()
threads = [threading.Thread(target=work) for _ in range(3)]
[thread.start() for thread in threads]
def in_child():
    for _ in range(3):
        array = PyGPU.to_gpu(np.arange(1 << 19), device="cpu")
        assert array.get()[-1] == (1 << 19) - 1
        array[::2] = 3
        PyGPU.Event(device="cpu")
        assert np.from_dlpack(array)[2] == 3
try:
    for _ in range(12):
        forked(in_child)
finally:
    stop.set()
    [thread.join() for thread in threads]
"""
    )


POOL = """
import multiprocessing, sys, numpy as np, PyGPU
def use(array):
    return float(array.get().sum())
def shape(array):
    return repr(array)
def back(array):
    return array
if __name__ == "__main__":
    array = PyGPU.arange(6.0)
    array.mark = "kept"
    with multiprocessing.get_context("fork").Pool(2) as pool:
"""


@pytest.mark.starts_processes
@pytest.mark.skipif(on_cpu(), reason="on the host a forked child works with arrays")
def test_forked_worker_that_receives_gpu_array_raises_without_hang() -> None:
    # A former defect: the worker process ended while it unpickled its task, and the pool waited forever for the result.
    printed = run(
        POOL
        + """
        for function in (use, len, np.asarray):
            try:
                pool.map_async(function, [array] * 3).get(60)
            except PyGPU.ForkError as error:
                assert "spawn" in str(error), error
            else:
                raise AssertionError("no error")
        assert "forked process" in pool.map_async(shape, [array]).get(60)[0]
        again = pool.map_async(back, [array]).get(60)[0]
        assert type(again) is PyGPU.GPUArray and again.tolist() == [0, 1, 2, 3, 4, 5] and again.mark == "kept"
        print("ended")
"""
    )
    assert "ended" in printed.splitlines()


@pytest.mark.starts_processes
@pytest.mark.skipif(not on_cpu(), reason="a forked child has no GPU")
def test_forked_worker_pool_can_use_host_arrays_without_deadlock() -> None:
    printed = run(POOL + "        print(pool.map_async(use, [array] * 3).get(60))\n")
    assert printed.strip() == "[15.0, 15.0, 15.0]"
