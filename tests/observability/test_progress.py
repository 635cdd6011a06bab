"""Test progress reports of long copies."""

import sys
from types import ModuleType

import numpy as np
import pytest

import PyGPU
from PyGPU._observability import progress


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PIECE_BYTES", 1000)


LAYOUTS = {
    "C": lambda a: a,
    "F": lambda a: a.T,
    "backwards": lambda a: a[::-1],
    "every second": lambda a: a[:, ::2],
    "broadcast": lambda a: np.broadcast_to(a[0], (50, 40)),
    "one axis": lambda a: a.reshape(-1)[3:],
    "of one element": lambda a: a[:1, :1],
    "no axes": lambda a: a[0, 0],
    "empty": lambda a: a[:0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_progress_function_gets_each_step_and_copied_values_are_correct(layout: str) -> None:
    host = LAYOUTS[layout](np.arange(2000, dtype=np.float32).reshape(50, 40))
    reports: list[tuple[int, int]] = []
    array = PyGPU.to_gpu(host, progress=lambda done, total: reports.append((done, total)))
    np.testing.assert_array_equal(array.get(), host)
    assert array.strides == PyGPU.to_gpu(host).strides
    assert reports == sorted(reports)
    assert reports[-1] == (host.nbytes, host.nbytes)
    assert len(reports) > 1 or host.nbytes <= 1000


def test_progress_bar_uses_tqdm_if_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[float] = []

    class Bar:
        def __init__(self, total: int, **_: object) -> None:
            steps.append(-total)

        def update(self, n: float) -> None:
            steps.append(n)

        def close(self) -> None:
            steps.append(0)

    module = ModuleType("tqdm.auto")
    module.tqdm = Bar  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tqdm", ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    PyGPU.to_gpu(np.zeros(500), progress=True)
    assert (steps[0], sum(steps), steps[-1]) == (-4000, 0, 0)


def test_progress_without_tqdm_prints_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert PyGPU.to_gpu(np.arange(500), progress=True).sum().get() == 124750
    assert capsys.readouterr() == ("", "")


def test_exception_of_progress_function_ends_copy() -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        PyGPU.to_gpu(np.zeros(500), progress=stop)
