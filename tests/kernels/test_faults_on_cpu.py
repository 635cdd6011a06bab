"""Test faults inside CPU kernels: an error names the position of the fault, and the process continues.

Most tests run a kernel in this process. Three kinds of tests run in separate processes: programs without signal
handlers (pytest sets such handlers), Ctrl-C, and faults that end a process.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import PyGPU
from PyGPU.compiler import SourceModule
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.reduction import ReductionKernel

pytestmark = [
    pytest.mark.enough_on("cpu"),
    pytest.mark.skipif(PyGPU.backend_name() != "cpu", reason="faults of kernels on the CPU"),
]

SOURCE = r"""
#include <string.h>
#include <stdexcept>
__device__ int deep(int n, volatile int *p) {
    volatile int big[64];
    big[n & 63] = *p;
    return n < 0 ? 0 : deep(n + 1, p) + big[n & 63];
}
extern "C" {
__global__ void good(int *o) { o[threadIdx.x] = 7; }
__global__ void null(int *o) { o[threadIdx.x + blockIdx.x] = 1; }
__global__ void wild(int *o) {
    if (threadIdx.x == 3 && blockIdx.x == 1) *(volatile int *)0x123456789 = 1;
    __syncthreads();
}
__global__ void nowhere(int *o) { *(volatile int *)0x8000000000000000 = 1; }
__global__ void divides(int *o) { o[0] = 7 / o[1]; }
__global__ void throws(int *o) { throw std::runtime_error("words of its own"); }
__global__ void throws_a_number(int *o) { if (threadIdx.x == 2) throw 3; }
__global__ void recurses(int *o) { o[0] = deep(0, o); }
__global__ void aborts(int *o) { abort(); }
__global__ void traps(int *o) { __builtin_trap(); }
__global__ void copies(int *o) { memcpy((void *)(size_t)(8 + o[0]), o, 64); }
__global__ void beyond_dynamic(int *o) { extern __shared__ int s[]; ((volatile int *)s)[1024] = o[0]; }
__global__ void fails_beside_an_endless_block(volatile int *o) {
    if (blockIdx.x == 300) while (!o[1]) o[0]++;
    for (int i = 0; i < 10000; i++) o[2]++;
    if (blockIdx.x > 400) *(volatile int *)0 = 1;
}
__global__ void endless(volatile int *o) { while (!o[1]) o[0]++; }
__global__ void endless_in_barriers(volatile int *o) { while (!o[1]) { o[0] = 1; __syncthreads(); } }
__global__ void endless_elsewhere(volatile int *o) {
    for (int i = 0; i < 10000; i++) o[2]++;
    if (blockIdx.x == 900) while (!o[1]) o[0]++;
}
__global__ void breaks_the_heap(int *o) { free(o + 1 + o[0]); }
__global__ void prints(int *o) { printf("%s\n", (const char *)(size_t)(8 + o[0])); }
__global__ void calls(int *o) { ((void (*)())(size_t)(o[0] + 0x12345000))(); }
__global__ void first(int *o, int n, const int *unused) { if (threadIdx.x < n) o[threadIdx.x] = 1; }
}
"""
ILLEGAL_ADDRESS, STACK, FAILURE = 700, 714, 719
FAULTS = [
    ("null", ILLEGAL_ADDRESS, "kernel null, block (0,0,0), thread (0,0,0): it reads or writes through a null pointer"),
    ("wild", ILLEGAL_ADDRESS, "kernel wild, block (1,0,0), thread (3,0,0): it reads or writes at address 0x123456789"),
    ("nowhere", ILLEGAL_ADDRESS, "at an address that no memory can have"),
    ("throws", FAILURE, "kernel throws, block (0,0,0), thread (0,0,0): an exception that nobody caught: words of its"),
    ("throws_a_number", FAILURE, "thread (2,0,0): an exception that nobody caught"),
    ("recurses", STACK, "the stack of the thread is full"),
    ("aborts", FAILURE, "abort() was called"),
    ("traps", FAILURE, "an instruction that stops it"),
    (
        "copies",
        ILLEGAL_ADDRESS,
        "kernel copies, block (0,0,0), thread (0,0,0): it reads or writes through a null pointer",
    ),
    ("calls", ILLEGAL_ADDRESS, "at address 0x12345000, where there is no memory"),
    ("beyond_dynamic", ILLEGAL_ADDRESS, "beyond the dynamic shared memory, of which the launch gave 64 bytes"),
]
if os.uname().machine == "x86_64":  # Processors of other architectures raise no fault for a division by zero.
    FAULTS.append(("divides", FAILURE, "integer division by zero"))

IN_A_CHILD = """
import sys
import numpy as np
import PyGPU
module = PyGPU.Module(open(sys.argv[1]).read())
out = PyGPU.zeros(64, np.int32)
"""


@pytest.fixture(scope="module")
def module() -> PyGPU.Module:
    return PyGPU.Module(SOURCE)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("faults") / "source.cu"
    path.write_text(SOURCE)
    return path


def child(source: Path, text: str, **environment: str) -> subprocess.Popen:
    command = [sys.executable, "-c", IN_A_CHILD + text, str(source)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env={**os.environ, **environment})


def out() -> PyGPU.GPUArray:
    return PyGPU.zeros(64, np.int32)


@pytest.mark.parametrize(("name", "code", "text"), FAULTS, ids=[fault[0] for fault in FAULTS])
def test_fault_in_cpu_kernel_raises_error_naming_kernel_and_thread(
    module: PyGPU.Module, name: str, code: int, text: str
) -> None:
    kernel, good = module.get_function(name), module.get_function("good")
    for _ in range(2):  # Run the kernel twice: a second fault in the same process must raise the same error.
        with pytest.raises(PyGPU.CudaError) as raised:
            kernel[2, 32, None, 64](0 if name == "null" else out())
        assert raised.value.code == code
        assert text in str(raised.value)
        after = out()
        good[1, 64](after)
        assert (after.get() == 7).all()


def test_fault_in_one_thread_ends_endless_loops_of_other_threads(module: PyGPU.Module) -> None:
    with pytest.raises(PyGPU.CudaError, match="null pointer"):
        module.get_function("fails_beside_an_endless_block")[1000, 1](out())


@pytest.mark.starts_processes
def test_process_without_signal_handlers_survives_every_kernel_fault(source: Path) -> None:
    names = [fault[0] for fault in FAULTS]
    text = f"""
