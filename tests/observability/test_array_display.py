"""Test the display of arrays in a notebook and at a prompt."""

import pydoc

import numpy as np
import pytest

import PyGPU


def test_html_shows_array_properties_and_values() -> None:
    shown = PyGPU.to_gpu(np.arange(6, dtype=np.float32).reshape(2, 3))._repr_html_()
    for part in (
        "GPUArray",
        "(2, 3)",
        "float32",
        str(PyGPU.Device()),
        "24 B",
        "C-contiguous",
        "[[0. 1. 2.]\n [3. 4. 5.]]",
    ):
        assert part in shown


def test_html_shows_strides_of_noncontiguous_array() -> None:
    array = PyGPU.zeros((4, 6), np.int16)
    assert "strides (-12, 4)" in array[::-1, ::2]._repr_html_()
    assert "F-contiguous" in array.T._repr_html_()
    assert "empty" in array[:0]._repr_html_()
    assert "0.0" in PyGPU.zeros(())._repr_html_()


def test_html_shows_edges_of_large_array_and_no_values_beyond_2d() -> None:
    assert "..." in PyGPU.arange(100_000)._repr_html_()
    assert len(PyGPU.arange(1000)._repr_html_()) < 1500
    assert "..." not in PyGPU.arange(200)._repr_html_()
    assert "100,000,000 B" not in PyGPU.zeros((5, 5, 100))._repr_html_()
    assert "<pre" not in PyGPU.zeros((5, 5, 100))._repr_html_()


def test_html_escapes_field_names() -> None:
    shown = PyGPU.to_gpu(np.zeros(2, [("<b>", np.int32)]))._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "<b>'" not in shown


def test_html_of_array_during_capture_adds_no_work_to_graph() -> None:
    array = PyGPU.zeros(3, np.float32)
    with PyGPU.Graph() as graph:
        array.fill(1)
        assert "<pre" not in array._repr_html_()
    graph.launch()
    assert array.tolist() == [1, 1, 1]


def test_html_shows_device_name_and_memory() -> None:
    device = PyGPU.Device()
    assert device.name in device._repr_html_()
    assert "memory" in device._repr_html_()


@pytest.mark.enough_on("cpu")
def test_package_help_is_short_and_dunder_all_has_public_functions() -> None:
    assert len(pydoc.render_doc(PyGPU).splitlines()) < 100
    assert "to_gpu" in PyGPU.__all__


def test_html_shows_graph_operations() -> None:
    array = PyGPU.zeros(3, np.float32)
    graph = PyGPU.Graph()
    assert "none yet" in graph._repr_html_()
    with graph:
        assert "none yet" in graph._repr_html_()
        array.fill(1)
        array[1:].fill(2)
    shown = graph._repr_html_()
    assert f"{len(graph.nodes)} memset" in shown
    assert "0: memset" in shown
    assert str(array.device) in shown
    graph.launch()
    assert array.tolist() == [1, 2, 2]


def test_html_shows_first_operations_of_long_graph() -> None:
    array = PyGPU.zeros(3, np.float32)
    with PyGPU.Graph() as graph:
        for _ in range(30):
            array.fill(1)
    assert "19: memset\nand 10 more" in graph._repr_html_()
