// From xsf/agm.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated from Cython to C++ by the xsf developers in 2026.
namespace pygpu_xsf {
__device__ inline double agm_iter(double a, double b) {
        double amean = 0.5 * a + 0.5 * b;
        int count = 20;
#pragma unroll 1
        while (count > 0 && (amean != a && amean != b)) {
            double gmean = ::sqrt(a) * ::sqrt(b);
            a = amean;
            b = gmean;
            amean = 0.5 * a + 0.5 * b;
            count -= 1;
        }
        return amean;
    }
static __device__ __noinline__ double agm(double a, double b) {
    constexpr double sqrthalfmax = 9.480751908109176e+153;
    constexpr double invsqrthalfmax = 1.0547686614863e-154;
    if (isnan(a) || isnan(b)) {
        return NAN;
    }
    if ((a < 0 && b > 0) || (a > 0 && b < 0)) {
        return NAN;
    }
    if ((isinf(a) || isinf(b)) && (a == 0 || b == 0)) {
        return NAN;
    }
    if (a == 0 || b == 0) {
        return 0.0;
    }
    if (a == b) {
        return a;
    }
    int sgn = 1;
    if (a < 0) {
        sgn = -1;
        a = -a;
        b = -b;
    }
    if ((invsqrthalfmax < a && a < sqrthalfmax) && (invsqrthalfmax < b && b < sqrthalfmax)) {
        double e = call_divide(4 * a * b, (a + b) * (a + b));
        return call_divide(sgn * (M_PI / 4) * (a + b), ellpk(e));
    }
    return sgn * agm_iter(a, b);
}
}
