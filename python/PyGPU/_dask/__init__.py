"""What Dask is told of arrays, behind `PyGPU.dask`; only `registration` and `when_imported` are loaded without Dask."""
