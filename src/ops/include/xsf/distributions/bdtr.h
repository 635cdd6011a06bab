// From xsf/cephes/bdtr.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// Copyright 1984, 1987, 1995 by Stephen L. Moshier
namespace pygpu_xsf {
static __device__ __noinline__ double bdtrc(double k, int n, double p) {
    double dk, dn;
    double fk = ::floor(k);
    if (isnan(p) || isnan(k)) {
        return NAN;
    }
    if (p < 0.0 || p > 1.0 || n < fk) {
        return NAN;
    }
    if (fk < 0) {
        return 1.0;
    }
    if (fk == n) {
        return 0.0;
    }
    dn = n - fk;
    if (k == 0) {
        if (p < .01)
            dk = -call_expm1(dn * call_log1p(-p));
        else
            dk = 1.0 - call_pow(1.0 - p, dn);
    } else {
        dk = fk + 1;
        dk = incbet(dk, dn, p);
    }
    return dk;
}
__device__ inline double bdtr(double k, int n, double p) {
    double dk, dn;
    double fk = ::floor(k);
    if (isnan(p) || isnan(k)) {
        return NAN;
    }
    if (p < 0.0 || p > 1.0 || fk < 0 || n < fk) {
        return NAN;
    }
    if (fk == n) {
        return 1.0;
    }
    dn = n - fk;
    if (fk == 0) {
        dk = call_pow(1.0 - p, dn);
    } else {
        dk = fk + 1.;
        dk = incbet(dn, dk, 1.0 - p);
    }
    return dk;
}
static __device__ __noinline__ double bdtri(double k, int n, double y) {
    double p, dn, dk;
    double fk = ::floor(k);
    if (isnan(k)) {
        return NAN;
    }
    if (y < 0.0 || y > 1.0 || fk < 0.0 || n <= fk) {
        return NAN;
    }
    dn = n - fk;
    if (fk == n) {
        return 1.0;
    }
    if (fk == 0) {
        if (y > 0.8) {
            p = -call_expm1(call_divide(call_log1p(y - 1.0), dn));
        } else {
            p = 1.0 - call_pow(y, call_divide(1.0, dn));
        }
    } else {
        dk = fk + 1;
        p = incbet(dn, dk, 0.5);
        if (p > 0.5) {
            p = incbi(dk, dn, 1.0 - y);
        } else {
            p = 1.0 - incbi(dn, dk, y);
        }
    }
    return p;
}
}
