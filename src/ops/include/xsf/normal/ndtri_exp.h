// From xsf/ndtri_exp.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated from Cython to C++ by the xsf developers in 2026.
// Copyright: Albert Steppi
namespace pygpu_xsf {
__device__ inline double ndtri_exp_small_y(double y) {
    double x;
    if (y >= -DBL_MAX * 0.5) {
        x = ::sqrt(-2.0 * y);
    } else {
        x = M_SQRT2 * ::sqrt(-y);
    }
    const double x0 = x - ::log(x) / x;
    const double z = 1.0 / x;
    double x1;
    if (x < 8.0) {
        x1 = z * polevl(z, ndtri_P1, 8) / p1evl(z, ndtri_Q1, 8);
    } else {
        x1 = z * polevl(z, ndtri_P2, 8) / p1evl(z, ndtri_Q2, 8);
    }
    return x1 - x0;
}
__device__ inline double ndtri_exp(double y) {
    if (y < -DBL_MAX) {
        return -INFINITY;
    }
    if (y < -2.0) {
        return ndtri_exp_small_y(y);
    }
    if (y > -0.14541345786885906) {
        return -ndtri(-::expm1(y));
    }
    return ndtri(::exp(y));
}
}
