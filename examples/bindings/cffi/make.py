"""``python cffi/make.py OUT``: builds the module in OUT, which contains libheat.so.

A setup.py names `builder` in ``cffi_modules``.
"""

import sys
from pathlib import Path

from cffi import FFI

HERE = Path(__file__).resolve().parent
OUT = Path(sys.argv[1]).resolve()

builder = FFI()
# The header's declarations in cffi's syntax; the compiler compares them with the header.
builder.cdef("""
    float *heat_new(int64_t count);
    void heat_free(void *values);
    int heat_scale(float *values, int64_t count, int64_t stride, float factor, void *stream);
    int heat_step(const float *from, const int64_t *from_strides, float *to, const int64_t *to_strides,
                  const int64_t *shape, void *stream);
    int heat_total(const float *values, const int64_t *strides, const int64_t *shape, double *total, void *stream);
""")
builder.set_source(
    "heat_cffi",
    '#include "heat.h"',
    include_dirs=[str(HERE.parent / "library")],
    library_dirs=[str(OUT)],
    libraries=["heat"],
    extra_compile_args=["-O1"],
    extra_link_args=["-Wl,-rpath,$ORIGIN"],
)

if __name__ == "__main__":
    builder.compile(tmpdir=str(OUT))
