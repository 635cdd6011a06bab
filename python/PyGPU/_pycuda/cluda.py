"""C macros that let the same kernel source compile as CUDA and as OpenCL."""

from __future__ import annotations

_MACROS = {
    "local_barrier()": "__syncthreads();",
    "WITHIN_KERNEL": "__device__",
    "KERNEL": 'extern "C" __global__',
    "GLOBAL_MEM": "",
    "LOCAL_MEM": "__shared__",
    "LOCAL_MEM_ARG": "",
    "REQD_WG_SIZE(X,Y,Z)": "__launch_bounds__(X*Y*Z, 1)",
}

_INDICES = {"LID": "threadIdx", "GID": "blockIdx", "LDIM": "blockDim", "GDIM": "gridDim"}

CLUDA_PREAMBLE = "".join(
    [
        *(f"#define {macro} {meaning}\n" for macro, meaning in _MACROS.items()),
        *(
            f"#define {macro}_{dimension} {variable}.{axis}\n"
            for macro, variable in _INDICES.items()
            for dimension, axis in enumerate("xyz")
        ),
    ]
)
"""Definitions of the macros, to be placed before a kernel's source."""
