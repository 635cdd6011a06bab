"""Run ``python -m PyGPU test``: test the installed PyGPU on the devices of this machine, within seconds.

Each check is a small computation whose results are compared with NumPy's. The command prints one line for each check,
with the reason if it failed.
"""

import argparse
import importlib
import importlib.util
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy

import PyGPU

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C order": lambda a: a,
    "F order": lambda a: a.T,
    "every second": lambda a: a[:, ::2],
    "backwards": lambda a: a[::-1, ::-1],
    "an odd place": lambda a: a.reshape(-1)[1:],
    "broadcast": lambda a: a[:1, :1],
    "no axes": lambda a: a[3, 4, ...],
    "empty": lambda a: a[:, :0],
}
KERNEL = """
extern "C" __global__ void scale(float *to, const float *from, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = by * from[i];
}
"""
SCALED = 1000


class Skipped(Exception):
    """Exception that a check raises if it cannot run on this machine."""


class Wrong(Exception):
    """Exception that a check raises if results differ from NumPy's."""


class Check(NamedTuple):
    """Check of the installation: its name in the report, and the function that runs it."""

    what: str
    make: Callable[[PyGPU.Device], str | None]


def values() -> numpy.ndarray[Any, Any]:
    """Return an array of distinct nonzero values, so that missing or misplaced elements are noticed."""
    return numpy.arange(1, 48 * 64 + 1, dtype=numpy.float32).reshape(48, 64)


def same(got: Any, expected: Any, what: str = "values", tolerance: float = 0) -> None:
    """Raise `Wrong` if results differ from the expected results by more than a tolerance."""
    got, expected = numpy.asarray(got), numpy.asarray(expected)
    if got.shape != expected.shape:
        raise Wrong(f"{what}: the shape is {got.shape}, and {expected.shape} is right")
    wrong_indices = numpy.argwhere(~numpy.isclose(got, expected, rtol=tolerance, atol=0))
    if len(wrong_indices):
        index = tuple(map(int, wrong_indices[0]))
        raise Wrong(
            f"{what}: {len(wrong_indices)} of {got.size} are wrong, at {index} {got[index]} in the place "
            f"of {expected[index]}"
        )


def check_upload(device: PyGPU.Device) -> str:
    """Check that arrays of every memory layout are uploaded correctly."""
    for name, select in LAYOUTS.items():
        host = select(values())
        same(PyGPU.to_gpu(host, device=device).get(), host, name)
    return f"{len(LAYOUTS)} layouts"


def check_download(device: PyGPU.Device) -> str:
    """Check that views of every memory layout are downloaded correctly and can be assigned to."""
    host, array = values(), PyGPU.to_gpu(values(), device=device)
    for name, select in LAYOUTS.items():
        same(select(array)[...].get(), select(host), name)
        target, host_target = PyGPU.to_gpu(host, device=device), host.copy()
        select(target)[...] = select(host) + 1
        select(host_target)[...] = select(host) + 1
        same(target.get(), host_target, name)
    return f"{len(LAYOUTS)} layouts, and written into"


def large_copy(device: PyGPU.Device) -> str:
    """Check copies of large arrays, from pageable and from pinned memory to the device and back, in several chunks."""
    host = numpy.arange(8 << 20, dtype=numpy.int32)
    array = PyGPU.to_gpu(host, device=device)
    pinned = PyGPU.empty_like_pinned(host)
    same(array.get(), host)
    same(array.get(pinned), host)
    return "32 MiB, ordinary and pinned memory"


def same_device_copy(device: PyGPU.Device) -> str:
    """Check copies within a device, including copies between overlapping parts of an array."""
    host, array = values(), PyGPU.to_gpu(values(), device=device)
    transposed = PyGPU.empty((64, 48), numpy.float32, device=device)
    transposed[...] = array.T
    same(transposed.get(), host.T)
    array[1:] = array[:-1]
    host[1:] = host[:-1].copy()
    same(array.get(), host)
    return "turned, and overlapping"


def without_a_compiler(error: PyGPU.BackendUnavailableError) -> str:
    """Return the message for a missing compiler; the message recommends how to install a compiler."""
    first = str(error).splitlines()[0]
    return f"no compiler of kernels: {first.removesuffix('; looked for:').removesuffix('; searched:')}"


def module_of(device: PyGPU.Device) -> Any:
    """Compile the module of the test kernel, or load it from the cache."""
    with device:
        try:
            return PyGPU.Module(KERNEL)
        except PyGPU.BackendUnavailableError as error:
            raise Skipped(without_a_compiler(error)) from None


