"""PyCUDA's ``pycuda.compiler`` over PyGPU: `SourceModule` and what is around it.

A source is compiled by the backend's own compiler library, in a fraction of the time of nvcc: NVRTC, hiprtc, or the
machine's C++ compiler. nvcc itself is used where a source includes headers that only it has, and where its path is
given.
"""

from __future__ import annotations

from PyGPU._compiler_dynamic import DynamicModule as DynamicModule
from PyGPU._compiler_dynamic import DynamicSourceModule as DynamicSourceModule
from PyGPU._compiler_options import DEFAULT_NVCC_FLAGS as DEFAULT_NVCC_FLAGS
from PyGPU._compiler_source import SourceModule as SourceModule
from PyGPU._compiler_source import compile as compile
from PyGPU._driver_errors import CompileError as CompileError

__all__ = ["DEFAULT_NVCC_FLAGS", "CompileError", "DynamicModule", "DynamicSourceModule", "SourceModule", "compile"]
