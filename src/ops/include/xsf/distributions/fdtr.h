// From xsf/cephes/fdtr.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// Copyright 1984, 1987, 1995 by Stephen L. Moshier
namespace pygpu_xsf {
__device__ inline double fdtrc(double a, double b, double x) {
    double w;
    if ((a <= 0.0) || (b <= 0.0) || (x < 0.0)) {
        return NAN;
    }
    w = b / (b + a * x);
    return incbet_of(0.5 * b, 0.5 * a, w, a * x / (b + a * x));
}
__device__ inline double fdtr(double a, double b, double x) {
    double w;
    if ((a <= 0.0) || (b <= 0.0) || (x < 0.0)) {
        return NAN;
    }
    w = a * x;
    return incbet_of(0.5 * a, 0.5 * b, w / (b + w), b / (b + w));
}
__device__ inline double fdtri(double a, double b, double y) {
    double w, x;
    if ((a <= 0.0) || (b <= 0.0) || (y <= 0.0) || (y > 1.0)) {
        return NAN;
    }
    y = 1.0 - y;
    w = incbet(0.5 * b, 0.5 * a, 0.5);
    if (w > y || y < 0.001) {
        w = incbi(0.5 * b, 0.5 * a, y);
        x = (b - b * w) / (a * w);
    } else {
        w = incbi(0.5 * a, 0.5 * b, 1.0 - y);
        x = b * w / (a * (1.0 - w));
    }
    return x;
}
}
