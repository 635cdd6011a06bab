"""Call the C library through a binding written by hand.

``sh c/make.sh build && PYTHONPATH=build python c/use.py``.
"""

import sys
from pathlib import Path

import heat_c as heat

import PyGPU as gpuarray

sys.path.append(str(Path(__file__).parents[1]))
from binding_checks import check, expect

check(heat)
expect(TypeError, lambda: heat.step(gpuarray.zeros((2, 2)), None), "source: float32 is needed")
