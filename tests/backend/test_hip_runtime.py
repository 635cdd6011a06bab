"""Test the HIP backend with AMD's runtime on a machine without an AMD GPU.

`make test` unpacks the runtime into build/amd (tests/fetch_amd_runtime.sh). The runtime is HIP 5.2, the oldest version
that PyGPU supports: PyGPU may require only functions that HIP 5.2 exports.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import vendor_calls

pytestmark = pytest.mark.enough_on("cpu")

ROOT = Path(__file__).parents[2]
VARIABLES = ("PYGPU_BACKEND", "_VISIBLE_DEVICES")
FOLDER = ROOT / "build" / "amd"
HAS_SOURCES = (ROOT / "src").is_dir()


@pytest.fixture(scope="module")
def runtime() -> Path:
    """Return the folder of AMD's runtime libraries, or skip the test if the folder does not exist."""
    if Path("/dev/kfd").exists():
        pytest.skip("this machine has an AMD GPU, or at least its kernel driver")
    if (FOLDER / "why-not").exists():
        pytest.skip((FOLDER / "why-not").read_text().strip())
    if not (FOLDER / ".ready").exists():
        pytest.skip("AMD's runtime is not in build/amd: 'make test' unpacks it there, where there is Debian's apt")
    return Path((FOLDER / ".ready").read_text().strip())


def run(runtime: Path, code: str, **environment: str) -> subprocess.CompletedProcess:
    """Run Python in a separate process that finds AMD's runtime; raise an error if it takes more than 60 s."""
    settings = {name: value for name, value in os.environ.items() if not name.endswith(VARIABLES)}
    settings |= {"LD_LIBRARY_PATH": str(runtime)} | environment
    command = [sys.executable, "-c", f"import PyGPU\n{code}"]
    return subprocess.run(command, capture_output=True, text=True, env=settings, check=False, timeout=60)


CONFIGURATION = """
entry = PyGPU.config()["backends"][1]
for name in ("name", "available", "driver_version", "library", "reason"):
    print(entry[name])
"""


def test_config_finds_hip_runtime_and_reports_missing_device(runtime: Path) -> None:
    done = run(runtime, CONFIGURATION)
    assert (done.returncode, done.stderr) == (0, "")
    name, available, version, library, reason = done.stdout.splitlines()
    assert (name, available) == ("hip", "False")
    assert version.startswith("502")
    assert Path(library).parent == runtime
    # The error comes from the initialization of the driver, so PyGPU found all required functions in the library.
    assert re.match(r"there is no AMD GPU, .*: hip\w+ failed: hipError(NoDevice \(100\)|InvalidDevice \(101\))", reason)


def test_default_backend_is_cpu_or_cuda_without_hip_device(runtime: Path) -> None:
    done = run(runtime, "print(PyGPU.backend_name() in ('cpu', 'cuda'), (PyGPU.zeros(3, 'int8')).get().tolist())")
    assert (done.returncode, done.stdout, done.stderr) == (0, "True [0, 0, 0]\n", "")


def test_forced_hip_backend_without_device_raises_error_with_code(runtime: Path) -> None:
    for call in ("PyGPU.Device()", "PyGPU.zeros(3)", "PyGPU.current_stream()"):
        done = run(runtime, call, PYGPU_BACKEND="hip")
        assert (done.returncode, done.stdout) == (1, "")
        last = [line for line in done.stderr.splitlines() if "Error" in line][-1]
        assert "BackendUnavailableError: PYGPU_BACKEND=hip asks for the hip backend, but it cannot be used" in last
        assert re.search(r"hipError\w+ \(10[01]\)", last)


def test_config_reason_contains_variable_that_hides_devices(runtime: Path) -> None:
    done = run(runtime, "PyGPU.Device()", PYGPU_BACKEND="hip", HIP_VISIBLE_DEVICES="7")
    assert "[HIP_VISIBLE_DEVICES=7]" in done.stderr


def test_configuration_contains_version_of_hip_runtime(runtime: Path) -> None:
    done = run(runtime, "PyGPU.show_config()")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^  hip: not available: .*, driver 5\.2\.\d+, /", done.stdout, re.MULTILINE), done.stdout


THREADS = """
import os, threading
def ask():
    try: PyGPU.Device('hip:0')
    except PyGPU.BackendUnavailableError: errors.append(1)
errors = []
threads = [threading.Thread(target=ask) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
child = os.fork()
if child == 0:
    try: PyGPU.Device('hip:0')
    except PyGPU.BackendUnavailableError: os._exit(0)
    os._exit(1)
print(len(errors), os.waitpid(child, 0)[1])
"""


def test_hip_without_device_raises_in_threads_and_in_forked_child(runtime: Path) -> None:
    done = run(runtime, THREADS)
    assert (done.returncode, done.stdout, done.stderr) == (0, "8 0\n", "")


