"""The version of CuPy whose interface PyGPU follows."""

VERSION = "14.1.0"