for name in {names}:
    try:
        module.get_function(name)[2, 32, None, 64](0 if name == "null" else out)
    except PyGPU.CudaError as error:
        print(error.code, flush=True)
module.get_function("good")[1, 64](out)
print(out.get().sum())
"""
    process = child(source, text)
    printed, errors = process.communicate(timeout=100)
    assert (process.returncode, errors) == (0, "")
    assert printed.split() == [str(fault[1]) for fault in FAULTS] + [str(64 * 7)]


CTRL_C = """
import ctypes, os, signal, threading, time
def press_when_it_runs():
    while ctypes.c_int.from_address(out.ptr).value == 0:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)
def start(name):
    out.fill(0)
    threading.Thread(target=press_when_it_runs).start()
    module.get_function(name)[1000, 32](out)
"""


@pytest.mark.starts_processes
def test_ctrl_c_interrupts_endless_kernel(source: Path) -> None:
    text = """
for name in ("endless", "endless_in_barriers", "endless_elsewhere"):
    try:
        start(name)
    except KeyboardInterrupt:
        print(name)
"""
    process = child(source, CTRL_C + text)
    printed, errors = process.communicate(timeout=100)
    assert (process.returncode, errors) == (0, "")
    assert printed.split() == ["endless", "endless_in_barriers", "endless_elsewhere"]


@pytest.mark.starts_processes
def test_user_signal_handler_receives_ctrl_c_and_kernel_continues(source: Path) -> None:
    text = """
def handler(*_):
    print("seen", flush=True)
    out[1] = 1
signal.signal(signal.SIGINT, handler)
start("endless")
print("ended by itself")
"""
    process = child(source, CTRL_C + text)
    printed, errors = process.communicate(timeout=100)
    assert (process.returncode, errors, printed) == (0, "", "seen\nended by itself\n")


@pytest.mark.starts_processes
@pytest.mark.skipif(sys.platform != "linux", reason="the C library's words")
@pytest.mark.parametrize(("name", "number"), [("breaks_the_heap", signal.SIGABRT), ("prints", signal.SIGSEGV)])
def test_fault_that_ends_process_is_reported_with_kernel_name(source: Path, name: str, number: signal.Signals) -> None:
    process = child(source, f'module.get_function("{name}")[1, 1](out)')
    _, errors = process.communicate(timeout=100)
    assert process.returncode == -number
    assert f"PyGPU: {number.name} in kernel {name}, block (0,0,0), thread (0,0,0)" in errors


@pytest.mark.starts_processes
def test_fault_outside_kernels_reaches_previous_signal_handler(source: Path) -> None:
    text = """
