// From xsf/cephes/yv.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// Copyright 1984, 1987, 2000 by Stephen L. Moshier
namespace pygpu_xsf {
static __device__ __noinline__ double yv(double v, double x) {
    double y, t;
    int n;
    n = v;
    if (n == v) {
        y = yn(n, x);
        return (y);
    } else if (v == ::floor(v)) {
        return NAN;
    }
    t = M_PI * v;
    y = call_divide((call_cos(t) * jv(v, x) - jv(-v, x)), call_sin(t));
    if (isinf(y)) {
        if (v > 0) {
            return -INFINITY;
        } else if (v < -1e10) {
            return NAN;
        }
    }
    return (y);
}
}
