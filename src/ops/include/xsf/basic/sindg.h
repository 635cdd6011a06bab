// From xsf/cephes/sindg.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// Copyright 1985, 1987 by Stephen L. Moshier
namespace pygpu_xsf {
__constant__ const double sincof[] = {1.58962301572218447952E-10, -2.50507477628503540135E-8,
2.75573136213856773549E-6,  -1.98412698295895384658E-4,
8.33333333332211858862E-3,  -1.66666666666666307295E-1};
__constant__ const double coscof[] = {1.13678171382044553091E-11, -2.08758833757683644217E-9, 2.75573155429816611547E-7,
-2.48015872936186303776E-5, 1.38888888888806666760E-3,  -4.16666666666666348141E-2,
4.99999999999999999798E-1};
constexpr double sindg_lossth = 1.0e14;
static __device__ __noinline__ double sindg(double x) {
    double y, z, zz;
    int j, sign;
    sign = 1;
    if (signbit(x)) {
        x = -x;
        sign = -1;
    }
    if (x > sindg_lossth) {
        return (0.0);
    }
    y = ::floor(x / 45.0);
    z = ::ldexp(y, -4);
    z = ::floor(z);
    z = y - ::ldexp(z, 4);
    j = z;
    if (j & 1) {
        j += 1;
        y += 1.0;
    }
    j = j & 07;
    if (j > 3) {
        sign = -sign;
        j -= 4;
    }
    z = x - y * 45.0;
    z *= PI180;
    zz = z * z;
    if ((j == 1) || (j == 2)) {
        y = 1.0 - zz * polevl(zz, coscof, 6);
    } else {
        y = z + z * (zz * polevl(zz, sincof, 5));
    }
    if (sign < 0)
        y = -y;
    return (y);
}
static __device__ __noinline__ double cosdg(double x) {
    double y, z, zz;
    int j, sign;
    sign = 1;
    if (x < 0)
        x = -x;
    if (x > sindg_lossth) {
        return (0.0);
    }
    y = ::floor(x / 45.0);
    z = ::ldexp(y, -4);
    z = ::floor(z);
    z = y - ::ldexp(z, 4);
    j = z;
    if (j & 1) {
        j += 1;
        y += 1.0;
    }
    j = j & 07;
    if (j > 3) {
        j -= 4;
        sign = -sign;
    }
    if (j > 1)
        sign = -sign;
    z = x - y * 45.0;
    z *= PI180;
    zz = z * z;
    if ((j == 1) || (j == 2)) {
        y = z + z * (zz * polevl(zz, sincof, 5));
    } else {
        y = 1.0 - zz * polevl(zz, coscof, 6);
    }
    if (sign < 0)
        y = -y;
    return (y);
}
constexpr double sindg_P64800 = 4.848136811095359935899141023579479759563533023727e-6;
__device__ inline double radian(double d, double m, double s) {
    return (((d * 60.0 + m) * 60.0 + s) * sindg_P64800);
}
}
