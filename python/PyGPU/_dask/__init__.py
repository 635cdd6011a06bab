"""Implementation of `PyGPU.dask`. All modules except `registration` import Dask."""
