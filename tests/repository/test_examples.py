"""Test the programs in examples/."""

import importlib.util
import os
import runpy
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import PyGPU

FOLDER = Path(__file__).parents[2] / "examples"
SHORT_PROGRAMS = ["kmeans", "heat", "blur", "black_scholes", "low_pass", "nbody"]
MOST_LINES = 40
RANDOM = np.random.default_rng(11)


@pytest.fixture(scope="module", autouse=True)
def _kernels() -> None:
    try:
        PyGPU.Kernel("__global__ void nothing() {}")
    except (PyGPU.BackendUnavailableError, PyGPU.NotSupportedError) as error:
        pytest.skip(f"no kernels: {error}")


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["from_cubin", "matmul", "pycuda_double", "reduction"])
def test_example_matches_numpy(name: str) -> None:
    load(name).main()


@pytest.mark.filterwarnings("ignore:The CUDA compiler succeeded")
def test_pycuda_example_needs_only_changed_imports() -> None:
    load("pycuda_multiply").main()


def test_mpi_example_scatters_array_to_processes() -> None:
    pytest.importorskip("mpi4py.MPI")
    load("mpi_scatter").main(1 << 12)


def test_saxpy_example_returns_bandwidth() -> None:
    assert load("saxpy").main(100_003) > 0


def test_streams_example_raises_no_error() -> None:
    load("streams").main(2000)


def test_matmul_example_rejects_mismatched_shapes() -> None:
    with pytest.raises(ValueError, match=r"\(2, 3\) and \(2, 3\)"):
        load("matmul").matmul(PyGPU.zeros((2, 3), np.float32), PyGPU.zeros((2, 3), np.float32))


def test_mandelbrot_example_matches_numpy() -> None:
    image = load("mandelbrot").mandelbrot(40, 30)
    x, y = np.meshgrid(np.arange(40), np.arange(30))
    c = (-0.65 - 2.6 / 30 * 20 + x * 2.6 / 30) + 1j * (2.6 / 2 - y * 2.6 / 30)
    z = np.zeros_like(c)
    inside = np.ones(c.shape, bool)
    for _ in range(500):
        z = np.where(inside, z * z + c, z)
        inside &= np.abs(z) <= 2
    black = (image == 0).all(axis=2)
    # At the edge of the Mandelbrot set, the result may depend on the last bit of a point's coordinate.
    assert (black != inside).sum() <= 2
    assert 0.1 < black.mean() < 0.5


