"""Arrays made of values, of numbers in steps, and of files."""

from PyGPU._functions.creation.files import (
    frombuffer,
    fromfile,
    fromiter,
    fromstring,
    genfromtxt,
    load,
    loadtxt,
    save,
    savetxt,
    savez,
    savez_compressed,
)
from PyGPU._functions.creation.ranges import fromfunction, geomspace, logspace, mgrid, ogrid
from PyGPU._functions.creation.values import (
    array,
    asanyarray,
    asarray_chkfinite,
    ascontiguousarray,
    asfortranarray,
    asnumpy,
    require,
)
from PyGPU._functions.creation.window_functions import bartlett, blackman, hamming, hanning, kaiser

__all__ = [
    "array",
    "asanyarray",
    "asarray_chkfinite",
    "ascontiguousarray",
    "asfortranarray",
    "asnumpy",
    "bartlett",
    "blackman",
    "frombuffer",
    "fromfile",
    "fromfunction",
    "fromiter",
    "fromstring",
    "genfromtxt",
    "geomspace",
    "hamming",
    "hanning",
    "kaiser",
    "load",
    "loadtxt",
    "logspace",
    "mgrid",
    "ogrid",
    "require",
    "save",
    "savetxt",
    "savez",
    "savez_compressed",
]
