// From xsf/cephes/yn.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// Copyright 1984, 1987, 2000 by Stephen L. Moshier
namespace pygpu_xsf {
static __device__ __noinline__ double yn(int n, double x) {
        double an, anm1, anm2, r;
        int k, sign;
        if (n < 0) {
            n = -n;
            if ((n & 1) == 0) {
                sign = 1;
            } else {
                sign = -1;
            }
        } else {
            sign = 1;
        }
        if (n == 0) {
            return (sign * call_y0(x));
        }
        if (n == 1) {
            return (sign * call_y1(x));
        }
        if (x == 0.0) {
            return -INFINITY * sign;
        } else if (x < 0.0) {
            return NAN;
        }
        anm2 = call_y0(x);
        anm1 = call_y1(x);
        k = 1;
        r = 2 * k;
#pragma unroll 1
        do {
            an = call_divide(r * anm1, x) - anm2;
            anm2 = anm1;
            anm1 = an;
            r += 2.0;
            ++k;
        } while (k < n && isfinite(an));
        return (sign * an);
    }
}
