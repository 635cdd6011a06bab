"""The library through Cython. ``sh cython/make.sh build && PYTHONPATH=build python cython/use.py``."""

import sys
from pathlib import Path

import heat_cython as heat
import numpy as np

import PyGPU as gpuarray

sys.path.append(str(Path(__file__).parents[1]))
from binding_checks import check, expect

check(heat)
expect(TypeError, lambda: heat.step(gpuarray.zeros((2, 2)), None), "source: float32 is needed")
if gpuarray.backend_name() == "cpu":
    a = gpuarray.to_gpu(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert heat.corner(a) == 5.0
    expect(ValueError, lambda: heat.corner(a.T), "x: a C-contiguous array")
