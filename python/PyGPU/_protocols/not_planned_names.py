"""List of NumPy's names that PyGPU is not planned to provide, with the replacement of each name."""

from __future__ import annotations

NOT_PLANNED: dict[str, tuple[str, ...]] = {
    "Python would be called for each element; write a `PyGPU.ElementwiseKernel`, or use functions of whole arrays": (
        "frompyfunc", "vectorize",
    ),
    "arrays are not iterated element by element; use `a.tolist()` or `a.get()`, and `PyGPU.ndindex` for the indices": (
        "ndenumerate", "nditer", "nested_iters",
    ),
    "pass the coefficients to `PyGPU.polyval`, `polyadd`, `polymul`, `polyder`, `polyfit` or `roots`": (
        "poly1d", "polynomial",
    ),
    "use arrays with two axes, the operator `@` and `PyGPU.block`": ("asmatrix", "bmat", "matrix"),
    "use a mask of bool with `PyGPU.where` or `where=`, or NaN with `nansum`, `nanmean` and similar": ("ma",),
    "use a structured dtype and `a['field']`": ("rec", "recarray", "record"),
    "text cannot be stored on a device; compute with NumPy and upload numbers": ("char", "strings"),
    "dates cannot be stored on a device; upload them as int64, `x.astype('datetime64[ns]').view('int64')`": (
        "busday_count", "busday_offset", "busdaycalendar", "datetime64", "datetime_as_string", "datetime_data",
        "is_busday", "isnat", "timedelta64",
    ),
    "no device has the type; use float64 or complex128": ("clongdouble", "complex256", "float128", "longdouble"),
    "read the file with NumPy and upload the values, `PyGPU.to_gpu(x)`": ("fromregex", "memmap"),
    "write kernels in CUDA C++ with `PyGPU.Module`; `PyGPU.as_argtype` serves `ctypes`": ("ctypeslib", "f2py"),
    "it is a private part of NumPy": ("core",),
    "use `PyGPU.show_config()`": ("show_runtime",),
    "use `python -m PyGPU test`": ("test",),
}  # fmt: skip
"""NumPy's names, grouped by the text that describes the replacement; docs/array_api.md contains these texts."""


def replacement(name: str) -> str | None:
    """Return the text that recommends a replacement for a name that is not planned, or None for other names."""
    return next((text for text, names in NOT_PLANNED.items() if name in names), None)