def test_mandelbrot_example_writes_png(tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    load("mandelbrot").main(tmp_path / "set.png", 40, 30)
    with pillow.open(tmp_path / "set.png") as image:
        assert (image.format, image.size) == ("PNG", (40, 30))


def test_everywhere_example_prints_same_value_on_each_backend() -> None:
    run = subprocess.run(
        [sys.executable, str(FOLDER / "all_backends.py")], capture_output=True, text=True, check=True, env=os.environ
    )
    lines = dict(line.split(": ", 1) for line in run.stdout.splitlines())
    assert list(lines) == ["cuda", "hip", "cpu"]
    assert lines["cpu"] == "-5673.668000000000"
    assert lines[PyGPU.backend_name()] == lines["cpu"]


def test_waves_example_matches_numpy() -> None:
    example = load("water_waves")
    water = example.wall(60, 80)
    expected = example.waves(np, water, 60)
    assert np.abs(expected).max() > 1
    np.testing.assert_allclose(example.waves(PyGPU, water, 60).get(), expected, rtol=1e-4, atol=1e-5)


def test_zones_example_assigns_nearest_city() -> None:
    example = load("time_zones")
    positions = example.directions(np.random.default_rng(3).uniform(-89, 89, (20, 2)) * (1, 2))
    height, width = 12, 24
    latitude = np.pi * (0.5 - (np.arange(height) + 0.5) / height)[:, None] + np.zeros(width)
    longitude = np.pi * (2 * (np.arange(width) + 0.5) / width - 1) + np.zeros((height, 1))
    points = example.directions(np.degrees([latitude.ravel(), longitude.ravel()]).T)
    products = points @ positions.T
    chosen = example.zones(positions, width, height).get().ravel()
    # A point may be equally near to two cities. The example may choose either city.
    np.testing.assert_allclose(products[np.arange(len(points)), chosen], products.max(axis=1), atol=1e-5)


def test_walks_example_counts_every_walk_at_each_step() -> None:
    example = load("random_walks")
    positions = example.walks(300, 40)
    seen = example.visits(positions, 19.0, 50)
    assert seen.shape == (50, 40)
    assert (seen.sum(axis=0) == 300).all()
    middle = np.abs(positions.get()) < 0.76  # Select the two histogram intervals next to position 0.
    assert np.abs(seen[24:26].sum(axis=0) - middle.sum(axis=0)).max() <= 2


@pytest.mark.parametrize(
    ("name", "sizes"), [("water_waves", (60, 80, 20)), ("random_walks", (50, 60, 40)), ("time_zones", (60, 30))]
)
def test_example_writes_picture(name: str, sizes: tuple[int, ...], tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    example = load(name)
    data = [FOLDER / "data" / "timezones.csv"] if name == "time_zones" else []
    example.main(tmp_path / "picture.png", *data, *sizes)
    with pillow.open(tmp_path / "picture.png") as image:
        assert len(image.getcolors(1 << 20)) > 5


def test_demo_example_program_matches_numpy_on_any_device(capsys: pytest.CaptureFixture[str]) -> None:
    load("feature_tour").main()
    assert "every result is equal to NumPy's" in capsys.readouterr().out


def points() -> np.ndarray:
    """Return points around three centres that are far from each other."""
    return np.array([(-9, 0), (0, 9), (9, 0)])[np.arange(300) % 3] + RANDOM.standard_normal((300, 2))


def move(x: np.ndarray, v: np.ndarray, steps: int, dt: float) -> np.ndarray:
    """Return the positions of bodies after a number of steps, computed in the same way as by nbody.py."""
    for _ in range(steps):
        to = x - x[:, None]
        v = v + dt * (to / ((to**2).sum(axis=2, keepdims=True) + 0.01) ** 1.5).mean(axis=1)
        x = x + dt * v
    return x


@pytest.fixture(scope="module")
def programs() -> dict[str, ModuleType]:
    """Return the programs of the examples as modules."""
    return {name: load(name) for name in SHORT_PROGRAMS}


@pytest.mark.parametrize(
    ("name", "function", "arguments", "tolerance"),
    [
        ("heat", "heat", (RANDOM.random((30, 40)).astype(np.float32), 25), 1e-6),
        ("blur", "blur", (RANDOM.random((12, 15, 3)).astype(np.float32), 3), 1e-6),
        ("low_pass", "low_pass", (RANDOM.random(1000), 40, 1), 1e-12),
    ],
)
def test_example_program_gives_equal_values_with_numpy_and_pygpu(
    name: str, function: str, arguments: tuple[Any, ...], tolerance: float, programs: dict[str, ModuleType]
) -> None:
    compute = getattr(programs[name], function)
    expected = compute(np, *arguments)
    assert np.ptp(expected) > 0.05
    np.testing.assert_allclose(compute(PyGPU, *arguments).get(), expected, rtol=tolerance, atol=tolerance)


def test_option_prices_example_matches_numpy_and_closed_form(programs: dict[str, ModuleType]) -> None:
    spot, years = np.linspace(60, 140, 9)[:, None], np.array([0.1, 1.0])
    call_price = programs["black_scholes"].call_price
    prices = call_price(PyGPU, PyGPU.to_gpu(spot), 100, PyGPU.to_gpu(years)).get()
    np.testing.assert_allclose(prices, call_price(np, spot, 100, years), rtol=1e-10, atol=1e-10)
    d = (np.log(spot / 100) + 0.065 * years) / (0.3 * np.sqrt(years))
    exact = spot * PyGPU.special.ndtr(PyGPU.to_gpu(d)).get()
    exact -= 100 * np.exp(-0.02 * years) * PyGPU.special.ndtr(PyGPU.to_gpu(d - 0.3 * np.sqrt(years))).get()
    np.testing.assert_allclose(prices, exact, atol=3e-5)


def test_kmeans_example_finds_groups_and_matches_numpy(programs: dict[str, ModuleType]) -> None:
    inputs = points()
    group, centres = (array.get() for array in programs["kmeans"].kmeans(PyGPU, inputs, 3, 8))
    expected = programs["kmeans"].kmeans(np, inputs, 3, 8)
    np.testing.assert_array_equal(group, expected[0])
    np.testing.assert_allclose(centres, expected[1], rtol=1e-12)
    assert all(len(set(group[first::3])) == 1 for first in range(3))


def test_nbody_example_moves_bodies_like_numpy(programs: dict[str, ModuleType]) -> None:
    x, v = RANDOM.standard_normal((2, 100, 3))
    arrays = [PyGPU.to_gpu(each.astype(np.float32)) for each in (x, v)]
    moved = programs["nbody"].bodies(*arrays, 5, 0.05).get()
    expected = move(x, v, 5, 0.05)
    assert np.abs(expected - x).max() > 0.1
    np.testing.assert_allclose(moved, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.enough_on("cpu")
@pytest.mark.parametrize("name", SHORT_PROGRAMS)
def test_example_program_writes_png_file_with_name_of_program(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    pillow = pytest.importorskip("PIL.Image")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [name])
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.png"]
    with pillow.open(tmp_path / f"{name}.png") as image:
        assert len(image.getcolors(1 << 20)) > 5


@pytest.mark.enough_on("cpu")
@pytest.mark.parametrize("name", SHORT_PROGRAMS)
def test_example_program_has_at_most_40_lines(name: str) -> None:
    assert len((FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()) <= MOST_LINES
