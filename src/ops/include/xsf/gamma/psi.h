// From xsf/cephes/psi.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// Copyright 1984, 1987, 1992, 2000 by Stephen L. Moshier
// (C) Copyright John Maddock 2006.
namespace pygpu_xsf {
__constant__ const double psi_A[] = {8.33333333333333333333E-2,  -2.10927960927960927961E-2, 7.57575757575757575758E-3,
-4.16666666666666666667E-3, 3.96825396825396825397E-3,  -8.33333333333333333333E-3,
8.33333333333333333333E-2};
constexpr float psi_Y = 0.99558162689208984f;
constexpr double psi_root1 = 1569415565.0 / 1073741824.0;
constexpr double psi_root2 = (381566830.0 / 1073741824.0) / 1073741824.0;
constexpr double psi_root3 = 0.9016312093258695918615325266959189453125e-19;
__constant__ const double psi_P[] = {-0.0020713321167745952, -0.045251321448739056, -0.28919126444774784,
-0.65031853770896507,   -0.32555031186804491,  0.25479851061131551};
__constant__ const double psi_Q[] = {
    -0.55789841321675513e-6,
    0.0021284987017821144,
    0.054151797245674225,
    0.43593529692665969,
    1.4606242909763515,
    2.0767117023730469,
    1.0
};
__device__ inline double digamma_imp_1_2(double x) {
    double r, g;
    g = x - psi_root1;
    g -= psi_root2;
    g -= psi_root3;
    r = polevl(x - 1.0, psi_P, 5) / polevl(x - 1.0, psi_Q, 6);
    return g * psi_Y + g * r;
}
__device__ inline double psi_asy(double x) {
    double y, z;
    if (x < 1.0e17) {
        z = 1.0 / (x * x);
        y = z * polevl(z, psi_A, 6);
    } else {
        y = 0.0;
    }
    return ::log(x) - (0.5 / x) - y;
}
static __device__ __noinline__ double psi(double x) {
        double y = 0.0;
        double q, r;
        int i, n;
        if (isnan(x)) {
            return x;
        } else if (x == INFINITY) {
            return x;
        } else if (x == -INFINITY) {
            return NAN;
        } else if (x == 0) {
            return ::copysign(INFINITY, -x);
        } else if (x < 0.0) {
            r = ::modf(x, &q);
            if (r == 0.0) {
                return NAN;
            }
            y = -call_divide(M_PI, ::tan(M_PI * r));
            x = 1.0 - x;
        }
        if ((x <= 10.0) && (x == ::floor(x))) {
            n = (int)(x);
#pragma unroll 1
            for (i = 1; i < n; i++) {
                y += call_divide(1.0, i);
            }
            y -= SCIPY_EULER;
            return y;
        }
        if (x < 1.0) {
            y -= call_divide(1.0, x);
            x += 1.0;
        } else if (x < 10.0) {
#pragma unroll 1
            while (x > 2.0) {
                x -= 1.0;
                y += call_divide(1.0, x);
            }
        }
        if ((1.0 <= x) && (x <= 2.0)) {
            y += digamma_imp_1_2(x);
            return y;
        }
        y += psi_asy(x);
        return y;
    }
}
