// From xsf/cephes/gdtr.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// Copyright 1984, 1987, 1995 by Stephen L. Moshier
namespace pygpu_xsf {
__device__ inline double gdtr(double a, double b, double x) {
    if (x < 0.0) {
        return (NAN);
    }
    return (igam(b, a * x));
}
__device__ inline double gdtrc(double a, double b, double x) {
    if (x < 0.0) {
        return (NAN);
    }
    return (igamc(b, a * x));
}
}
