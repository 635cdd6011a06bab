"""The ufuncs of `PyGPU.special`, as objects of the native module; `ufuncs.pyi` lists them."""

from PyGPU import _core

globals().update(_core._special_ufuncs())
