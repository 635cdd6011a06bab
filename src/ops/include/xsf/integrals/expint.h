// From xsf/expint.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
namespace pygpu_xsf {
static __device__ __noinline__ double exp1(double x) {
    int k, m;
    double e1, r, t, t0;
    constexpr double ga = SCIPY_EULER;
    if (x == 0.0) {
        return INFINITY;
    }
    if (x <= 1.0) {
        e1 = 1.0;
        r = 1.0;
#pragma unroll 1
        for (k = 1; k < 26; k++) {
            r = -r * k * x / ((k + 1.0) * (k + 1.0));
            e1 += r;
            if (::fabs(r) <= ::fabs(e1) * 1e-15) {
                break;
            }
        }
        return -ga - call_log(x) + x * e1;
    }
    if (x > 800.0) return 0.0;
    m = 20 + (int)(80.0 / x);
    t0 = 0.0;
#pragma unroll 1
    for (k = m; k > 0; k--) {
        t0 = k * (x + t0) / (k + x + t0);
    }
    t = 1.0 / (x + t0);
    return call_exp(-x) * t;
}
static __device__ __noinline__ double expi(double x) {
    constexpr double ga = SCIPY_EULER;
    double ei, r;
    if (x == 0.0) {
        ei = -INFINITY;
    } else if (x < 0) {
        ei = -exp1(-x);
    } else if (::fabs(x) <= 40.0) {
        ei = 1.0;
        r = 1.0;
#pragma unroll 1
        for (int k = 1; k <= 100; k++) {
            r = r * k * x / ((k + 1.0) * (k + 1.0));
            ei += r;
            if (::fabs(r / ei) <= 1.0e-15) {
                break;
            }
        }
        ei = ga + call_log(x) + x * ei;
    } else if (isinf(x)) {
        return INFINITY;
    } else {
        ei = 1.0;
        r = 1.0;
#pragma unroll 1
        for (int k = 1; k <= 20; k++) {
            r = r * k / x;
            ei += r;
        }
        ei = call_exp(x) / x * ei;
    }
    return ei;
}
}
