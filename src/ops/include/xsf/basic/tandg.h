// From xsf/cephes/tandg.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// Copyright 1984, 1987 by Stephen L. Moshier
namespace pygpu_xsf {
constexpr double tandg_lossth = 1.0e14;
static __device__ __noinline__ double tancot(double xx, int cotflg) {
    double x;
    int sign;
    if (signbit(xx)) {
        x = -xx;
        sign = -1;
    } else {
        x = xx;
        sign = 1;
    }
    if (x > tandg_lossth) {
        return 0.0;
    }
    double k = ::floor(x / 180.0);
    x = x - 180.0 * k;
    if (cotflg) {
        if (x <= 90.0) {
            x = 90.0 - x;
        } else {
            x = x - 90.0;
            sign *= -1;
        }
    } else {
        if (x > 90.0) {
            x = 180.0 - x;
            sign *= -1;
        }
    }
    if (x == 0.0) {
        if (static_cast<long long>(k) & 1) {
            sign *= -1;
        }
        return sign * 0.0;
    } else if (x == 45.0) {
        return sign * 1.0;
    } else if (x == 90.0) {
        if (static_cast<long long>(k) & 1) {
            sign *= -1;
        }
        return sign * INFINITY;
    }
    return sign * ::tan(x * PI180);
}
__device__ inline double tandg(double x) { return (tancot(x, 0)); }
__device__ inline double cotdg(double x) { return (tancot(x, 1)); }
}
