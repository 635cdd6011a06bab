// From xsf/cephes/scipy_iv.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// Copyright 1984, 1987, 1988, 2000 by Stephen L. Moshier
// Copyright (c) 2006 Xiaogang Zhang
// Copyright (C) 2009 Pauli Virtanen
namespace pygpu_xsf {
constexpr int ikv_temme_need_k = 0x2;
constexpr int ikv_temme_need_i = 0x1;
static __device__ __noinline__ double iv_asymptotic(double v, double x) {
            double mu;
            double sum, term, prefactor, factor;
            int k;
            prefactor = call_divide(call_exp(x), call_sqrt(2 * M_PI * x));
            if (prefactor == INFINITY) {
                return prefactor;
            }
            mu = 4 * v * v;
            sum = 1.0;
            term = 1.0;
            k = 1;
#pragma unroll 1
            do {
                factor = call_divide(call_divide((mu - (2 * k - 1) * (2 * k - 1)), 8 * x), k);
                if (k > 100) {
                    break;
                }
                term *= -factor;
                sum += term;
                ++k;
            } while (::fabs(term) > MACHEP * ::fabs(sum));
            return sum * prefactor;
        }
constexpr int iv_N_UFACTORS = 11;
constexpr int iv_N_UFACTOR_TERMS = 31;
__constant__ const double iv_asymptotic_ufactors[iv_N_UFACTORS][iv_N_UFACTOR_TERMS] = {
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
    {0,   0,     0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
     0,   0,     0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.20833333333333334,
     0.0, 0.125, 0.0},
    {0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0.3342013888888889,
     0.0,
     -0.40104166666666669,
     0.0,
     0.0703125,
     0.0,
     0.0},
    {0,   0,
     0,   0,
     0,   0,
     0,   0,
     0,   0,
     0,   0,
     0,   0,
     0,   0,
     0,   0,
     0,   0,
     0,   -1.0258125964506173,
     0.0, 1.8464626736111112,
     0.0, -0.89121093750000002,
     0.0, 0.0732421875,
     0.0, 0.0,
     0.0},
    {0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     4.6695844234262474,
     0.0,
     -11.207002616222995,
     0.0,
     8.78912353515625,
     0.0,
     -2.3640869140624998,
     0.0,
     0.112152099609375,
     0.0,
     0.0,
     0.0,
     0.0},
    {0,   0,
     0,   0,
     0,   0,
     0,   0,
     0,   0,
     0,   0,
     0,   0,
     0,   -28.212072558200244,
     0.0, 84.636217674600744,
     0.0, -91.818241543240035,
     0.0, 42.534998745388457,
     0.0, -7.3687943594796312,
     0.0, 0.22710800170898438,
     0.0, 0.0,
     0.0, 0.0,
     0.0},
    {0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     0,
     212.5701300392171,
     0.0,
     -765.25246814118157,
     0.0,
     1059.9904525279999,
     0.0,
     -699.57962737613275,
     0.0,
     218.19051174421159,
     0.0,
     -26.491430486951554,
     0.0,
     0.57250142097473145,
     0.0,
     0.0,
     0.0,
     0.0,
     0.0,
     0.0},
    {0,   0,
     0,   0,
     0,   0,
     0,   0,
     0,   -1919.4576623184068,
     0.0, 8061.7221817373083,
     0.0, -13586.550006434136,
     0.0, 11655.393336864536,
     0.0, -5305.6469786134048,
     0.0, 1200.9029132163525,
     0.0, -108.09091978839464,
     0.0, 1.7277275025844574,
     0.0, 0.0,
     0.0, 0.0,
     0.0, 0.0,
     0.0},
    {0,
     0,
     0,
     0,
     0,
     0,
     20204.291330966149,
     0.0,
     -96980.598388637503,
     0.0,
     192547.0012325315,
     0.0,
     -203400.17728041555,
     0.0,
     122200.46498301747,
     0.0,
     -41192.654968897557,
     0.0,
     7109.5143024893641,
     0.0,
     -493.915304773088,
     0.0,
     6.074042001273483,
     0.0,
     0.0,
     0.0,
     0.0,
     0.0,
     0.0,
     0.0,
     0.0},
    {0,   0,
     0,   -242919.18790055133,
     0.0, 1311763.6146629769,
     0.0, -2998015.9185381061,
     0.0, 3763271.2976564039,
     0.0, -2813563.2265865342,
     0.0, 1268365.2733216248,
     0.0, -331645.17248456361,
     0.0, 45218.768981362737,
     0.0, -2499.8304818112092,
     0.0, 24.380529699556064,
     0.0, 0.0,
     0.0, 0.0,
     0.0, 0.0,
     0.0, 0.0,
     0.0},
    {3284469.8530720375,
     0.0,
     -19706819.11843222,
     0.0,
     50952602.492664628,
     0.0,
     -74105148.211532637,
     0.0,
     66344512.274729028,
     0.0,
     -37567176.660763353,
     0.0,
     13288767.166421819,
     0.0,
     -2785618.1280864552,
     0.0,
     308186.40461266245,
     0.0,
     -13886.089753717039,
     0.0,
     110.01714026924674,
     0.0,
     0.0,
     0.0,
     0.0,
     0.0,
     0.0,
     0.0,
     0.0,
     0.0,
     0.0}
};
static __device__ __noinline__ void ikv_asymptotic_uniform(double v, double x, double *i_value, double *k_value, double shift = 0) {
            double i_prefactor, k_prefactor;
            double t, t2, eta, z;
            double i_sum, k_sum, term, divisor;
            int k, n;
            int sign = 1;
            if (v < 0) {
                sign = -1;
                v = -v;
            }
            z = call_divide(x, v);
            t = call_divide(1, call_sqrt(1 + z * z));
            t2 = t * t;
            eta = call_sqrt(1 + z * z) + call_log(call_divide(z, 1 + call_divide(1, t)));
            i_prefactor = call_sqrt(call_divide(t, 2 * M_PI * v)) * call_exp(v * eta - shift);
            i_sum = 1.0;
            k_prefactor = call_sqrt(call_divide(M_PI * t, 2 * v)) * call_exp(shift - v * eta);
            k_sum = 1.0;
            divisor = v;
#pragma unroll 1
            for (n = 1; n < iv_N_UFACTORS; ++n) {
                term = 0;
#pragma unroll 1
                for (k = iv_N_UFACTOR_TERMS - 1 - 3 * n; k < iv_N_UFACTOR_TERMS - n; k += 2) {
                    term *= t2;
                    term += iv_asymptotic_ufactors[n][k];
                }
#pragma unroll 1
                for (k = 1; k < n; k += 2) {
                    term *= t2;
                }
                if (n % 2 == 1) {
                    term *= t;
                }
                term = call_divide(term, divisor);
                i_sum += term;
                k_sum += (n % 2 == 0) ? term : -term;
                if (::fabs(term) < MACHEP) {
                    break;
                }
                divisor *= v;
            }
            if (::fabs(term) > 1e-3 * ::fabs(i_sum)) {
            }
            if (::fabs(term) > MACHEP * ::fabs(i_sum)) {
            }
            if (k_value != nullptr) {
                *k_value = k_prefactor * k_sum;
            }
            if (i_value != nullptr) {
                if (sign == 1) {
                    *i_value = i_prefactor * i_sum;
                } else {
                    *i_value = (i_prefactor * i_sum + (call_divide(2, M_PI)) * sinpi(v) * k_prefactor * k_sum);
                }
            }
        }
static __device__ __noinline__ int temme_ik_series(double v, double x, double *K, double *K1) {
            double f, h, p, q, coef, sum, sum1, tolerance;
            double a, b, c, d, sigma, gamma1, gamma2;
            uint64_t k;
            double gp;
            double gm;
            gp = call_tgamma(v + 1) - 1;
            gm = call_tgamma(-v + 1) - 1;
            a = call_log(x / 2);
            b = call_exp(v * a);
            sigma = -a * v;
            c = ::fabs(v) < MACHEP ? 1 : call_divide(sinpi(v), v * M_PI);
            d = ::fabs(sigma) < MACHEP ? 1 : call_divide(call_sinh(sigma), sigma);
            gamma1 = ::fabs(v) < MACHEP ? -SCIPY_EULER : (call_divide(0.5, v)) * (gp - gm) * c;
            gamma2 = (2 + gp + gm) * c / 2;
            p = call_divide((gp + 1), 2 * b);
            q = (1 + gm) * b / 2;
            f = call_divide((call_cosh(sigma) * gamma1 + d * (-a) * gamma2), c);
            h = p;
            coef = 1;
            sum = coef * f;
            sum1 = coef * h;
            tolerance = MACHEP;
#pragma unroll 1
            for (k = 1; k < MAXITER; k++) {
                f = call_divide((k * f + p + q), k * k - v * v);
                p = call_divide(p, k - v);
                q = call_divide(q, k + v);
                h = p - k * f;
                coef *= call_divide(x * x, 4 * k);
                sum += coef * f;
                sum1 += coef * h;
                if (::fabs(coef * f) < ::fabs(sum) * tolerance) {
                    break;
                }
            }
            if (k == MAXITER) {
            }
            *K = sum;
            *K1 = call_divide(2 * sum1, x);
            return 0;
        }
static __device__ __noinline__ int CF1_ik(double v, double x, double *fv) {
            double C, D, f, a, b, delta, tiny, tolerance;
            uint64_t k;
            tolerance = 2 * MACHEP;
            tiny = call_divide(1, call_sqrt(DBL_MAX));
            C = f = tiny;
            D = 0;
#pragma unroll 1
            for (k = 1; k < MAXITER; k++) {
                a = 1;
                b = call_divide(2 * (v + k), x);
                C = b + call_divide(a, C);
                D = b + a * D;
                if (C == 0) {
                    C = tiny;
                }
                if (D == 0) {
                    D = tiny;
                }
                D = 1 / D;
                delta = C * D;
                f *= delta;
                if (::fabs(delta - 1) <= tolerance) {
                    break;
                }
            }
            if (k == MAXITER) {
            }
            *fv = f;
            return 0;
        }
static __device__ __noinline__ int CF2_ik(double v, double x, double *Kv, double *Kv1) {
            double S, C, Q, D, f, a, b, q, delta, tolerance, current, prev;
            uint64_t k;
            tolerance = MACHEP;
            a = v * v - 0.25;
            b = 2 * (x + 1);
            D = call_divide(1, b);
            f = delta = D;
            prev = 0;
            current = 1;
            Q = C = -a;
            S = 1 + Q * delta;
#pragma unroll 1
            for (k = 2; k < MAXITER; k++) {
                a -= 2 * (k - 1);
                b += 2;
                D = call_divide(1, b + a * D);
                delta *= b * D - 1;
                f += delta;
                q = call_divide((prev - (b - 2) * current), a);
                prev = current;
                current = q;
                C *= -call_divide(a, k);
                Q += C * q;
                S += Q * delta;
                if (::fabs(Q * delta) < ::fabs(S) * tolerance) {
                    break;
                }
            }
            if (k == MAXITER) {
            }
            *Kv = call_divide(call_sqrt(call_divide(M_PI, 2 * x)) * call_exp(-x), S);
            *Kv1 = call_divide(*Kv * (0.5 + v + x + (v * v - 0.25) * f), x);
            return 0;
        }
static __device__ __noinline__ void ikv_temme(double v, double x, double *Iv_p, double *Kv_p) {
            double u, Iv, Kv, Kv1, Ku, Ku1, fv;
            double W, current, prev, next;
            int reflect = 0;
            unsigned n, k;
            int kind;
            kind = 0;
            if (Iv_p != nullptr) {
                kind |= ikv_temme_need_i;
            }
            if (Kv_p != nullptr) {
                kind |= ikv_temme_need_k;
            }
            if (v < 0) {
                reflect = 1;
                v = -v;
                kind |= ikv_temme_need_k;
            }
            n = ::round(v);
            u = v - n;
            if (x < 0) {
                if (Iv_p != nullptr)
                    *Iv_p = NAN;
                if (Kv_p != nullptr)
                    *Kv_p = NAN;
                return;
            }
            if (x == 0) {
                Iv = (v == 0) ? 1 : 0;
                if (kind & ikv_temme_need_k) {
                    Kv = INFINITY;
                } else {
                    Kv = NAN;
                }
                if (reflect && (kind & ikv_temme_need_i)) {
                    double z = (u + n % 2);
                    Iv = sinpi(z) == 0 ? Iv : INFINITY;
                    if (isinf(Iv)) {
                    }
                }
                if (Iv_p != nullptr) {
                    *Iv_p = Iv;
                }
                if (Kv_p != nullptr) {
                    *Kv_p = Kv;
                }
                return;
            }
            W = call_divide(1, x);
            if (x <= 2) {
                temme_ik_series(u, x, &Ku, &Ku1);
            } else {
                CF2_ik(u, x, &Ku, &Ku1);
            }
            prev = Ku;
            current = Ku1;
#pragma unroll 1
            for (k = 1; k <= n; k++) {
                next = call_divide(2 * (u + k) * current, x) + prev;
                prev = current;
                current = next;
            }
            Kv = prev;
            Kv1 = current;
            if (kind & ikv_temme_need_i) {
                double lim = call_divide((4 * v * v + 10), 8 * x);
                lim *= lim;
                lim *= lim;
                lim = call_divide(lim, 24);
                if ((lim < MACHEP * 10) && (x > 100)) {
                    Iv = iv_asymptotic(v, x);
                } else {
                    CF1_ik(v, x, &fv);
                    Iv = call_divide(W, Kv * fv + Kv1);
                }
            } else {
                Iv = NAN;
            }
            if (reflect) {
                double z = (u + n % 2);
                if (Iv_p != nullptr) {
                    *Iv_p = Iv + (call_divide(2, M_PI)) * sinpi(z) * Kv;
                }
                if (Kv_p != nullptr) {
                    *Kv_p = Kv;
                }
            } else {
                if (Iv_p != nullptr) {
                    *Iv_p = Iv;
                }
                if (Kv_p != nullptr) {
                    *Kv_p = Kv;
                }
            }
            return;
        }
static __device__ __noinline__ double iv(double v, double x) {
    int sign;
    double t, ax, res;
    if (isnan(v) || isnan(x)) {
        return NAN;
    }
    t = ::floor(v);
    if (v < 0.0) {
        if (t == v) {
            v = -v;
            t = -t;
        }
    }
    sign = 1;
    if (x < 0.0) {
        if (t != v) {
            return (NAN);
        }
        if (v != 2.0 * ::floor(v / 2.0)) {
            sign = -1;
        }
    }
    if (x == 0.0) {
        if (v == 0.0) {
            return 1.0;
        }
        if (v < 0.0) {
            return INFINITY;
        } else
            return 0.0;
    }
    ax = ::fabs(x);
    if (::fabs(v) > 50) {
        ikv_asymptotic_uniform(v, ax, &res, nullptr);
    } else {
        if (ax * ax < ::fabs(v + 1.0) * MACHEP) {
            res = call_pow(0.5 * ax, v) * rgamma(v + 1.0);
        } else {
            ikv_temme(v, ax, &res, nullptr);
        }
    }
    res *= sign;
    return res;
}
}
