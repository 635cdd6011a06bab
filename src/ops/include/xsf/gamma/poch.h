// From xsf/cephes/poch.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
namespace pygpu_xsf {
__device__ inline double is_nonpos_int(double x) {
    return x <= 0 && x == ::ceil(x) && ::fabs(x) < 1e13;
}
static __device__ __noinline__ double poch(double a, double m) {
        double r = 1.0;
#pragma unroll 1
        while (m >= 1.0) {
            if (a + m == 1) {
                break;
            }
            m -= 1.0;
            r *= (a + m);
            if (!isfinite(r) || r == 0) {
                break;
            }
        }
#pragma unroll 1
        while (m <= -1.0) {
            if (a + m == 0) {
                break;
            }
            r = call_divide(r, (a + m));
            m += 1.0;
            if (!isfinite(r) || r == 0) {
                break;
            }
        }
        if (m == 0) {
            return r;
        } else if (a > 1e4 && ::fabs(m) <= 1) {
            return r * call_pow(a, m) *
                   (1 + call_divide(m * (m - 1), 2 * a) + call_divide(m * (m - 1) * (m - 2) * (3 * m - 1), 24 * a * a) +
                    call_divide(m * m * (m - 1) * (m - 1) * (m - 2) * (m - 3), 48 * a * a * a));
        }
        if (is_nonpos_int(a + m) && !is_nonpos_int(a) && a + m != m) {
            return INFINITY;
        }
        if (!is_nonpos_int(a + m) && is_nonpos_int(a)) {
            return 0;
        }
        return r * call_exp(call_lgamma(a + m) - call_lgamma(a)) * gammasgn(a + m) * gammasgn(a);
    }
}
