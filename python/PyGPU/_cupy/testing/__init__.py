"""Implementation of `cupy.testing`: decorators that compare NumPy's results with those of a device."""
