"""Functions that create views with given strides, as in `cupy.lib.stride_tricks`."""

from PyGPU._native.public import listing as _listing
from PyGPU.lib.stride_tricks import as_strided, broadcast_arrays, broadcast_to, sliding_window_view

__all__ = ["as_strided", "broadcast_arrays", "broadcast_to", "sliding_window_view"]


_listing.publish(globals())