@pytest.mark.skipif(not HAS_SOURCES, reason="the sources are not here")
def test_oldest_hip_runtime_has_every_required_function(runtime: Path) -> None:
    code = f"""
import ctypes
library = ctypes.CDLL('libamdhip64.so.5')
for name in {[*vendor_calls.all_of("hip"), "hipRuntimeGetVersion"]!r}:
    if not hasattr(library, name): print(name)
"""
    done = run(runtime, code)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(vendor_calls.required("hip")) > 40
    absent = done.stdout.splitlines()
    assert "hipGetDevicePropertiesR0600" in absent
    assert not set(absent) & set(vendor_calls.required("hip"))


@pytest.mark.skipif(not HAS_SOURCES, reason="the sources are not here")
def test_hip_on_cuda_library_exports_every_listed_function() -> None:
    forwarded = (ROOT / "tests" / "gpu" / "hip_on_cuda" / "hip_on_cuda.c").read_text()
    for name in [*vendor_calls.all_of("hip"), "hipRuntimeGetVersion"]:
        assert re.search(rf"\b{name}\b", forwarded), name


COMPILE = """
import ctypes, importlib.util
library = ctypes.CDLL("libamdhip64.so.5")
name, path, *words = {arguments!r}
spec = importlib.util.spec_from_file_location(name, path)
example = importlib.util.module_from_spec(spec)
spec.loader.exec_module(example)
program, size = ctypes.c_void_p(), ctypes.c_size_t()
library.hiprtcCreateProgram(ctypes.byref(program), example.SOURCE.encode(), b"kernel.cu", 0, None, None)
options = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
code = library.hiprtcCompileProgram(program, len(words), options)
library.hiprtcGetProgramLogSize(program, ctypes.byref(size))
log = ctypes.create_string_buffer(size.value + 1)
library.hiprtcGetProgramLog(program, log)
print(code, log.value.decode())
"""


@pytest.mark.skipif(not HAS_SOURCES, reason="the sources are not here")
@pytest.mark.parametrize("name", ["all_backends", "mandelbrot", "matmul", "reduction", "saxpy", "streams"])
def test_hiprtc_compiles_source_of_each_example(runtime: Path, name: str) -> None:
    words = ["--offload-arch=gfx90a:sramecc+:xnack-", "-std=c++17", "-DTILE=16"]
    arguments = [name, str(ROOT / "examples" / f"{name}.py"), *words]
    done = run(runtime, COMPILE.format(arguments=arguments), PYGPU_BACKEND="cpu")
    assert (done.returncode, done.stdout.strip()) == (0, "0"), done.stdout + done.stderr


def special_headers() -> str:
    """Return the source of all headers of special functions, in an order in which each header follows the headers that
    it includes."""
    include = ROOT / "src/ops/include"
    folder = ROOT / "src/ops/ufunc/special"
    pattern = r'static (\w+): Header =\s*Header::of\(\s*include_str!\("([^"]+)"\),\s*&\[([^]]*)\],?\s*\)'
    entries: dict[str, tuple[str, list[str]]] = {}
    for file in folder.glob("*.rs"):
        # A header that xsf.rs defines has the name `xsf::NAME` in other Rust files.
        scope = "xsf::" if file.stem == "xsf" else ""
        for name, path, uses in re.findall(pattern, file.read_text(encoding="utf-8")):
            entries[scope + name] = path, [scope + use for use in re.findall(r"(?:xsf::)?[A-Z]\w+", uses)]
    texts: dict[str, str] = {}

    def add(name: str) -> None:
        path, uses = entries[name]
        for use in uses:
            add(use)
        texts[name] = (folder / path).read_text(encoding="utf-8")

    for name in entries:
        if "arithmetic.h" not in entries[name][0]:
            add(name)
    complex_numbers = ROOT / "python/PyGPU/include/user/pycuda-complex.hpp"
    return "\n".join(
        path.read_text(encoding="utf-8") for path in (include / "c_standard_library.h", complex_numbers)
    ) + "".join(texts.values())


@pytest.mark.skipif(not HAS_SOURCES, reason="the sources are not here")
def test_hiprtc_compiles_headers_of_special_functions(runtime: Path, tmp_path: Path) -> None:
    source = special_headers()
    assert source.count("namespace pygpu_xsf") > 50
    (tmp_path / "special.py").write_text(f"SOURCE = {source!r}", encoding="utf-8")
    arguments = ["special", str(tmp_path / "special.py"), "--offload-arch=gfx90a:sramecc+:xnack-", "-std=c++17"]
    done = run(runtime, COMPILE.format(arguments=arguments), PYGPU_BACKEND="cpu")
    assert (done.returncode, done.stdout.strip()) == (0, "0"), done.stdout[-2000:] + done.stderr
