"""NumPy's own objects that `PyGPU` exports as well: types, formatting functions, index helpers, settings.

None of them computes on array elements. `array2string`, `array_repr` and `array_str` dispatch to PyGPU by
``__array_function__``, which copies the array's values to the host.
"""

from __future__ import annotations

from numpy import (
    array2string as array2string,
    array_repr as array_repr,
    array_str as array_str,
    base_repr as base_repr,
    binary_repr as binary_repr,
    bool_ as bool_,
    byte as byte,
    cdouble as cdouble,
    complexfloating as complexfloating,
    csingle as csingle,
    double as double,
    errstate as errstate,
    euler_gamma as euler_gamma,
    floating as floating,
    format_float_positional as format_float_positional,
    format_float_scientific as format_float_scientific,
    generic as generic,
    get_printoptions as get_printoptions,
    half as half,
    index_exp as index_exp,
    inexact as inexact,
    int_ as int_,
    intc as intc,
    integer as integer,
    intp as intp,
    isscalar as isscalar,
    issubdtype as issubdtype,
    iterable as iterable,
    longlong as longlong,
    ndindex as ndindex,
    number as number,
    printoptions as printoptions,
    promote_types as promote_types,
    s_ as s_,
    set_printoptions as set_printoptions,
    short as short,
    signedinteger as signedinteger,
    single as single,
    ubyte as ubyte,
    uint as uint,
    uintc as uintc,
    uintp as uintp,
    ulonglong as ulonglong,
    unsignedinteger as unsignedinteger,
    ushort as ushort,
)

from PyGPU._names.public import public_values

public_values(
    "NumPy's own",
    "array2string", "array_repr", "array_str", "base_repr", "binary_repr", "bool_", "byte", "cdouble",
    "complexfloating", "csingle", "double", "errstate", "euler_gamma", "floating", "format_float_positional",
    "format_float_scientific", "generic", "get_printoptions", "half", "index_exp", "inexact", "int_", "intc", "integer",
    "intp", "isscalar", "issubdtype", "iterable", "longlong", "ndindex", "number", "printoptions", "promote_types",
    "s_", "set_printoptions", "short", "signedinteger", "single", "ubyte", "uint", "uintc", "uintp", "ulonglong",
    "unsignedinteger", "ushort",
)  # fmt: skip
