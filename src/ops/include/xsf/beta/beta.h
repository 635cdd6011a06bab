// From xsf/cephes/beta.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// Copyright 1984, 1987 by Stephen L. Moshier
namespace pygpu_xsf {
__device__ inline double lbeta_large(double a, double b) {
    // Subtracts two Stirling series, because the difference of the logarithms would cancel.
    double p = 1 / (a * a), sum = a + b, q = 1 / (sum * sum);
    double series_a = (-5.952380952380952e-4 * p + 7.936507936507937e-4) * p - 2.777777777777778e-3;
    double series_b = (-5.952380952380952e-4 * q + 7.936507936507937e-4) * q - 2.777777777777778e-3;
    return call_lgamma(b) - b * call_log(a) - (sum - 0.5) * call_log1p(b / a) + b +
           (series_a * p + 0.08333333333333333) / a - (series_b * q + 0.08333333333333333) / sum;
}
__device__ inline double inverse_of_gamma(double x) {
    return x <= 0 && x == ::floor(x) ? 0.0 : 1 / call_tgamma(x);
}
constexpr double beta_ASYMP_FACTOR = 1e6;
__device__ inline double lbeta_asymp(double a, double b, int *sgn) {
    double r = lgam_sgn(b, sgn);
    r -= b * ::log(a);
    r += b * (1 - b) / (2 * a);
    r += b * (1 - b) * (1 - 2 * b) / (12 * a * a);
    r += -b * b * (1 - b) * (1 - b) / (12 * a * a * a);
    return r;
}
__device__ inline double beta_negint(int a, double b);
static __device__ __noinline__ double beta(double a, double b) {
        double y;
        int sign = 1;
        if (a <= 0.0) {
            if (a == ::floor(a)) {
                if (a == (int)(a)) {
                    return beta_negint((int)(a), b);
                } else {
                    goto overflow;
                }
            }
        }
        if (b <= 0.0) {
            if (b == ::floor(b)) {
                if (b == (int)(b)) {
                    return beta_negint((int)(b), a);
                } else {
                    goto overflow;
                }
            }
        }
        if (::fabs(a) < ::fabs(b)) {
            y = a;
            a = b;
            b = y;
        }
        if (::fabs(a) > beta_ASYMP_FACTOR * ::fabs(b) && a > beta_ASYMP_FACTOR) {
            y = lbeta_asymp(a, b, &sign);
            return sign * call_exp(y);
        }
        y = a + b;
        if (y > MAXGAM && b > 0) return call_exp(lbeta_large(a, b));
if (::fabs(y) > MAXGAM || ::fabs(a) > MAXGAM || ::fabs(b) > MAXGAM) {
            int sgngam;
            y = lgam_sgn(y, &sgngam);
            sign *= sgngam;
            y = lgam_sgn(b, &sgngam) - y;
            sign *= sgngam;
            y = lgam_sgn(a, &sgngam) + y;
            sign *= sgngam;
            if (y > MAXLOG) {
                goto overflow;
            }
            return (sign * call_exp(y));
        }
        y = inverse_of_gamma(y);
        a = call_tgamma(a);
        b = call_tgamma(b);
        if (isinf(y)) {
            goto overflow;
        }
        if (::fabs(::fabs(a * y) - 1.0) > ::fabs(::fabs(b * y) - 1.0)) {
            y = b * y;
            y *= a;
        } else {
            y = a * y;
            y *= b;
        }
        return (y);
    overflow:
        return (sign * INFINITY);
    }
__device__ inline double beta_negint(int a, double b) {
    int sgn;
    if (b == (int)(b) && 1 - a - b > 0) {
        sgn = ((int)(b) % 2 == 0) ? 1 : -1;
        return sgn * beta(1 - a - b, b);
    } else {
        return INFINITY;
    }
}
__device__ inline double lbeta_negint(int a, double b);
static __device__ __noinline__ double lbeta(double a, double b) {
    if (a <= 0 && a == ::floor(a)) return a == (int)a ? lbeta_negint((int)a, b) : INFINITY;
    if (b <= 0 && b == ::floor(b)) return b == (int)b ? lbeta_negint((int)b, a) : INFINITY;
    double large = ::fabs(a) < ::fabs(b) ? b : a, small = ::fabs(a) < ::fabs(b) ? a : b, sum = a + b;
    int sign;
    if (large > beta_ASYMP_FACTOR && large > beta_ASYMP_FACTOR * ::fabs(small)) return lbeta_asymp(large, small, &sign);
    if (large > 40 && small > 0) return lbeta_large(large, small);
    if (::fabs(sum) > MAXGAM || ::fabs(large) > MAXGAM) {
        return lgam_sgn(small, &sign) - lgam_sgn(sum, &sign) + lgam_sgn(large, &sign);
    }
    return call_log(::fabs(beta(a, b)));
}
__device__ inline double lbeta_negint(int a, double b) {
    double r;
    if (b == (int)(b) && 1 - a - b > 0) {
        r = lbeta(1 - a - b, b);
        return r;
    } else {
        return INFINITY;
    }
}
}
