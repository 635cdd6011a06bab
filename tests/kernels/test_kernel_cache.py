"""Test the kernel cache: changed headers are detected, and only files that no other user can write are trusted."""

import atexit
import functools
import hashlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import PyGPU
from PyGPU.compiler import SourceModule, compile
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.reduction import ReductionKernel
from PyGPU.scan import InclusiveScanKernel
from support import child_environment
from support_kernels import needs_kernels

# On simulated HIP the tests are skipped, because PyGPU finds included files for CUDA and HIP by the same code. On the
# CPU backend, the compiler reports the included files.
pytestmark = [needs_kernels, pytest.mark.enough_on("cpu", "cuda")]
KERNEL = '\nextern "C" __global__ void put(int *x) { *x = VALUE; }\n'


def value_of(source: str, folder: Path, options: list[str] | None = None) -> int:
    module = SourceModule(source, no_extern_c=True, cache_dir=folder, options=options)
    array = PyGPU.zeros(1, "i4")
    module.get_function("put")(array, block=(1, 1, 1))
    return int(array.get()[0])


def entries(folder: Path) -> list[Path]:
    return sorted((folder / "kernels").glob("*.pgk")) if (folder / "kernels").exists() else []


def write(path: Path, value: int) -> None:
    path.write_text(f"#define VALUE {value}\n")


INCLUDES = {
    "an absolute path": '#include "{folder}/v.h"',
    "a macro": '#define H "{folder}/v.h"\n#include H',
    "a digraph": '%:include "{folder}/v.h"',
    "a spliced line": '#inc\\\nlude "{folder}/v.h"',
    "has_include": '#if __has_include("{folder}/v.h")\n#include "{folder}/v.h"\n#endif',
    "through another": '#include "{folder}/through.h"',
}


@pytest.mark.parametrize("include", INCLUDES.values(), ids=INCLUDES.keys())
def test_changed_header_is_detected_for_any_form_of_include(tmp_path: Path, include: str) -> None:
    headers, cache = tmp_path / "headers", tmp_path / "cache"
    headers.mkdir()
    (headers / "through.h").write_text('#include "v.h"\n')
    source = include.format(folder=headers) + KERNEL
    for value in (11, 22):
        write(headers / "v.h", value)
        assert value_of(source, cache, [f"-I{headers}"]) == value


@pytest.mark.parametrize("option", ["-include", "-isystem", "-iquote", "-imacros"])
def test_changed_header_included_by_compiler_option_is_detected(tmp_path: Path, option: str) -> None:
    if option in ("-iquote", "-imacros") and PyGPU.backend_name() != "cpu":
        pytest.skip("an option of the machine's compiler")
    headers, cache = tmp_path / "headers", tmp_path / "cache"
    headers.mkdir()
    names_file = option in ("-include", "-imacros", "--pre-include")
    source = KERNEL if names_file else '#include "v.h"\n' + KERNEL
    for value in (11, 22):
        write(headers / "v.h", value)
        assert value_of(source, cache, [option, str(headers / "v.h" if names_file else headers)]) == value


@pytest.mark.skipif(PyGPU.backend_name() != "cpu", reason="the machine's compiler looks into CPATH, NVRTC does not")
@pytest.mark.parametrize("variable", ["CPATH", "CPLUS_INCLUDE_PATH"])
def test_changed_header_and_changed_include_variable_are_detected(tmp_path: Path, variable: str) -> None:
    script = (
        "import sys; from pathlib import Path; from test_kernel_cache import value_of, KERNEL\n"
        "print(value_of('#include <v.h>\\n' + KERNEL, Path(sys.argv[1])))"
    )
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
    write(tmp_path / "first" / "v.h", 11)
    write(tmp_path / "second" / "v.h", 33)

    def value(folder: str) -> int:
        environment = {**child_environment(Path(__file__).parent), variable: str(tmp_path / folder)}
        command = [sys.executable, "-c", script, str(tmp_path / "cache")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=100)
        return int(done.stdout)

    assert value("first") == 11
    write(tmp_path / "first" / "v.h", 22)
    assert value("first") == 22
    assert value("second") == 33


