// From xsf/cephes/igam.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// Copyright 1985, 1987 by Stephen L. Moshier
namespace pygpu_xsf {
constexpr int igam_MAXITER = 2000;
constexpr int IGAM = 1;
constexpr int IGAMC = 0;
constexpr double igam_SMALL = 20;
constexpr double igam_LARGE = 200;
constexpr double igam_SMALLRATIO = 0.3;
constexpr double igam_LARGERATIO = 4.5;
constexpr double igam_big = 4.503599627370496e15;
constexpr double igam_biginv = 2.22044604925031308085e-16;
static __device__ __noinline__ double igam_fac(double a, double x) {
    double ax, fac, res, num;
    if (::fabs(a - x) > 0.4 * ::fabs(a)) {
        ax = a * call_log(x) - x - call_lgamma(a);
        if (ax < -MAXLOG) {
            return 0.0;
        }
        return call_exp(ax);
    }
    fac = a + lanczos_g - 0.5;
    res = call_divide(call_sqrt(call_divide(fac, M_E)), lanczos_sum_expg_scaled(a));
    if ((a < 200) && (x < 200)) {
        res *= call_exp(a - x) * call_pow(call_divide(x, fac), a);
    } else {
        num = x - a - lanczos_g + 0.5;
        res *= call_exp(a * log1pmx(call_divide(num, fac)) + call_divide(x * (0.5 - lanczos_g), fac));
    }
    return res;
}
static __device__ __noinline__ double igamc_continued_fraction(double a, double x) {
            int i;
            double ans, ax, c, yc, r, t, y, z;
            double pk, pkm1, pkm2, qk, qkm1, qkm2;
            ax = igam_fac(a, x);
            if (ax == 0.0) {
                return 0.0;
            }
            y = 1.0 - a;
            z = x + y + 1.0;
            c = 0.0;
            pkm2 = 1.0;
            qkm2 = x;
            pkm1 = x + 1.0;
            qkm1 = z * x;
            ans = call_divide(pkm1, qkm1);
#pragma unroll 1
            for (i = 0; i < igam_MAXITER; i++) {
                c += 1.0;
                y += 1.0;
                z += 2.0;
                yc = y * c;
                pk = pkm1 * z - pkm2 * yc;
                qk = qkm1 * z - qkm2 * yc;
                if (qk != 0) {
                    r = call_divide(pk, qk);
                    t = ::fabs(call_divide((ans - r), r));
                    ans = r;
                } else
                    t = 1.0;
                pkm2 = pkm1;
                pkm1 = pk;
                qkm2 = qkm1;
                qkm1 = qk;
                if (::fabs(pk) > igam_big) {
                    pkm2 *= igam_biginv;
                    pkm1 *= igam_biginv;
                    qkm2 *= igam_biginv;
                    qkm1 *= igam_biginv;
                }
                if (t <= MACHEP) {
                    break;
                }
            }
            return (ans * ax);
        }
static __device__ __noinline__ double igam_series(double a, double x) {
            int i;
            double ans, ax, c, r;
            ax = igam_fac(a, x);
            if (ax == 0.0) {
                return 0.0;
            }
            r = a;
            c = 1.0;
            ans = 1.0;
#pragma unroll 1
            for (i = 0; i < igam_MAXITER; i++) {
                r += 1.0;
                c *= call_divide(x, r);
                ans += c;
                if (c <= MACHEP * ans) {
                    break;
                }
            }
            return (call_divide(ans * ax, a));
        }
static __device__ __noinline__ double igamc_series(double a, double x) {
            int n;
            double fac = 1;
            double sum = 0;
            double term, logx;
#pragma unroll 1
            for (n = 1; n < igam_MAXITER; n++) {
                fac *= -call_divide(x, n);
                term = call_divide(fac, a + n);
                sum += term;
                if (::fabs(term) <= MACHEP * ::fabs(sum)) {
                    break;
                }
            }
            logx = call_log(x);
            term = -call_expm1(a * logx - lgam1p(a));
            return term - call_exp(a * logx - call_lgamma(a)) * sum;
        }
static __device__ __noinline__ double asymptotic_series(double a, double x, int func) {
            int k, n, sgn;
            int maxpow = 0;
            double lambda = call_divide(x, a);
            double sigma = call_divide((x - a), a);
            double eta, res, ck, ckterm, term, absterm;
            double absoldterm = INFINITY;
            double etapow[igam_asymp_coeff_N] = {1};
            double sum = 0;
            double afac = 1;
            if (func == IGAM) {
                sgn = -1;
            } else {
                sgn = 1;
            }
            if (lambda > 1) {
                eta = call_sqrt(-2 * log1pmx(sigma));
            } else if (lambda < 1) {
                eta = -call_sqrt(-2 * log1pmx(sigma));
            } else {
                eta = 0;
            }
            res = 0.5 * call_erfc(sgn * eta * call_sqrt(a / 2));
#pragma unroll 1
            for (k = 0; k < igam_asymp_coeff_K; k++) {
                ck = igam_asymp_coeff_d[k][0];
#pragma unroll 1
                for (n = 1; n < igam_asymp_coeff_N; n++) {
                    if (n > maxpow) {
                        etapow[n] = eta * etapow[n - 1];
                        maxpow += 1;
                    }
                    ckterm = igam_asymp_coeff_d[k][n] * etapow[n];
                    ck += ckterm;
                    if (::fabs(ckterm) < MACHEP * ::fabs(ck)) {
                        break;
                    }
                }
                term = ck * afac;
                absterm = ::fabs(term);
                if (absterm > absoldterm) {
                    break;
                }
                sum += term;
                if (absterm < MACHEP * ::fabs(sum)) {
                    break;
                }
                absoldterm = absterm;
                afac = call_divide(afac, a);
            }
            res += call_divide(sgn * call_exp(-0.5 * a * eta * eta) * sum, call_sqrt(2 * M_PI * a));
            return res;
        }
static __device__ __noinline__ double igamc(double a, double x) {
    double absxma_a;
    if (isnan(a) || isnan(x)) {
        return NAN;
    }
    if (x < 0 || a < 0) {
        return NAN;
    } else if (a == 0) {
        if (x > 0) {
            return 0;
        } else {
            return NAN;
        }
    } else if (x == 0) {
        return 1;
    } else if (isinf(a)) {
        if (isinf(x)) {
            return NAN;
        }
        return 1;
    } else if (isinf(x)) {
        return 0;
    }
    absxma_a = call_divide(::fabs(x - a), a);
    if ((a > igam_SMALL) && (a < igam_LARGE) && (absxma_a < igam_SMALLRATIO)) {
        return asymptotic_series(a, x, IGAMC);
    } else if ((a > igam_LARGE) && (absxma_a < call_divide(igam_LARGERATIO, call_sqrt(a)))) {
        return asymptotic_series(a, x, IGAMC);
    }
    if (x > 1.1) {
        if (x < a) {
            return 1.0 - igam_series(a, x);
        } else {
            return igamc_continued_fraction(a, x);
        }
    } else if (x <= 0.5) {
        if (-call_divide(0.4, call_log(x)) < a) {
            return 1.0 - igam_series(a, x);
        } else {
            return igamc_series(a, x);
        }
    } else {
        if (x * 1.1 < a) {
            return 1.0 - igam_series(a, x);
        } else {
            return igamc_series(a, x);
        }
    }
}
static __device__ __noinline__ double igam(double a, double x) {
    double absxma_a;
    if (isnan(a) || isnan(x)) {
        return NAN;
    }
    if (x < 0 || a < 0) {
        return NAN;
    } else if (a == 0) {
        if (x > 0) {
            return 1;
        } else {
            return NAN;
        }
    } else if (x == 0) {
        return 0;
    } else if (isinf(a)) {
        if (isinf(x)) {
            return NAN;
        }
        return 0;
    } else if (isinf(x)) {
        return 1;
    }
    absxma_a = call_divide(::fabs(x - a), a);
    if ((a > igam_SMALL) && (a < igam_LARGE) && (absxma_a < igam_SMALLRATIO)) {
        return asymptotic_series(a, x, IGAM);
    } else if ((a > igam_LARGE) && (absxma_a < call_divide(igam_LARGERATIO, call_sqrt(a)))) {
        return asymptotic_series(a, x, IGAM);
    }
    if ((x > 1.0) && (x > a)) {
        return (1.0 - igamc(a, x));
    }
    return igam_series(a, x);
}
}
