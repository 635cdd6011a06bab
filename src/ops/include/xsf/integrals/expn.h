// From xsf/cephes/expn.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// Copyright 1985 by Stephen L. Moshier
namespace pygpu_xsf {
constexpr int expn_nA = 13;
__constant__ const double expn_A[13][13] = {{1.00000000000000000}, {1.00000000000000000}, {-2.00000000000000000, 1.00000000000000000}, {6.00000000000000000, -8.00000000000000000, 1.00000000000000000}, {
    -24.0000000000000000, 58.0000000000000000, -22.0000000000000000, 1.00000000000000000
}, {
    120.000000000000000, -444.000000000000000, 328.000000000000000, -52.0000000000000000, 1.00000000000000000
}, {-720.000000000000000, 3708.00000000000000,  -4400.00000000000000,
                              1452.00000000000000,  -114.000000000000000, 1.00000000000000000}, {5040.00000000000000,  -33984.0000000000000, 58140.0000000000000,
                              -32120.0000000000000, 5610.00000000000000,  -240.000000000000000,
                              1.00000000000000000}, {-40320.0000000000000, 341136.000000000000,  -785304.000000000000,
                              644020.000000000000,  -195800.000000000000, 19950.0000000000000,
                              -494.000000000000000, 1.00000000000000000}, {362880.000000000000,  -3733920.00000000000, 11026296.0000000000,
                              -12440064.0000000000, 5765500.00000000000,  -1062500.00000000000,
                              67260.0000000000000,  -1004.00000000000000, 1.00000000000000000}, {-3628800.00000000000, 44339040.0000000000,  -162186912.000000000,
                               238904904.000000000,  -155357384.000000000, 44765000.0000000000,
                               -5326160.00000000000, 218848.000000000000,  -2026.00000000000000,
                               1.00000000000000000}, {39916800.0000000000,  -568356480.000000000, 2507481216.00000000,
                               -4642163952.00000000, 4002695088.00000000,  -1648384304.00000000,
                               314369720.000000000,  -25243904.0000000000, 695038.000000000000,
                               -4072.00000000000000, 1.00000000000000000}, {-479001600.000000000, 7827719040.00000000,  -40788301824.0000000,
                               92199790224.0000000,  -101180433024.000000, 56041398784.0000000,
                               -15548960784.0000000, 2051482776.00000000,  -114876376.000000000,
                               2170626.00000000000,  -8166.00000000000000, 1.00000000000000000}};
__constant__ const int expn_Adegs[] = {0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
static __device__ __noinline__ double expn_large_n(int n, double x) {
            int k;
            double p = n;
            double lambda = call_divide(x, p);
            double multiplier = call_divide(call_divide(call_divide(1, p), lambda + 1), lambda + 1);
            double fac = 1;
            double res = 1;
            double expfac, term;
            expfac = call_divide(call_divide(call_exp(-lambda * p), lambda + 1), p);
            if (expfac == 0) {
                return 0;
            }
            fac *= multiplier;
            res += fac;
#pragma unroll 1
            for (k = 2; k < expn_nA; k++) {
                fac *= multiplier;
                term = fac * polevl(lambda, expn_A[k], expn_Adegs[k]);
                res += term;
                if (::fabs(term) < MACHEP * ::fabs(res)) {
                    break;
                }
            }
            return expfac * res;
        }
static __device__ __noinline__ double expn(int n, double x) {
        double ans, r, t, yk, xk;
        double pk, pkm1, pkm2, qk, qkm1, qkm2;
        double psi, z;
        int i, k;
        constexpr double big = 1.44115188075855872E+17;
        if (isnan(x)) {
            return NAN;
        } else if (n < 0 || x < 0) {
            return NAN;
        }
        if (x > MAXLOG) {
            return (0.0);
        }
        if (x == 0.0) {
            if (n < 2) {
                return INFINITY;
            } else {
                return (call_divide(1.0, n - 1.0));
            }
        }
        if (n == 0) {
            return (call_divide(call_exp(-x), x));
        }
        if (n > 50) {
            ans = expn_large_n(n, x);
            return ans;
        }
        if (x > 1.0) {
            k = 1;
            pkm2 = 1.0;
            qkm2 = x;
            pkm1 = 1.0;
            qkm1 = x + n;
            ans = call_divide(pkm1, qkm1);
#pragma unroll 1
            do {
                k += 1;
                if (k & 1) {
                    yk = 1.0;
                    xk = n + (k - 1) / 2;
                } else {
                    yk = x;
                    xk = k / 2;
                }
                pk = pkm1 * yk + pkm2 * xk;
                qk = qkm1 * yk + qkm2 * xk;
                if (qk != 0) {
                    r = call_divide(pk, qk);
                    t = ::fabs(call_divide((ans - r), r));
                    ans = r;
                } else {
                    t = 1.0;
                }
                pkm2 = pkm1;
                pkm1 = pk;
                qkm2 = qkm1;
                qkm1 = qk;
                if (::fabs(pk) > big) {
                    pkm2 = call_divide(pkm2, big);
                    pkm1 = call_divide(pkm1, big);
                    qkm2 = call_divide(qkm2, big);
                    qkm1 = call_divide(qkm1, big);
                }
            } while (t > MACHEP);
            ans *= call_exp(-x);
            return ans;
        }
        psi = -SCIPY_EULER - call_log(x);
#pragma unroll 1
        for (i = 1; i < n; i++) {
            psi = psi + call_divide(1.0, i);
        }
        z = -x;
        xk = 0.0;
        yk = 1.0;
        pk = 1.0 - n;
        if (n == 1) {
            ans = 0.0;
        } else {
            ans = call_divide(1.0, pk);
        }
#pragma unroll 1
        do {
            xk += 1.0;
            yk *= call_divide(z, xk);
            pk += 1.0;
            if (pk != 0.0) {
                ans += call_divide(yk, pk);
            }
            if (ans != 0.0)
                t = ::fabs(call_divide(yk, ans));
            else
                t = 1.0;
        } while (t > MACHEP);
        k = xk;
        t = n;
        r = n - 1;
        ans = (call_pow(z, r) * psi * rgamma(t)) - ans;
        return ans;
    }
}
