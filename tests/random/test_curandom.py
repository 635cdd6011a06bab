"""Test PyCUDA's module `curandom`: its functions, and the distributions of the numbers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import PyGPU
from PyGPU import curandom
from support import of_few, on_cpu

PyGPU.device_count()
PSEUDO = [
    curandom.XORWOWRandomNumberGenerator,
    curandom.MRG32k3aRandomNumberGenerator,
    curandom.Philox4_32_10RandomNumberGenerator,
]


def test_rand_numbers_are_in_unit_interval_and_repeatable_by_numpy_seed() -> None:
    for dtype in (np.float32, np.float64):
        a = curandom.rand((10, 100), dtype=dtype)
        assert (a.dtype, a.shape) == (dtype, (10, 100))
        host = a.get()
        assert (host >= 0).all()
        assert (host < 1).all()
        assert abs(host.mean() - 0.5) < 0.1
    np.random.seed(5)
    first = curandom.rand(7, np.uint32, stream=PyGPU.Stream()).get()
    np.random.seed(5)
    np.testing.assert_array_equal(curandom.rand(7, np.uint32).get(), first)
    assert (curandom.rand(1000, np.int32).get() < 0).any()
    with pytest.raises(NotImplementedError, match="int64"):
        curandom.rand(3, np.int64)


@pytest.mark.parametrize("maker", of_few(PSEUDO, PSEUDO[:1]))
def test_generators_fill_arrays_by_pycuda_methods(maker: type) -> None:
    generator = maker()
    for dtype in of_few(("float32", "float64"), ("float32",)):
        uniform = generator.gen_uniform(10_001, dtype).get()
        assert (uniform > 0).all()
        assert (uniform <= 1).all()
        assert abs(generator.gen_normal(10_001, dtype).get().mean()) < 0.06
        assert abs(np.log(generator.gen_log_normal(10_000, dtype, 10.0, 3.0).get()).mean() - 10) < 0.2
        means = PyGPU.empty((500, 4), dtype)
        means.fill(10)
        generator.fill_poisson(means[:, 1:3])
        host = means.get()
        assert (host[:, ::3] == 10).all()
        assert abs(host[:, 1:3].mean() - 10) < 0.6
    assert generator.gen_uniform(10, np.uint32).dtype == np.uint32
    assert abs(generator.gen_poisson(1000, np.uint32, 13.0).get().mean() - 13) < 0.7
    stream = PyGPU.Stream()
    generator.fill_normal(PyGPU.empty(5, "float32"), stream)
    with pytest.raises(NotImplementedError, match="uint64"):
        generator.gen_uniform(3, np.uint64)
    with pytest.raises(NotImplementedError, match="int32"):
        generator.gen_normal(3, np.int32)
    with pytest.raises(NotImplementedError, match="float32"):
        generator.gen_poisson(3, np.float32, 2.0)


def test_seed_and_skip_ahead_determine_drawn_values() -> None:
    def seeds(count: int) -> PyGPU.GPUArray:
        return PyGPU.full(count, 5, np.int32)

    one, same, other = (maker(seeds) for maker in (PSEUDO[0], PSEUDO[0], PSEUDO[1]))
    first = one.gen_uniform(8, np.uint32).get()
    np.testing.assert_array_equal(same.gen_uniform(8, np.uint32).get(), first)
    assert (other.gen_uniform(8, np.uint32).get() != first).any()
    same.call_skip_ahead(1)
    assert (same.gen_uniform(8, np.uint32).get() != one.gen_uniform(8, np.uint32).get()).any()
    skipped, begun = PSEUDO[0](seeds), PSEUDO[0](seeds, 3)
    skipped.call_skip_ahead_array(PyGPU.full(4, 3, np.uint64))
    np.testing.assert_array_equal(skipped.gen_uniform(8, np.uint32).get(), begun.gen_uniform(8, np.uint32).get())
    one.call_skip_ahead_sequence(2)
    one.call_skip_ahead_sequence_array(PyGPU.full(1, 2, np.uint64))
    other.call_skip_ahead_subsequence(1)
    other.call_skip_ahead_subsequence_array(PyGPU.full(1, 2, np.uint64))
    assert PSEUDO[0](curandom.seed_getter_uniform).gen_uniform(3, np.float32).shape == (3,)
    for getter in (curandom.seed_getter_unique, curandom.seed_getter_uniform):
        assert getter(9).dtype == np.int32
    with pytest.raises(TypeError, match="right length"):
        PSEUDO[0](lambda count: PyGPU.zeros(3, np.int32))


@pytest.mark.enough_on("cuda")
def test_sobol_points_are_computed_from_direction_vectors() -> None:
    count = PSEUDO[0]()._count
    rng = np.random.default_rng(1)
    vectors = (1 << np.arange(31, -1, -1, dtype=np.uint64)) | rng.integers(0, 1 << 20, (count, 32), np.uint64)
    vectors = vectors.astype(np.uint32)
    scramble = rng.integers(0, 1 << 32, count, np.uint32)
    points = 5
    expected = np.zeros((points, count), np.uint32)
    for point in range(points):
        gray = (point + 2) ^ (point + 2) >> 1
        for bit in range(32):
            expected[point] ^= vectors[:, bit] * np.uint32(gray >> bit & 1)
    plain = curandom.Sobol32RandomNumberGenerator(PyGPU.to_gpu(vectors), 2)
    np.testing.assert_array_equal(plain.gen_uniform((2, count), np.uint32).get(), expected[:2])
    plain.call_skip_ahead(1)
    np.testing.assert_array_equal(plain.gen_uniform((2, count), np.uint32).get(), expected[3:])
    made = curandom.ScrambledSobol32RandomNumberGenerator(PyGPU.to_gpu(vectors), PyGPU.to_gpu(scramble), 2)
    drawn = made.gen_uniform((points, count), np.float64).get()
    np.testing.assert_array_equal(drawn, (expected ^ scramble) * 2.0**-32 + 2.0**-33)
    assert abs(made.gen_normal((7, count), np.float64).get().mean()) < 0.02
    assert abs(made.gen_poisson((7, count), np.uint32, 4.0).get().mean() - 4) < 0.1
    with pytest.raises(TypeError, match="dir_vector"):
        curandom.Sobol32RandomNumberGenerator(PyGPU.zeros(3, np.uint32))


@pytest.mark.skipif(on_cpu(), reason="a library of a GPU's vendor")
@pytest.mark.parametrize(
    "maker", [curandom.Sobol32RandomNumberGenerator, curandom.ScrambledSobol64RandomNumberGenerator]
)
def test_sobol_points_from_vendor_tables_fill_cube_evenly(maker: type) -> None:
    if curandom.get_curand_version() is None:
        pytest.skip("the vendor's library is not there")
    generator = maker()
    points = generator.gen_uniform((64, generator._count), np.float64).get()[:, :10]
    if not maker.__name__.startswith("Scrambled"):
        # The first dimension of the points is the van der Corput sequence.
        assert sorted(points[:4, 0].round(6).tolist()) == [0.0, 0.25, 0.5, 0.75]
    # Of 64 successive points, each of 64 equal intervals of an axis contains exactly one point. Each cell of a 4x4 grid
    # over the first two axes contains exactly four points.
    for axis in points.T:
        np.testing.assert_array_equal(np.sort((axis * 64).astype(int)), np.arange(64))
    quarters = (points[:, 0] * 4).astype(int) * 4 + (points[:, 1] * 4).astype(int)
    np.testing.assert_array_equal(np.bincount(quarters, minlength=16), np.full(16, 4))


STAND_IN = r"""
static unsigned vectors32[20000][32], constants32[20000];
static unsigned long long vectors64[20000][64], constants64[20000];
int NAMEGetVersion(int *version) { *version = 10309; return 0; }
int NAMEGetDirectionVectors32(const void **to, int set) { vectors32[1][0] = set; *to = vectors32; return 0; }
int NAMEGetDirectionVectors64(const void **to, int set) { vectors64[1][0] = set; *to = vectors64; return 0; }
int NAMEGetScrambleConstants32(const void **to) { constants32[19999] = 7; *to = constants32; return 0; }
int NAMEGetScrambleConstants64(const void **to) { *to = constants64; return 9; }
"""

PROGRAM = """
import numpy as np, PyGPU
from PyGPU import curandom
print(curandom.get_curand_version())
table = curandom.generate_direction_vectors(20002, curandom.direction_vector_set.VECTOR_32).get()
print(table.shape, table.dtype, table[1, 0], table[20001, 0])
print(curandom.generate_direction_vectors(3, curandom.direction_vector_set.SCRAMBLED_VECTOR_64).get()[1, 0])
print(curandom.generate_scramble_constants32(20000).get()[-1])
try:
    curandom.generate_scramble_constants64(5)
