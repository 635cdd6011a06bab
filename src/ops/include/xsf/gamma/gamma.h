// From xsf/cephes/gamma.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// Copyright 1984, 1987, 1989, 1992 by Stephen L. Moshier
namespace pygpu_xsf {
__device__ inline double lgam_sgn(double x, int *sign) {
    *sign = x < 0 && ::floor(x) != 2 * ::floor(0.5 * ::floor(x)) ? -1 : 1;
    return call_lgamma(x);
}
__device__ inline double gammasgn(double x) {
    double fx;
    if (isnan(x)) {
        return x;
    }
    if (x > 0) {
        return 1.0;
    }
    if (x == 0) {
        return ::copysign(1.0, x);
    }
    if (isinf(x)) {
        return NAN;
    }
    fx = ::floor(x);
    if (x - fx == 0.0) {
        return NAN;
    }
    if ((int)(fx) % 2) {
        return -1.0;
    }
    return 1.0;
}
}
