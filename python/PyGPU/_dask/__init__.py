"""Implementation of `PyGPU.dask`; all modules but `registration` and `import_hook` require Dask."""
