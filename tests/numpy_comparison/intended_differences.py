"""List the differences from NumPy that are intended, each with its reason.

`difference_entries.py` explains the conditions.
"""

from __future__ import annotations

from .difference_entries import parse

INTENDED = parse("""
*
    if kind in ('refused', 'error') and foreign and ours in ('TypeError', 'ValueError', 'IndexError', 'AxisError')
    does raise an error
    because a function needs an array of a device, and uploads nothing implicitly (docs/arithmetic.md, Operands)

*
    if kind == 'accepted' and foreign
    does convert a number or a list to an array
    because NumPy fails there at an attribute that only arrays have

*
    if numpy == 'objects' and ours == 'TypeError'
    does raise TypeError
    because Python objects and texts have no representation on a device

*
    if kind == 'error' and numpy in ('AttributeError', 'SystemError', 'KeyError')
    does raise TypeError, ValueError or AxisError
    because NumPy's error is an accident of its implementation

*
    if kind == 'error' and optional >= 2
    does raise the error of another argument
    because the order in which several wrong arguments are found is unspecified

*
    if kind in ('refused', 'error') and isinstance(where, str) and ours == 'TypeError'
    does refuse a text as mask
    because texts have no representation on a device

full
    if kind == 'error' and isinstance(fill_value, str)
    does raise TypeError for a text
    because texts have no representation on a device

histogram2d histogramdd trapezoid poly
    if kind == 'error' and ours == 'TypeError' and ('x' in (weights, x) or seq_of_zeros == 'ab')
    does raise TypeError for a text
    because texts have no representation on a device

sum prod max min amax amin mean var nanmax nanmin nanprod nansum trace
    if kind in ('refused', 'error') and ours == 'TypeError' and out_kind == 'narrow'
    does raise TypeError for an `out` whose dtype loses information
    because the other functions with `out` raise it too: 'same_kind' is the rule of ufuncs

mean nanmean nanstd nansum nanvar prod std sum var trace
    if kind in ('refused', 'error') and ours == 'TypeError' and dtype is not absent
    does raise TypeError for a `dtype` that loses information, such as the imaginary part
    because the other functions with `dtype` raise it too: 'same_kind' is the rule of ufuncs

fft.hfft fft.ifft2 fft.irfft2
    if not numpy25 and out is not absent and kind in ('refused', 'error', 'argument', 'dtype')
    does check and write `out`
    because NumPy 2.4 ignores `out` in these functions, against its documentation

unpackbits
    if bitorder == 'bad' and kind == 'refused'
    does raise ValueError
    because NumPy checks `bitorder` in packbits only

unpackbits
    if kind == 'values' and shapes[0] == (0, 2)
    does append zeros
    because NumPy 2.4 returns uninitialized memory

dot
    if kind == 'values' and 'special' in styles
    does multiply 0 by infinity and NaN to NaN, as IEEE 754
    because NumPy's BLAS library skips products with 0

convolve
    if kind == 'values' and 'special' in styles and ({'complex64', 'complex128'} & dtypes)
    does multiply complex infinities element by element, as the operator `*`
    because NumPy's BLAS library sums the products of real and imaginary parts separately

unique
    if kind == 'values' and sorted is False
    does sort also with sorted=False
    because NumPy does not specify the order then

roots
    if kind == 'dtype'
    does return complex numbers
    because the dtype must not depend on values, for which the host would wait; the array API requires it

linalg.eigvals
    if not numpy25 and kind == 'dtype'
    does return complex numbers
    because the dtype must not depend on values, for which the host would wait; the array API requires it

linalg.eig linalg.eigvals roots
    if kind == 'error' and numpy == 'LinAlgError' and 'float16' in dtypes
    does raise TypeError for float16 before it reads values
    because the host waits for values

linalg.multi_dot
    if kind == 'out' and () in shapes
    does return `out`
    because NumPy returns a scalar

polymul
    if kind in ('shape', 'values') and 'special' in styles
    does keep leading zeros
    because their removal would wait for the device (docstring)

polyadd polysub polydiv
    if kind in ('refused', 'error', 'accepted') and len(shapes) == 2 and max(len(shapes[0]), len(shapes[1])) > 1
    does raise ValueError or divide the first axis
    because coefficients have one axis; NumPy pads by rules for one axis

poly polyder polyint roots
    if kind == 'accepted' and (shapes == [()] or seq_of_zeros == 3)
    does take an array without axes as a polynomial with one coefficient
    because NumPy fails at an attribute that only arrays have

polyder polyint
    if kind == 'refused' and 'm' in rejected
    does raise TypeError for an order that is no integer
    because NumPy truncates it, against its documentation

tri tril_indices triu_indices
    if kind == 'refused' and ours == 'TypeError' and {'N', 'M', 'n', 'm'} & rejected
    does raise TypeError for a length that is no integer
    because NumPy documents integers

isdtype
    if kind == 'accepted'
    does accept all that `numpy.dtype` accepts
    because bfloat16 has no class of NumPy

lib.stride_tricks.as_strided
    if kind == 'refused' and ours == 'ValueError'
    does raise ValueError for a view that reaches beyond the memory of the array
    because NumPy reads and writes other memory

lib.stride_tricks.as_strided
    if kind == 'error' and strides == '8'
    does raise TypeError for a text
    because strides are integers

unravel_index
    if kind == 'accepted' and numpy == 'ValueError'
    does wrap indices out of range around
    because a check would wait for the device (docstring)

all amax amin any argmax argmin around asarray broadcast_to clip flip full_like i0 max mean min ones_like prod
round sinc std sum tensordot var zeros_like
    if kind == 'refused' and ours == 'TypeError' and keywords & {'a', 'm', 'x', 'array'}
    does not accept NumPy's name of its first parameter
    because of the array API's and PyCUDA's signatures; np.f(a=x) works (tests/functions/test_signatures.py)

clip
    if kind in ('refused', 'error') and (a_min is not absent or a_max is not absent)
    does not accept a_min and a_max as keywords
    because the array API's names are min and max; np.clip accepts both (tests/functions/test_signatures.py)

unique_all unique_counts unique_inverse unique_values
    if kind == 'accepted' and 'x' in keywords
    does accept its parameter by keyword
    because NumPy publishes this signature, though it raises TypeError

cov
    if kind == 'refused' and fweights is not absent and ours == 'TypeError'
    does raise TypeError for frequency weights of floats
    because NumPy accepts them if they are whole numbers, for which the host would wait

cross
    if not numpy25 and kind == 'refused' and ours == 'ValueError'
    does raise ValueError for vectors of two numbers
    because NumPy deprecates them

trim_zeros
    if kind == 'structure' and isinstance(filt, list)
    does return an array
    because lists are converted to arrays

histogramdd
    if kind == 'structure'
    does return a tuple of edges
    because NumPy documents a tuple, and returns a list

insert put_along_axis take_along_axis
    if kind == 'accepted' and numpy == 'AttributeError'
    does accept a list of indices
    because NumPy fails there at an attribute that only arrays have

put_along_axis
    if kind == 'accepted' and axis is None
    does write into an array that is not contiguous
    because NumPy writes into a flattened copy, which it made read-only

fft.fftshift fft.ifftshift roll
    if kind == 'accepted' and () in shapes
    does return an array without axes unchanged
    because NumPy fails at the unpacking of an empty list

average linalg.norm linalg.vector_norm cumulative_prod cumulative_sum linspace
    if kind in ('refused', 'error', 'accepted') and ('axis' in rejected or isinstance(axis, tuple))
    does require integers as axes
    because NumPy converts lists, floats, texts and tuples by accident, in these functions only

tensordot linalg.tensordot
    if kind == 'refused' and axes == -1
    does raise ValueError for a negative number of axes
    because NumPy returns the outer product

reshape
    if kind == 'refused' and shape is None
    does raise TypeError
    because NumPy takes None as the unchanged shape, which it does not document

clip
    if kind == 'accepted' and a_min is not absent and a_max is absent
    does accept one limit
    because the array API has limits that are optional

divmod frexp modf
    if kind == 'accepted' and out is None
    does take None as no output
    because other functions with `out` do so

nansum sum
    if kind == 'accepted' and initial is None
    does take None as the default of `initial`, so that the sum of no elements is 0
    because only an error differs: NumPy's None makes sums of no elements, and of elements under a mask, errors

matmul matvec vecdot vecmat
    if kind == 'accepted' and axes is None
    does take None as the last axes
    because None stands for the default

cumprod nancumprod
    if kind == 'refused' and out_kind in ('broadcast', 'other shape')
    does refuse an `out` of another shape
    because NumPy 2.4 writes only the first part of such an `out`

linspace
    if kind == 'accepted' and num is None
    does return 50 numbers
    because None stands for the default

may_share_memory shares_memory
    if kind == 'accepted' and max_work == '1'
    does ignore `max_work`
    because the exact solution needs no limit

squeeze
    if kind == 'error' and axis == [0]
    does raise ValueError, since the axis is longer than 1
    because lists are taken as tuples

gradient
    if kind == 'error' and ('bool' in dtypes or edge_order == 0)
    does raise another error first
    because the order in which several wrong arguments are found is unspecified

logical_and
    if kind == 'refused' and casting == 'no'
    does refuse operands of two dtypes
    because they are cast to one dtype; NumPy has a loop for objects

median nanmedian quantile nanquantile percentile nanpercentile
    if gpu and kind == 'argument' and overwrite_input is True
    does leave the array unchanged
    because a device sorts a copy

nanpercentile nanquantile percentile quantile
    if gpu and kind == 'values' and 'float32' in type_names
    does compute the position of a quantile in float64
    because NumPy computes it in the type of the quantile, with fewer digits

nanpercentile nanquantile percentile quantile
    if gpu and kind in ('refused', 'error') and ours == 'NotImplementedError'
    does raise NotImplementedError for weights
    because devices have no implementation of weighted quantiles (docstring)

partition argpartition
    if gpu and kind in ('refused', 'error') and ours == 'TypeError'
    does raise TypeError for positions in an array of the device
    because the host would wait for them

take put repeat
    if gpu and kind in ('refused', 'error') and ours == 'TypeError'
    does raise TypeError for texts and floats as indices, and for modes that are no texts
    because NumPy converts them against its documentation

choose
    if gpu and kind in ('refused', 'error') and (mode is None or out is not absent)
    does raise TypeError or ValueError for modes and outputs
    because the order in which wrong arguments are found is unspecified

power pow
    if gpu and kind == 'accepted' and numpy == 'ValueError'
    does compute negative powers of integers as fractions that are truncated
    because an error would wait for the device (docs/arithmetic.md)

power pow float_power lib.scimath.power logspace
    if gpu and kind == 'values'
    does compute other complex powers of 0, infinities and NaN
    because NumPy's are those of its C library

*
    if gpu and kind == 'values' and 'special' in styles and ('complex64' in dtypes or 'complex128' in dtypes)
    does compute other infinities and NaN in complex functions and products
    because results without a finite value depend on the order of operations

fft.* linalg.*
    if gpu and kind in ('values', 'accepted') and 'special' in styles
    does compute other infinities and NaN
    because results without a finite value depend on the order of operations

linalg.*
    if gpu and kind in ('refused', 'error') and 'special' in styles and ours == 'LinAlgError'
    does raise LinAlgError for infinities, NaN and singular matrices
    because NumPy's library computes with them, without a meaning

polyfit linalg.tensorsolve
    if gpu and kind == 'refused' and 'special' in styles and ours == 'LinAlgError'
    does raise LinAlgError for matrices without a unique solution
    because NumPy's library divides by the rounding error of a pivot

linalg.svd
    if gpu and kind == 'values' and full_matrices is not False
    does return other vectors without a singular value
    because they are not unique

linalg.eig linalg.eigvals roots poly
    if gpu and kind in ('refused', 'error') and ours == 'NotSupportedError'
    does raise NotSupportedError on HIP
    because hipSOLVER has no eigenvalues of general matrices (docs/linalg.md)

linalg.eig linalg.eigvals linalg.eigh roots
    if gpu and kind == 'values'
    does return eigenvalues in another order
    because their order is unspecified

fft.*
    if gpu and kind == 'values' and 'float16' in dtypes
    does normalize in single precision
    because NumPy rounds the factor to float16

fft.*
    if gpu and kind == 'accepted' and out is not absent
    does write a longer transform into `out`
    because NumPy fails at the shape of its buffer

fft.ihfft
    if gpu and kind == 'error' and out is not absent
    does raise TypeError before ValueError
    because the order in which wrong arguments are found is unspecified

sinc
    if gpu and kind == 'values'
    does return 0 for whole numbers
    because NumPy's rounded multiple of pi gives 4e-17 (docs/arithmetic.md)

reciprocal
    if gpu and kind == 'values'
    does return 0 for the integer 0
    because C and NumPy leave it unspecified

array asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray astype concat concatenate copyto full
full_like nancumprod nancumsum linalg.trace mean require stack sum trace vstack hstack dstack column_stack
row_stack nansum prod nanprod cumsum cumprod cumulative_sum cumulative_prod std var nanmean nanvar nanstd negative
    if gpu and kind == 'values' and (dtype is not absent or out is not absent)
    does convert floats outside of the range of an integer type to other integers, and averages by one rounding
    because C and NumPy leave such conversions unspecified

*
    if gpu and kind == 'values' and out_kind == 'wide'
    does compute in the type of the operands, and is as accurate as that
    because the comparison expects the accuracy of the type of `out`

mean std var nanmean nanstd nanvar
    if gpu and kind == 'refused' and ours == 'ValueError' and dtype is not absent
    does raise ValueError for the mean of no elements as integer
    because NaN is no integer

ldexp
    if gpu and kind == 'accepted'
    does accept a float type for integers
    because they are converted

any all sum prod min max amin amax nansum nanprod nanmin nanmax nanvar nanstd var std mean nanmean
    if gpu and kind == 'accepted' and len(shapes) > 0 and 0 in shapes[0]
    does accept masks of another shape for arrays without elements
    because no element is selected

sum prod min max amin amax nansum nanprod nanmin nanmax
    if gpu and kind == 'error' and isinstance(initial, list)
    does raise TypeError for a list
    because an initial value is one number

histogram
    if gpu and kind == 'values' and ('complex64' in dtypes or 'complex128' in dtypes)
    does count complex numbers between edges
    because NumPy drops imaginary parts in a part of its computation

bincount histogram histogram_bin_edges
    if gpu and kind == 'error' and weights == 'x'
    does raise TypeError for a text
    because texts have no representation on a device

vecmat
    if gpu and kind == 'values' and out_kind == 'F'
    does write the product
    because NumPy 2.4 writes wrong elements of an `out` in Fortran order

unique
    if gpu and kind == 'error' and isinstance(axis, tuple)
    does raise TypeError for several axes
    because one axis is an integer

unique
    if gpu and kind == 'structure' and shapes == [(0,)]
    does return all requested arrays
    because NumPy 2.4 omits one of them for no elements of type bool

intersect1d
    if gpu and kind == 'shape' and assume_unique is True
    does return other elements for arrays with repeated elements
    because the caller states that no element is repeated

compress
    if gpu and kind == 'error' and isinstance(axis, tuple)
    does raise ValueError for the condition before TypeError for the axis
    because the order in which wrong arguments are found is unspecified

real imag
    if gpu and kind == 'dtype'
    does keep the type of a bool
    because NumPy converts a bool, but no array of bools, to an integer

argmax argmin nanargmax nanargmin
    if gpu and kind == 'error' and out is not absent
    does check `out` before it looks for slices of NaN
    because the order in which wrong arguments are found is unspecified

logaddexp logaddexp2
    if gpu and kind == 'values'
    does have another error where the result is near 0
    because both formulas cancel there (docs/arithmetic.md, Accuracy)

lib.scimath.logn
    if gpu and kind == 'values'
    does divide logarithms of the precision of the array
    because the comparison expects the accuracy of the type of the result

fft.fftn
    if gpu and kind == 'values' and out is not absent
    does write the transform
    because NumPy 2.4 and 2.5 write zeros for a longer transform with `out`

linspace
    if gpu and kind == 'values' and num == 0
    does return NaN as the step
    because there is no step; the test compares NaN with NaN

argsort sort
    if numpy25 and kind == 'accepted' and 'kind' in keywords and descending is False
    does take `kind` beside `descending=False`
    because False is the default of `descending`

compress
    if numpy25 and gpu and kind == 'refused' and out_kind == 'wide'
    does raise TypeError for an `out` of a wider type
    because NumPy 2.4 does so; NumPy 2.5 converts

cross linalg.cross
    if numpy25 and kind in ('accepted', 'refused', 'error')
    does take vectors of two elements and rejects axis=None
    because NumPy 2.4 does so; NumPy 2.5 has removed vectors of two elements

interp
    if numpy25 and kind == 'refused'
    does raise ValueError for no sample points
    because NumPy 2.4 does so; NumPy 2.5 returns an empty array if there are no coordinates either

rot90
    if numpy25 and k in (1.5, '1')
    does take whole numbers of turns
    because NumPy 2.4 does so, and 2.5 turns by 1.5 as by 3 and by a text as by 0
""")
"""The differences from NumPy that are intended, as entries in the format of `difference_entries.py`."""
