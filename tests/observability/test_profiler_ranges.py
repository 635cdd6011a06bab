"""Test profiler ranges: ranges that PyGPU opens around copies, compilations and launches, and ranges of a program."""

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import PyGPU
import PyGPU.profile

RECORDER = r"""
#include <stdio.h>
#include <string.h>
static char said[4096];
static int depth;
int PREFIXRangePushA(const char *name) {
    if (strlen(said) + strlen(name) + 2 < sizeof said) { strcat(said, name); strcat(said, "\n"); }
    return depth++;
}
int PREFIXRangePop(void) { return --depth; }
const char *ranges(void) { return said; }
int open_ranges(void) { return depth; }
"""


class Recorder:
    """Replace a vendor's library for profiler ranges, and record its calls."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.library = ctypes.CDLL(self.path)
        self.library.ranges.restype = ctypes.c_char_p

    def names(self) -> list[str]:
        assert self.library.open_ranges() == 0
        return self.library.ranges().decode().splitlines()


@pytest.fixture(params=["nvtx", "roctx"])
def recorder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Recorder]:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    source, path = tmp_path / "recorder.c", tmp_path / "librecorder.so"
    source.write_text(RECORDER.replace("PREFIX", request.param))
    subprocess.run([compiler, "-shared", "-fPIC", "-o", path, source], check=True)
    found = Recorder(path)
    assert PyGPU.profile.annotate(found.path) == found.path
    assert PyGPU.profile.is_annotated()
    yield found
    PyGPU.profile.annotate(False)
    assert not PyGPU.profile.is_annotated()


def test_copies_and_launches_have_profiler_ranges(recorder: Recorder) -> None:
    try:
        kernel = PyGPU.Module('extern "C" __global__ void ranged(int *a) { a[0] = 5; }')["ranged"]
    except (PyGPU.BackendUnavailableError, PyGPU.NotSupportedError) as error:
        pytest.skip(f"no kernels: {error}")
    array = PyGPU.to_gpu(np.zeros(3, np.int32))
    kernel[1, 1](array)
    assert array.get().tolist() == [5, 0, 0]
    names = recorder.names()
    assert "ranged" in names
    if PyGPU.backend_name() != "cpu":
        assert "PyGPU upload 12 bytes" in names
        assert "PyGPU download 12 bytes" in names


def test_profiler_ranges_of_user_are_recorded_if_with_block_raises(recorder: Recorder) -> None:
    with pytest.raises(KeyError), PyGPU.profile.range("outer"), PyGPU.profile.range("inner"):
        raise KeyError
    assert recorder.names() == ["outer", "inner"]


def test_disabled_profiler_ranges_are_not_recorded(recorder: Recorder) -> None:
    PyGPU.profile.annotate(False)
    with PyGPU.profile.range("unseen"):
        PyGPU.to_gpu(np.zeros(3))
    assert recorder.names() == []


def test_open_profiler_range_is_ended_after_ranges_were_disabled(recorder: Recorder) -> None:
    with PyGPU.profile.range("begun"):
        PyGPU.profile.annotate(False)
    assert recorder.names() == ["begun"]


def test_annotate_rejects_missing_or_unknown_range_library(tmp_path: Path) -> None:
    with pytest.raises(PyGPU.BackendUnavailableError, match="was not found"):
        PyGPU.profile.annotate(str(tmp_path / "libnone.so"))
    with pytest.raises(ValueError, match="'nvtx', 'roctx'"):
        PyGPU.profile.annotate("vtune")
    assert not PyGPU.profile.is_annotated()
