"""Test subclasses of arrays, including classes whose `__init__` has other parameters."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import PyGPU


class Buffer(PyGPU.GPUArray):
    """Define a subclass whose `__init__` takes the owner of the array's memory as its first parameter, before shape and
    dtype, as in reikna."""

    def __init__(self, owner, shape, dtype, *, tag=None):
        super().__init__(shape, dtype)
        self.owner, self.tag = owner, tag


class Image(PyGPU.GPUArray):
    """Define a subclass whose `__init__` takes the length of one axis instead of the whole shape."""

    def __init__(self, shape):
        super().__init__((*shape, 3), np.uint8, order="F")


class OperationCounts(PyGPU.GPUArray):
    """Define a subclass whose `__init__` does not call the base class's `__init__`."""

    def __init__(self, shape, dtype="f8"):
        self.count = 1


class Through(PyGPU.GPUArray):
    """Define a subclass whose `__init__` passes all its arguments to the base class's `__init__`."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.seen = self.shape


def test_subclass_with_other_init_parameters_behaves_like_array():
    owner = object()
    array = Buffer(owner, (2, 3), np.int32, tag="x")
    assert (array.shape, array.dtype, array.owner, array.tag) == ((2, 3), np.int32, owner, "x")
    array.fill(5)
    assert array.get().tolist() == [[5] * 3] * 2
    assert (array + 1).get().tolist() == [[6] * 3] * 2
    assert array[1:].get().tolist() == [[5] * 3]
    assert array.T.base is array
    assert array.base is None
    assert int(array.gpudata) == array.ptr
    assert array.strides == (12, 4)
    assert len(array) == 2
    assert copy.copy(array).get().tolist() == [[5] * 3] * 2


def test_arguments_passed_to_base_init_determine_shape_and_dtype():
    array = Image((2, 4))
    assert (array.shape, array.dtype, array.flags.f_contiguous) == ((2, 4, 3), np.uint8, True)
    array[...] = 9
    assert (array.get() == 9).all()


def test_subclass_without_base_init_is_created_from_its_arguments():
    array = OperationCounts((2, 2), "i4")
    assert (array.shape, array.dtype, array.count) == ((2, 2), np.int32, 1)


@pytest.mark.parametrize("arguments", [((2, 2), "i2"), (np.arange(4.0),), (0,)])
def test_arguments_passed_to_init_of_base_class_allocate_one_array(arguments):
    array, plain = Through(*arguments), PyGPU.GPUArray(*arguments)
    assert (array.seen, array.shape, array.dtype) == (plain.shape, plain.shape, plain.dtype)


def test_subclass_of_subclass_with_other_parameters_has_correct_shape():
    class Named(Buffer):
        def __init__(self, name):
            super().__init__(None, 4, "f4", tag=name)

    assert (Named("n").tag, Named("n").shape) == ("n", (4,))


def test_arguments_that_no_init_method_accepts_raise_type_error():
    with pytest.raises(TypeError, match="not understood"):
        Buffer(None, 3, "no dtype")
    with pytest.raises(TypeError, match="not understood"):
        Through(3, "no dtype")
    with pytest.raises(TypeError, match="unexpected keyword argument 'size'"):
        PyGPU.GPUArray(size=3)
    with pytest.raises(TypeError, match="multiple values for argument 'shape'"):
        PyGPU.GPUArray(3, shape=4)
    with pytest.raises(TypeError, match="at most 7"):
        PyGPU.GPUArray(1, 2, 3, 4, 5, 6, 7, 8)


def test_second_call_of_init_method_does_not_change_array():
    array = Image((2, 4))
    PyGPU.GPUArray.__init__(array, (7,))
    assert array.shape == (2, 4, 3)
    plain = PyGPU.GPUArray((2,))
    plain.__init__((7,))
    assert plain.shape == (2,)


def test_pickle_of_base_array_restores_values():
    array = Buffer(None, 3, "f8").fill(2)
    assert pickle.loads(pickle.dumps(PyGPU.asarray(array))).tolist() == [2, 2, 2]


def test_assigned_gpudata_replaces_memory_of_subclass_array():
    array, other = Buffer(None, (2, 2), "f4"), PyGPU.arange(8, dtype="f4")
    array.fill(1)
    view = array[0]
    array.gpudata = int(other.gpudata) + 8
    assert array.get().tolist() == [[2, 3], [4, 5]]
    array.fill(9)
    assert other.get().tolist() == [0, 1, 9, 9, 9, 9, 6, 7]
    assert view.get().tolist() == [1, 1]
    array.gpudata = other.gpudata
    assert array.gpudata is other.gpudata
    with pytest.raises(ValueError, match="memory there has 8"):
        array.gpudata = other[6:]
    assert array.get().tolist() == [[0, 1], [9, 9]]


def test_nbytes_attribute_is_writable_in_subclasses_only():
    array = Buffer(None, (2, 2), "f4")
    array.nbytes = 64
    assert array.nbytes == 64
    array.nbytes = None
    assert array.nbytes is None
    with pytest.raises(AttributeError, match="not writable"):
        PyGPU.zeros(3).nbytes = 5
