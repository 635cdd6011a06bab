// From xsf/cephes/chdtr.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// Copyright 1984, 1987 by Stephen L. Moshier
namespace pygpu_xsf {
__device__ inline double chdtrc(double df, double x) {
    if (x < 0.0) {
        return (NAN);
    }
    return (igamc(df / 2.0, x / 2.0));
}
__device__ inline double chdtr(double df, double x) {
    if ((x < 0.0)) {
        return (NAN);
    }
    return (igam(df / 2.0, x / 2.0));
}
__device__ inline double chdtri(double df, double y) {
    double x;
    if ((y < 0.0) || (y > 1.0)) {
        return (NAN);
    }
    x = igamci(0.5 * df, y);
    return (2.0 * x);
}
}
