"""Implementation of `PyGPU.dask`; all modules but `registration` require Dask."""