def test_header_added_earlier_on_include_path_is_detected(tmp_path: Path) -> None:
    first, second, cache = tmp_path / "first", tmp_path / "second", tmp_path / "cache"
    first.mkdir(), second.mkdir()
    write(second / "v.h", 11)
    source = "#if __has_include(<more.h>)\n#include <more.h>\n#else\n#include <v.h>\n#endif" + KERNEL
    options = [f"-I{first}", f"-I{second}"]
    assert value_of(source, cache, options) == 11
    write(first / "v.h", 22)
    assert value_of(source, cache, options) == 22
    (first / "v.h").unlink()
    assert value_of(source, cache, options) == 11
    write(second / "more.h", 33)
    assert value_of(source, cache, options) == 33


def test_unchanged_header_is_not_recompiled(tmp_path: Path) -> None:
    write(tmp_path / "v.h", 11)
    time.sleep(0.1)  # The cache stores no kernel that includes a header modified after its compilation began.
    source = f'#include "{tmp_path}/v.h"' + KERNEL
    for folder in ("one", "two"):
        cache = tmp_path / folder
        if folder == "two":
            shutil.copytree(tmp_path / "one", cache)
        before = [path.stat().st_ino for path in entries(cache)]
        assert value_of(source, cache) == 11
        assert len(entries(cache)) == 1
        assert folder == "one" or [path.stat().st_ino for path in entries(cache)] == before


def test_kernel_whose_included_files_are_unknown_is_not_cached(tmp_path: Path) -> None:
    (tmp_path / "v.h").write_text(f'#define V "{tmp_path}/w.h"\n#include V\n')
    write(tmp_path / "w.h", 11)
    assert value_of(f'#include "{tmp_path}/v.h"' + KERNEL, tmp_path / "cache") == 11
    assert entries(tmp_path / "cache") == []


GENERATED = {
    "elementwise": lambda text: ElementwiseKernel("float *x", f"x[i] = 1; {text}")(PyGPU.zeros(3, "f4")),
    "reduction": lambda text: ReductionKernel("f4", "0", "a + b", f"x[i] {text}", "float *x")(PyGPU.zeros(3, "f4")),
    "scan": lambda text: InclusiveScanKernel("i4", f"a + b {text}")(PyGPU.zeros(3, "i4")),
}


@pytest.mark.parametrize("make", GENERATED.values(), ids=GENERATED)
def test_generated_kernel_is_cached(make: Callable[[str], object]) -> None:
    """Test that a generated kernel is cached.

    A former defect: a comment in PyGPU's source looked like an `#include` of a computed name.
    """
    folder = PyGPU.config()["kernel_cache"]
    if folder is None:
        pytest.skip("there is no folder for the cache")
    text = f"/* {secrets.token_hex(8)} */"
    before = set(folder.glob("*.pgk"))
    make(text)
    assert set(folder.glob("*.pgk")) - before


def planted(tmp_path: Path, plant: Callable[[Path], None]) -> tuple[int, Path]:
    """Copy the cache folder, and let the function `plant` replace the kernel's cache file in the copy.

    Return the value that the kernel then computes, and the path of the file.
    """
    source, cache = "#define VALUE 7" + KERNEL, tmp_path / "cache"
    shutil.copytree(good_folder(source), cache)
    [path] = entries(cache)
    plant(path)
    return value_of(source, cache), path


