"""List the differences from NumPy that are defects. Mending a defect deletes its paragraph, or the function there."""

from __future__ import annotations

from .entries import parse

OPEN = parse("""
cumprod cumsum cumulative_prod cumulative_sum nancumprod nancumsum
    if kind == 'values' and out_kind == 'narrow'
    does compute in the dtype of the array instead of that of `out`

std var nanstd nanvar
    if kind == 'dtype' and dtype == 'complex128'
    does return a real result for a complex `dtype`

power
    if kind == 'written'
    does write a part of `out` before a negative exponent raises ValueError

cumprod nancumprod
    if kind == 'refused' and out_kind in ('broadcast', 'other shape')
    does refuse an `out` to which the result broadcasts

*
    if kind == 'error' and order == 3
    does raise ValueError for an order that is no text

*
    if kind in ('refused', 'error') and (where is False or isinstance(where, str)) and ours == 'TypeError'
    does refuse a number as mask: where=False

std var nanvar
    if kind == 'accepted' and ddof is not absent and correction is not absent
    does accept ddof and correction together

vecdot
    if keepdims is not absent and kind in ('refused', 'error')
    does not have the keyword keepdims

clip
    if kind == 'accepted' and dtypes == {'bool'}
    does accept bools without limits

argmax argmin
    if kind == 'error' and isinstance(axis, tuple)
    does raise AxisError or ValueError for a tuple of axes, instead of TypeError

amin nanmin sum apply_over_axes
    if kind == 'refused' and ours == 'AxisError' and (() in shapes or foreign)
    does not take an array without axes as one with the axis 0

copyto
    if kind == 'accepted' and (1, 1) in shapes
    does accept a mask with more axes than the destination

nansum sum
    if kind == 'accepted' and initial is None
    does accept initial=None with a mask, for which NumPy requires an initial value

full full_like
    if kind == 'refused' and (isinstance(fill_value, complex) or fill_value != fill_value)
    does refuse a complex number or NaN for another dtype

matmul matvec vecdot vecmat
    if kind in ('accepted', 'error') and (axes is not absent or axis is not absent)
    does accept None or tuples for axes and axis, or raises ValueError for them instead of TypeError

fft.*
    if kind == 'error' and norm == 3
    does raise TypeError instead of ValueError

fft.fftn fft.irfftn
    if kind == 'error' and s is not absent
    does raise ValueError instead of AxisError or IndexError for more lengths than axes

zeros empty
    if kind == 'error' and shape == '2'
    does check the order before the shape
""")
"""The defects."""