import ctypes, faulthandler
faulthandler.enable()
module.get_function("good")[1, 64](out)
again = PyGPU.Module("__global__ void another(int *o) { *o = 1; }")  # whose load sets the handlers before others
ctypes.string_at(1)
"""
    process = child(source, text)
    _, errors = process.communicate(timeout=100)
    assert process.returncode == -signal.SIGSEGV
    assert "Fatal Python error: Segmentation fault" in errors
    assert "PyGPU:" not in errors


def test_kernel_write_past_end_of_array_is_reported_once(module: PyGPU.Module) -> None:
    kernel = module.get_function("first")
    array, other = PyGPU.zeros((3, 5), np.int32), PyGPU.zeros(3, np.int32)
    kernel[1, 32](array, np.int32(15), other)
    # These offsets are in the red zone, that is, in the guard bytes that follow the block. Larger offsets would damage
    # the heap.
    for beyond in (1, 3, 8):
        with pytest.raises(PyGPU.CudaError) as raised:
            kernel[1, 32](array, np.int32(15 + beyond), other)
        assert raised.value.code == ILLEGAL_ADDRESS
        assert "kernel first wrote beyond the end of the 60 bytes of argument 1" in str(raised.value)
        assert f"an array of shape (3, 5) and int32: at least {4 * beyond} bytes behind it" in str(raised.value)
        kernel[1, 32](array, np.int32(15), other)


def test_write_past_end_of_view_is_reported_only_past_end_of_block(module: PyGPU.Module) -> None:
    kernel, unused = module.get_function("first"), PyGPU.zeros(3, np.int32)
    array = PyGPU.zeros(8, np.int32)
    # The kernel writes past the end of the view but within its memory block, so the write is no overrun.
    kernel[1, 32](array[:4], np.int32(8), unused)
    with pytest.raises(PyGPU.CudaError, match="of the 32 bytes of argument 1, an array of shape"):
        kernel[1, 32](array[4:], np.int32(5), unused)
    block = PyGPU.driver.mem_alloc(16)
    with pytest.raises(PyGPU.CudaError, match="beyond the end of the 16 bytes"):
        module.get_function("first")[1, 32](block, np.int32(5), unused)


def test_elementwise_kernel_write_past_end_of_array_is_reported() -> None:
    scale = ElementwiseKernel("const int *x, int *z", "z[i + 1] = 2 * x[i]", "scale")
    x, z = PyGPU.zeros(10, np.int32), PyGPU.zeros(10, np.int32)
    with pytest.raises(PyGPU.CudaError, match="kernel scale wrote beyond the end of the 40 bytes of the array z"):
        scale(x, z)


def test_reduction_kernel_write_past_end_of_array_is_reported() -> None:
    total = ReductionKernel(np.int32, "0", "a + b", "(z[i + 1] = x[i])", "const int *x, int *z", "total")
    x, z = PyGPU.zeros(10, np.int32), PyGPU.zeros(10, np.int32)
    with pytest.raises(PyGPU.CudaError, match="kernel total wrote beyond the end of the 40 bytes of the array z"):
        total(x, z)


def test_write_past_end_of_captured_array_is_reported_at_graph_launch(module: PyGPU.Module) -> None:
    kernel, unused = module.get_function("first"), PyGPU.zeros(3, np.int32)
    array, count = PyGPU.zeros(15, np.int32), 16
    with PyGPU.Graph() as graph:
        kernel[1, 32](array, np.int32(count), unused)
    for _ in range(2):
        with pytest.raises(PyGPU.CudaError, match="of the graph wrote beyond the end of the 60 bytes") as raised:
            graph.launch()
        assert raised.value.code == ILLEGAL_ADDRESS
    np.testing.assert_array_equal(array.get(), np.ones(15, np.int32))


@pytest.mark.parametrize("spelled", ["int", "numpy", "prepared"])
def test_write_past_end_of_block_passed_as_integer_address_is_reported(spelled: str) -> None:
    function = SourceModule("__global__ void put(int *out) { out[threadIdx.x] = 1; }").get_function("put")
    array = PyGPU.zeros(8, np.int32)
    address = {"int": array.ptr, "numpy": np.intp(array.ptr), "prepared": int(array.gpudata)}[spelled]
    if spelled == "prepared":
        function.prepare("P")
        launch = lambda threads: function.prepared_call((1, 1), (threads, 1, 1), address)  # noqa: E731
    else:
        launch = lambda threads: function(address, block=(threads, 1, 1))  # noqa: E731
    launch(8)
    with pytest.raises(PyGPU.CudaError, match="kernel put wrote beyond the end of the 32 bytes"):
        launch(9)


@pytest.mark.reads_in_place
def test_write_past_end_of_memory_not_owned_by_pygpu_is_unreported(module: PyGPU.Module) -> None:
    host = np.zeros(32, np.int32)
    module.get_function("first")[1, 32](PyGPU.asarray(host[:4]), np.int32(9), PyGPU.zeros(1, np.int32))
    assert host.sum() in (0, 9)  # In strict mode `asarray` makes a copy, and the elements of `host` stay 0.
