// From xsf/cephes/igami.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// (C) Copyright John Maddock 2006.
namespace pygpu_xsf {
static __device__ __noinline__ double find_inverse_s(double p, double q) {
    double s, t;
    constexpr double a[4] = {0.213623493715853, 4.28342155967104, 11.6616720288968, 3.31125922108741};
    constexpr double b[5] = {0.3611708101884203e-1, 1.27364489782223, 6.40691597760039, 6.61053765625462, 1};
    if (p < 0.5) {
        t = call_sqrt(-2 * call_log(p));
    } else {
        t = call_sqrt(-2 * call_log(q));
    }
    s = t - call_divide(polevl(t, a, 3), polevl(t, b, 4));
    if (p < 0.5)
        s = -s;
    return s;
}
__device__ inline double didonato_SN(double a, double x, unsigned N, double tolerance) {
            double sum = 1.0;
            if (N >= 1) {
                unsigned i;
                double partial = x / (a + 1);
                sum += partial;
#pragma unroll 1
                for (i = 2; i <= N; ++i) {
                    partial *= x / (a + i);
                    sum += partial;
                    if (partial < tolerance) {
                        break;
                    }
                }
            }
            return sum;
        }
static __device__ __noinline__ double find_inverse_gamma(double a, double p, double q) {
    double result;
    if (a == 1) {
        if (q > 0.9) {
            result = -call_log1p(-p);
        } else {
            result = -call_log(q);
        }
    } else if (a < 1) {
        double g = call_tgamma(a);
        double b = q * g;
        if ((b > 0.6) || ((b >= 0.45) && (a >= 0.3))) {
            double u;
            if ((b * q > 1e-8) && (q > 1e-5)) {
                u = call_pow(p * g * a, call_divide(1, a));
            } else {
                u = call_exp((-call_divide(q, a)) - SCIPY_EULER);
            }
            result = call_divide(u, 1 - (call_divide(u, a + 1)));
        } else if ((a < 0.3) && (b >= 0.35)) {
            double t = call_exp(-SCIPY_EULER - b);
            double u = t * call_exp(t);
            result = t * call_exp(u);
        } else if ((b > 0.15) || (a >= 0.3)) {
            double y = -call_log(b);
            double u = y - (1 - a) * call_log(y);
            result = y - (1 - a) * call_log(u) - call_log(1 + call_divide((1 - a), 1 + u));
        } else if (b > 0.1) {
            double y = -call_log(b);
            double u = y - (1 - a) * call_log(y);
            result = y - (1 - a) * call_log(u) -
                     call_log(call_divide((u * u + 2 * (3 - a) * u + (2 - a) * (3 - a)), u * u + (5 - a) * u + 2));
        } else {
            double y = -call_log(b);
            double c1 = (a - 1) * call_log(y);
            double c1_2 = c1 * c1;
            double c1_3 = c1_2 * c1;
            double c1_4 = c1_2 * c1_2;
            double a_2 = a * a;
            double a_3 = a_2 * a;
            double c2 = (a - 1) * (1 + c1);
            double c3 = (a - 1) * (-(c1_2 / 2) + (a - 2) * c1 + (3 * a - 5) / 2);
            double c4 = (a - 1) * ((call_divide(c1_3, 3)) - (3 * a - 5) * c1_2 / 2 + (a_2 - 6 * a + 7) * c1 +
                                   call_divide((11 * a_2 - 46 * a + 47), 6));
            double c5 = (a - 1) * (-(c1_4 / 4) + call_divide((11 * a - 17) * c1_3, 6) + (-3 * a_2 + 13 * a - 13) * c1_2 +
                                   (2 * a_3 - 25 * a_2 + 72 * a - 61) * c1 / 2 +
                                   call_divide((25 * a_3 - 195 * a_2 + 477 * a - 379), 12));
            double y_2 = y * y;
            double y_3 = y_2 * y;
            double y_4 = y_2 * y_2;
            result = y + c1 + (call_divide(c2, y)) + (call_divide(c3, y_2)) + (call_divide(c4, y_3)) + (call_divide(c5, y_4));
        }
    } else {
        double s = find_inverse_s(p, q);
        double s_2 = s * s;
        double s_3 = s_2 * s;
        double s_4 = s_2 * s_2;
        double s_5 = s_4 * s;
        double ra = call_sqrt(a);
        double w = a + s * ra + call_divide((s_2 - 1), 3);
        w += call_divide((s_3 - 7 * s), 36 * ra);
        w -= call_divide((3 * s_4 + 7 * s_2 - 16), 810 * a);
        w += call_divide((9 * s_5 + 256 * s_3 - 433 * s), 38880 * a * ra);
        if ((a >= 500) && (::fabs(1 - call_divide(w, a)) < 1e-6)) {
            result = w;
        } else if (p > 0.5) {
            if (w < 3 * a) {
                result = w;
            } else {
                double D = ::fmax(2, a * (a - 1));
                double lg = call_lgamma(a);
                double lb = call_log(q) + lg;
                if (lb < -D * 2.3) {
                    double y = -lb;
                    double c1 = (a - 1) * call_log(y);
                    double c1_2 = c1 * c1;
                    double c1_3 = c1_2 * c1;
                    double c1_4 = c1_2 * c1_2;
                    double a_2 = a * a;
                    double a_3 = a_2 * a;
                    double c2 = (a - 1) * (1 + c1);
                    double c3 = (a - 1) * (-(c1_2 / 2) + (a - 2) * c1 + (3 * a - 5) / 2);
                    double c4 = (a - 1) * ((call_divide(c1_3, 3)) - (3 * a - 5) * c1_2 / 2 + (a_2 - 6 * a + 7) * c1 +
                                           call_divide((11 * a_2 - 46 * a + 47), 6));
                    double c5 =
                        (a - 1) * (-(c1_4 / 4) + call_divide((11 * a - 17) * c1_3, 6) + (-3 * a_2 + 13 * a - 13) * c1_2 +
                                   (2 * a_3 - 25 * a_2 + 72 * a - 61) * c1 / 2 +
                                   call_divide((25 * a_3 - 195 * a_2 + 477 * a - 379), 12));
                    double y_2 = y * y;
                    double y_3 = y_2 * y;
                    double y_4 = y_2 * y_2;
                    result = y + c1 + (call_divide(c2, y)) + (call_divide(c3, y_2)) + (call_divide(c4, y_3)) + (call_divide(c5, y_4));
                } else {
                    double u = -lb + (a - 1) * call_log(w) - call_log(1 + call_divide((1 - a), 1 + w));
                    result = -lb + (a - 1) * call_log(u) - call_log(1 + call_divide((1 - a), 1 + u));
                }
            }
        } else {
            double z = w;
            double ap1 = a + 1;
            double ap2 = a + 2;
            if (w < 0.15 * ap1) {
                double v = call_log(p) + call_lgamma(ap1);
                z = call_exp(call_divide((v + w), a));
                s = call_log1p(call_divide(z, ap1) * (1 + call_divide(z, ap2)));
                z = call_exp(call_divide((v + z - s), a));
                s = call_log1p(call_divide(z, ap1) * (1 + call_divide(z, ap2)));
                z = call_exp(call_divide((v + z - s), a));
                s = call_log1p(call_divide(z, ap1) * (1 + call_divide(z, ap2) * (1 + call_divide(z, a + 3))));
                z = call_exp(call_divide((v + z - s), a));
            }
            if ((z <= 0.01 * ap1) || (z > 0.7 * ap1)) {
                result = z;
            } else {
                double ls = call_log(didonato_SN(a, z, 100, 1e-4));
                double v = call_log(p) + call_lgamma(ap1);
                z = call_exp(call_divide((v + z - ls), a));
                result = z * (1 - call_divide((a * call_log(z) - z - v + ls), a - z));
            }
        }
    }
    return result;
}
static __device__ __noinline__ double igami(double a, double p);
static __device__ __noinline__ double igamci(double a, double q) {
        int i;
        double x, fac, f_fp, fpp_fp;
        if (isnan(a) || isnan(q)) {
            return NAN;
        } else if ((a < 0.0) || (q < 0.0) || (q > 1.0)) {
        } else if (q == 0.0) {
            return INFINITY;
        } else if (q == 1.0) {
            return 0.0;
        } else if (q > 0.9) {
            return igami(a, 1 - q);
        }
        x = find_inverse_gamma(a, 1 - q, q);
#pragma unroll 1
        for (i = 0; i < 3; i++) {
            fac = igam_fac(a, x);
            if (fac == 0.0) {
                return x;
            }
            f_fp = call_divide((igamc(a, x) - q) * x, -fac);
            fpp_fp = -1.0 + call_divide((a - 1), x);
            if (isinf(fpp_fp)) {
                x = x - f_fp;
            } else {
                x = x - call_divide(f_fp, 1.0 - 0.5 * f_fp * fpp_fp);
            }
        }
        return x;
    }
static __device__ __noinline__ double igami(double a, double p) {
        int i;
        double x, fac, f_fp, fpp_fp;
        if (isnan(a) || isnan(p)) {
            return NAN;
            ;
        } else if ((a < 0) || (p < 0) || (p > 1)) {
        } else if (p == 0.0) {
            return 0.0;
        } else if (p == 1.0) {
            return INFINITY;
        } else if (p > 0.9) {
            return igamci(a, 1 - p);
        }
        x = find_inverse_gamma(a, p, 1 - p);
#pragma unroll 1
        for (i = 0; i < 3; i++) {
            fac = igam_fac(a, x);
            if (fac == 0.0) {
                return x;
            }
            f_fp = call_divide((igam(a, x) - p) * x, fac);
            fpp_fp = -1.0 + call_divide((a - 1), x);
            if (isinf(fpp_fp)) {
                x = x - f_fp;
            } else {
                x = x - call_divide(f_fp, 1.0 - 0.5 * f_fp * fpp_fp);
            }
        }
        return x;
    }
}
