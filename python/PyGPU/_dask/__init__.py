"""Implementation of `PyGPU.dask`. All modules in this folder except `registration` import Dask."""
