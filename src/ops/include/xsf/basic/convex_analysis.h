// From xsf/convex_analysis.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated from Cython to C++ by the xsf developers in 2026.
// Original implementation by argriffing.
namespace pygpu_xsf {
__device__ inline double entr(double x) {
    if (isnan(x)) {
        return x;
    } else if (x > 0) {
        return -x * ::log(x);
    } else if (x == 0) {
        return 0;
    } else {
        return -INFINITY;
    }
}
__device__ inline double kl_div(double x, double y) {
    if (isnan(x) || isnan(y)) {
        return NAN;
    } else if (x > 0 && y > 0) {
        return x * ::log(x / y) - x + y;
    } else if (x == 0 && y >= 0) {
        return y;
    } else {
        return INFINITY;
    }
}
__device__ inline double rel_entr(double x, double y) {
    if (isnan(x) || isnan(y)) {
        return NAN;
    }
    if (x <= 0 || y <= 0) {
        if (x == 0 && y >= 0) {
            return 0;
        }
        return INFINITY;
    }
    double ratio = x / y;
    if (0.5 < ratio && ratio < 2) {
        return x * ::log1p((x - y) / y);
    }
    if (DBL_MIN < ratio && ratio < INFINITY) {
        return x * ::log(ratio);
    }
    return x * (::log(x) - ::log(y));
}
__device__ inline double huber(double delta, double r) {
    if (delta < 0) {
        return INFINITY;
    } else if (::fabs(r) <= delta) {
        return 0.5 * r * r;
    } else {
        return delta * (::fabs(r) - 0.5 * delta);
    }
}
__device__ inline double pseudo_huber(double delta, double r) {
    if (delta < 0) {
        return INFINITY;
    } else if (delta == 0 || r == 0) {
        return 0;
    } else {
        double u = delta;
        double v = r / delta;
        return u * u * ::expm1(0.5 * ::log1p(v * v));
    }
}
}