def scaled(device: PyGPU.Device) -> float:
    """Load and launch the test kernel, and return the load time in milliseconds."""
    begin = time.perf_counter()
    module = module_of(device)
    seconds = time.perf_counter() - begin
    host = values().reshape(-1)[:SCALED]
    source, target = PyGPU.to_gpu(host, device=device), PyGPU.zeros(SCALED, numpy.float32, device=device)
    module["scale"][-(-SCALED // 128), 128](target, source, numpy.float32(2), numpy.int32(SCALED))
    same(target.get(), 2 * host)
    return 1000 * seconds


def kernel(device: PyGPU.Device) -> str:
    """Check that a kernel compiles and computes correct results."""
    return f"compiled or found, and loaded, in {scaled(device):.0f} ms"


def cached_kernel(device: PyGPU.Device) -> str:
    """Check that a second load of the test kernel finds the kernel in the cache."""
    return f"found again in {scaled(device):.1f} ms"


def order(device: PyGPU.Device) -> str:
    """Check that an array can be used on two streams and freed without synchronization."""
    with device:
        first, second = PyGPU.Stream(), PyGPU.Stream()
    for repetition in range(20):
        with first:
            array = PyGPU.full(1 << 18, repetition, numpy.int32, device=device)
        with second:
            array_copy = array.copy()
        with first:
            array.fill(-1)
        del array
        same(array_copy.get(), numpy.full(1 << 18, repetition, numpy.int32))
    return "20 times write, read on another stream, write, free"


def event(device: PyGPU.Device) -> None:
    """Check that an event is complete after the host has waited for it."""
    with device:
        end = PyGPU.Event()
        PyGPU.to_gpu(values(), device=device)
        end.record()
        end.synchronize()
        if not end.query():
            raise Wrong("an event that was waited for is not reached")


def requires_compiler(check: Callable[[PyGPU.Device], str | None]) -> Callable[[PyGPU.Device], str | None]:
    """Return a function that runs a check, or skips the check if the compiler is missing."""

    def checked(device: PyGPU.Device) -> str | None:
        try:
            return check(device)
        except PyGPU.BackendUnavailableError as error:
            raise Skipped(without_a_compiler(error)) from None

    return checked


def arithmetic(device: PyGPU.Device) -> str:
    """Check elementwise operations."""
    host, array = values(), PyGPU.to_gpu(values(), device=device)
    same((array + array.T.copy().T * 2).get(), host + host * 2)
    same(PyGPU.sqrt(array).get(), numpy.sqrt(host), tolerance=1e-6)
    return "a + 2*b, sqrt"


def reductions(device: PyGPU.Device) -> str:
    """Check the sum of all elements and sums along an axis."""
    host, array = values(), PyGPU.to_gpu(values(), device=device)
    same(array.sum(axis=1).get(), host.sum(axis=1), tolerance=1e-5)
    same(array.argmax().get(), host.argmax(), "argmax")
    return "sum, argmax"


def products(device: PyGPU.Device) -> str:
    """Check matrix products."""
    host, array = values() / 3000, PyGPU.to_gpu(values() / 3000, device=device)
    same((array @ array.T).get(), host @ host.T, tolerance=1e-4)
    return "a @ a.T"


CHECKS = [
    Check("copies to the device", check_upload),
    Check("copies from the device", check_download),
    Check("large copies", large_copy),
    Check("copies within the device", requires_compiler(same_device_copy)),
    Check("kernel", kernel),
    Check("kernel from the cache", cached_kernel),
    Check("order across streams", requires_compiler(order)),
    Check("events", event),
    Check("arithmetic", requires_compiler(arithmetic)),
    Check("reductions", requires_compiler(reductions)),
    Check("products", requires_compiler(products)),
]


def exchange(device: PyGPU.Device, import_array: Callable[[PyGPU.GPUArray], Any]) -> None:
    """Check that another library receives a PyGPU array, adds 1 to each element, and returns the array."""
    imported = import_array(PyGPU.to_gpu(values(), device=device))
    imported += 1
    same(PyGPU.from_dlpack(imported).get(), values() + 1)


def with_torch(device: PyGPU.Device) -> str:
    """Check that an array can be passed to PyTorch and back."""
    torch = importlib.import_module("torch")
    if device.kind != "cpu" and not torch.cuda.is_available():
        raise Skipped(f"torch {torch.__version__} sees no GPU")
    exchange(device, torch.from_dlpack)
    return f"{torch.__version__}, shared both ways"


def with_cupy(device: PyGPU.Device) -> str:
    """Check that an array can be passed to CuPy and back."""
    cupy = importlib.import_module("cupy")
    if device.kind == "cpu" or not cupy.cuda.runtime.getDeviceCount():
        raise Skipped("no GPU for it")
    exchange(device, cupy.from_dlpack)
    return f"{cupy.__version__}, shared both ways"


def with_jax(device: PyGPU.Device) -> str:
    """Check that an array can be passed to JAX and back."""
    jax = importlib.import_module("jax")
    if device.kind != "cpu" and jax.default_backend() == "cpu":
        raise Skipped(f"jax {jax.__version__} sees no GPU")
    exchange(device, jax.dlpack.from_dlpack)
    return f"{jax.__version__}, both ways"


def with_numba(device: PyGPU.Device) -> str:
    """Check that Numba reads an array without a copy."""
    cuda = importlib.import_module("numba.cuda")
    if device.kind != "cuda" or not cuda.is_available():
        raise Skipped("no GPU for it")
    array = PyGPU.to_gpu(values(), device=device)
    same(cuda.as_cuda_array(array).copy_to_host(), values())
    return "seen in place"


def with_mpi(device: PyGPU.Device) -> str:
    """Check that this process can send an array to itself by MPI."""
    mpi = importlib.import_module("mpi4py.MPI")
    if device.kind != "cpu":
        raise Skipped("sends from a device need an MPI that was built for it")
    array, received = PyGPU.to_gpu(values(), device=device), PyGPU.empty((48, 64), numpy.float32, device=device)
    mpi.COMM_SELF.Sendrecv(array, 0, recvbuf=received, source=0)
    same(received.get(), values())
    return "sent and received"


NEIGHBOURS = {"torch": with_torch, "cupy": with_cupy, "jax": with_jax, "numba": with_numba, "mpi4py": with_mpi}


def verdict(make: Callable[[PyGPU.Device], str | None], device: PyGPU.Device) -> tuple[str, str]:
    """Run a check, and return the outcome and the message for the report."""
    try:
        return "ok", make(device) or ""
    except Skipped as skipped:
        return "skipped", str(skipped)
    except Exception as error:  # Every exception, also of a driver or of another library, means that the check failed.
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return "FAILED", f"{type(error).__name__}: {' '.join(lines[:6])}"


def is_installed(name: str) -> bool:
    """Test whether a library is installed, without importing it."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def devices(names: list[str] | None) -> list[PyGPU.Device]:
    """List the requested devices, or all devices of the backend."""
    return [PyGPU.Device(name) for name in names] if names else [*map(PyGPU.Device, range(PyGPU.device_count()))]


def lines(selected_devices: list[PyGPU.Device], has_neighbours: bool, end: float) -> Iterator[tuple[str, str, str]]:
    """Run the checks and yield their results; checks after the time limit are skipped.

    The exchange with other libraries is checked on the first device only.
    """
    checks = [(f"{device}: {check.what}", check.make, device) for device in selected_devices for check in CHECKS]
    if has_neighbours:
        installed = [name for name in NEIGHBOURS if is_installed(name)]
        checks += [(f"{selected_devices[0]}: {name}", NEIGHBOURS[name], selected_devices[0]) for name in installed]
    for what, make, device in checks:
        if time.perf_counter() > end:
            yield what, "skipped", "no time left (--seconds)"
            continue
        outcome, message = verdict(make, device)
        yield what, outcome, message


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command-line options of ``test`` to a parser."""
    parser.description = "Check that PyGPU works on this machine's devices, a line each; the exit status says whether."
    parser.epilog = "example: python -m PyGPU test --device cpu --no-neighbours --json"
    parser.add_argument("--device", nargs="+", metavar="DEVICE", help="such as cuda:1 or cpu; all by default")
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print the results as JSON")
    parser.add_argument("--no-neighbours", action="store_true", help="leave torch, CuPy, JAX, Numba, mpi4py out")
    parser.add_argument("--seconds", type=float, default=20, help="begin no check later than this (20)")


def run(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Run the command ``test``: run the checks on all devices, and return 1 if a check failed."""
    begin = time.perf_counter()
    try:
        selected_devices = devices(arguments.device)
    except (ValueError, PyGPU.BackendUnavailableError, PyGPU.CudaError) as error:
        parser.error(str(error))
    results = lines(selected_devices, not arguments.no_neighbours, begin + arguments.seconds)
    has_failed = (print_json if arguments.json else print_lines)(selected_devices, results, begin)
    if has_failed:
        sys.exit(1)


def print_lines(selected_devices: list[PyGPU.Device], results: Iterable[tuple[str, str, str]], begin: float) -> bool:
    """Print the versions, the devices, each result after its check, and the totals; return whether a check failed."""
    versions = f"PyGPU {PyGPU.__version__}, Python {sys.version.split()[0]}, NumPy {numpy.__version__}"
    print(f"{versions}, backend {PyGPU.backend_name()}", flush=True)
    for device in selected_devices:
        print(f"{device}: {PyGPU.device_properties(device)['name']}", flush=True)
    counts = {"ok": 0, "skipped": 0, "FAILED": 0}
    for what, outcome, message in results:
        counts[outcome] += 1
        print(f"{outcome:<8} {what}{f': {message}' if message else ''}", flush=True)
    summary = ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
    print(f"{summary} in {time.perf_counter() - begin:.1f} s")
    return counts["FAILED"] > 0


def print_json(selected_devices: list[PyGPU.Device], results: Iterable[tuple[str, str, str]], begin: float) -> bool:
    """Print one JSON object with the versions, the devices and all results; return whether a check failed."""
    checks = []
    for what, outcome, message in results:
        device, _, check = what.partition(": ")
        checks.append({"device": device, "check": check, "outcome": outcome.lower(), "message": message})
    report = {
        "PyGPU": PyGPU.__version__,
        "python": sys.version.split()[0],
        "numpy": numpy.__version__,
        "backend": PyGPU.backend_name(),
        "devices": {str(device): PyGPU.device_properties(device)["name"] for device in selected_devices},
        "checks": checks,
        "seconds": time.perf_counter() - begin,
    }
    print(json.dumps(report, indent=1))
    return any(check["outcome"] == "failed" for check in checks)