@functools.cache
def good_folder(source: str) -> Path:
    """Return a cache folder that contains one kernel, which is compiled once for all tests."""
    folder = Path(tempfile.mkdtemp(prefix="pygpu-test-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    assert value_of(source, folder) == 7
    return folder


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def zeros(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def link(path: Path) -> None:
    path.rename(path.with_suffix(".elsewhere"))
    path.symlink_to(path.with_suffix(".elsewhere"))


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def open_to_others(path: Path) -> None:
    path.chmod(0o666)


@pytest.mark.parametrize("plant", [fifo, zeros, folder, link, truncated, empty, open_to_others])
def test_cache_trusts_only_complete_regular_files(tmp_path: Path, plant: Callable[[Path], None]) -> None:
    value, path = planted(tmp_path, plant)
    assert value == 7
    # The cache must have replaced the planted file by a private regular file, unless a directory was planted.
    assert path.is_dir() or (path.is_file() and not path.is_symlink() and path.stat().st_mode & 0o077 == 0)


def with_image(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Replace the module image in a cache file, and update the file's checksum, so that only the driver rejects it."""
    payload = path.read_bytes()[40:]
    key_end = 8 + int.from_bytes(payload[:8], "little")
    image_end = key_end + 8 + int.from_bytes(payload[key_end : key_end + 8], "little")
    image = change(payload[key_end + 8 : image_end])
    payload = payload[:key_end] + len(image).to_bytes(8, "little") + image + payload[image_end:]
    path.write_bytes(b"PyGPU k2" + hashlib.sha256(payload).digest() + payload)


@pytest.mark.parametrize("kept", [4, 5000], ids=lambda kept: f"{kept} bytes")
def test_cache_recompiles_image_that_cannot_be_loaded(tmp_path: Path, kept: int) -> None:
    good: list[bytes] = []

    def plant(path: Path) -> None:
        good.append(path.read_bytes())
        with_image(path, lambda image: image[: min(kept, len(image) // 2)])

    value, path = planted(tmp_path, plant)
    assert value == 7
    assert len(path.read_bytes()) == len(good[0]), "the good image is in its place"


@pytest.mark.skipif(PyGPU.backend_name() != "cpu", reason="a driver's image is its own affair")
def test_cache_rejects_truncated_image(tmp_path: Path) -> None:
    image = compile("#define VALUE 1" + KERNEL, no_extern_c=True, cache_dir=tmp_path)
    for length in (64, 1000, 4096, len(image) // 2):
        with pytest.raises(ValueError, match="cut short"):
            PyGPU.Module(image[:length])


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_cache_folder_writable_by_others_is_unused_and_reported_once(tmp_path: Path, mode: int) -> None:
    source = f"#define VALUE 8 // {tmp_path}" + KERNEL
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels").chmod(mode)
    with pytest.warns(UserWarning, match=f"not used: others may write to it .mode {mode:o}"):
        assert value_of(source, tmp_path) == 8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert value_of(source + " ", tmp_path) == 8
    assert entries(tmp_path) == []


def test_cache_folder_that_is_symlink_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir(mode=0o700)
    (tmp_path / "kernels").symlink_to(tmp_path / "there")
    with pytest.warns(UserWarning, match="not used: it is a link"):
        assert value_of(f"#define VALUE 9 // {tmp_path}" + KERNEL, tmp_path) == 9
    assert list((tmp_path / "there").iterdir()) == []


def test_new_cache_folder_is_private_for_any_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        assert value_of(f"#define VALUE 9 // {tmp_path}" + KERNEL, tmp_path / "new") == 9
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "new", tmp_path / "new" / "kernels")] == [0o700] * 2
    assert [path.stat().st_mode & 0o077 for path in entries(tmp_path / "new")] == [0]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_cache_files_and_folders_of_other_users_are_not_trusted(tmp_path: Path) -> None:
    def give_away(path: Path) -> None:
        with_image(path, lambda image: image.replace(b"put", b"pux"))
        os.chown(path, 12345, 12345)

    value, path = planted(tmp_path, give_away)
    assert (value, path.stat().st_uid) == (7, 0)
    (tmp_path / "theirs" / "kernels").mkdir(parents=True)
    (tmp_path / "theirs" / "kernels").chmod(0o700)
    os.chown(tmp_path / "theirs" / "kernels", 12345, 12345)
    with pytest.warns(UserWarning, match="belongs to another user .12345."):
        assert value_of(f"#define VALUE 9 // {tmp_path}" + KERNEL, tmp_path / "theirs") == 9


def test_config_reports_why_cache_folder_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels").chmod(0o777)
    script = (
        "import warnings, PyGPU; warnings.simplefilter('ignore')\n"
        "print(PyGPU.config()['kernel_cache_refused'])\n"
        "PyGPU.Module('__global__ void k(int *x) { *x = 1; }')\n"
        "print(PyGPU.config()['kernel_cache_refused']); PyGPU.show_config()"
    )
    environment = {**os.environ, "PYGPU_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=100)
    first, second, *rest = done.stdout.splitlines()
    assert first == "None"
    assert "others may write" in second
    assert "kernels, not used: others may write" in rest[-1]