except Exception as error:
    print(type(error).__name__, error)
PyGPU.show_config()
"""


def output(program: str, library: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PYGPU_CURAND", library)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


@pytest.mark.starts_processes
@pytest.mark.skipif(on_cpu(), reason="a library of a GPU's vendor")
def test_sobol_tables_equal_those_of_vendor_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, library = tmp_path / "stand_in.c", tmp_path / "libcurand.so.10"
    prefix = {"cuda": "curand", "hip": "hiprand"}[PyGPU.backend_name()]
    source.write_text(STAND_IN.replace("NAME", prefix))
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    text = output(PROGRAM, str(library), monkeypatch)
    lines = text.splitlines()
    assert lines[:4] == ["(10, 30, 9)", "(20002, 32) uint32 101 101", "104", "7"]
    assert "Constants64: code 9" in lines[4]
    assert f"RAND: {library}" in text


@pytest.mark.starts_processes
@pytest.mark.skipif(on_cpu(), reason="a library of a GPU's vendor")
def test_sobol_error_without_vendor_library_contains_package_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = """
import PyGPU
from PyGPU import curandom
print(curandom.get_curand_version(), curandom.rand(3).shape)
try:
    curandom.Sobol64RandomNumberGenerator()
except RuntimeError as error:
    print(error)
PyGPU.show_config()
"""
    text = output(program, str(tmp_path / "none.so"), monkeypatch)
    assert "None (3,)" in text
    assert {"cuda": "-math]", "hip": "ROCM_PATH"}[PyGPU.backend_name()] in text
    assert text.count(f"searched {tmp_path / 'none.so'}") == 1
    # PYGPU_CURAND names an existing library that is not cuRAND.
    assert "None" in output("import PyGPU\nprint(PyGPU.curandom.get_curand_version())", "libc.so.6", monkeypatch)


@pytest.mark.skipif(not on_cpu(), reason="about the CPU")
def test_cpu_backend_has_no_sobol_tables() -> None:
    assert curandom.get_curand_version() is None
    with pytest.raises(PyGPU.NotSupportedError, match="of your own"):
        curandom.ScrambledSobol64RandomNumberGenerator()


@pytest.mark.enough_on("cuda")
def test_pycuda_program_can_import_curandom() -> None:
    program = (
        "import PyGPU; PyGPU.as_pycuda(); import pycuda.curandom as c; print(c is PyGPU.curandom, c.rand(2).shape)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True (2,)"
