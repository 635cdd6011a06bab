"""The ufuncs of `PyGPU.special`, which the native module defines; `ufuncs.pyi` lists them."""

from PyGPU import _core

globals().update(_core._special_ufuncs())
