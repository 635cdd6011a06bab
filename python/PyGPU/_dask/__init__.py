"""Dask integration behind `PyGPU.dask`; only `registration` and `when_imported` are loaded without Dask."""
