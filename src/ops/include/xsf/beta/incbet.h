// From xsf/cephes/incbet.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// Copyright 1984, 1995 by Stephen L. Moshier
namespace pygpu_xsf {
__device__ inline double triple_product(double u, double v, double w) { return (u * v) * w; }
constexpr double incbet_big = 4.503599627370496e15;
constexpr double incbet_biginv = 2.22044604925031308085e-16;
static __device__ __noinline__ double incbet_pseries(double a, double b, double x) {
            double s, t, u, v, n, t1, z, ai;
            ai = 1.0 / a;
            u = (1.0 - b) * x;
            v = u / (a + 1.0);
            t1 = v;
            t = u;
            n = 2.0;
            s = 0.0;
            z = MACHEP * ai;
#pragma unroll 1
            while (::fabs(v) > z) {
                u = (n - b) * x / n;
                t *= u;
                v = t / (a + n);
                s += v;
                n += 1.0;
            }
            s += t1;
            s += ai;
            u = a * call_log(x);
            if ((a + b) < MAXGAM && ::fabs(u) < MAXLOG) {
                t = 1.0 / beta(a, b);
                s = triple_product(s, t, call_pow(x, a));
            } else {
                t = -lbeta(a, b) + u + call_log(s);
                if (t < MINLOG) {
                    s = 0.0;
                } else {
                    s = call_exp(t);
                }
            }
            return (s);
        }
static __device__ __noinline__ double incbcf(double a, double b, double x) {
            double xk, pk, pkm1, pkm2, qk, qkm1, qkm2;
            double k1, k2, k3, k4, k5, k6, k7, k8;
            double r, t, ans, thresh;
            int n;
            k1 = a;
            k2 = a + b;
            k3 = a;
            k4 = a + 1.0;
            k5 = 1.0;
            k6 = b - 1.0;
            k7 = k4;
            k8 = a + 2.0;
            pkm2 = 0.0;
            qkm2 = 1.0;
            pkm1 = 1.0;
            qkm1 = 1.0;
            ans = 1.0;
            r = 1.0;
            n = 0;
            thresh = 3.0 * MACHEP;
#pragma unroll 1
            do {
                xk = -(x * k1 * k2) / (k3 * k4);
                pk = pkm1 + pkm2 * xk;
                qk = qkm1 + qkm2 * xk;
                pkm2 = pkm1;
                pkm1 = pk;
                qkm2 = qkm1;
                qkm1 = qk;
                xk = (x * k5 * k6) / (k7 * k8);
                pk = pkm1 + pkm2 * xk;
                qk = qkm1 + qkm2 * xk;
                pkm2 = pkm1;
                pkm1 = pk;
                qkm2 = qkm1;
                qkm1 = qk;
                if (qk != 0) {
                    r = pk / qk;
                }
                if (r != 0) {
                    t = ::fabs((ans - r) / r);
                    ans = r;
                } else {
                    t = 1.0;
                }
                if (t < thresh) {
                    goto cdone;
                }
                k1 += 1.0;
                k2 += 1.0;
                k3 += 2.0;
                k4 += 2.0;
                k5 += 1.0;
                k6 -= 1.0;
                k7 += 2.0;
                k8 += 2.0;
                if ((::fabs(qk) + ::fabs(pk)) > incbet_big) {
                    pkm2 *= incbet_biginv;
                    pkm1 *= incbet_biginv;
                    qkm2 *= incbet_biginv;
                    qkm1 *= incbet_biginv;
                }
                if ((::fabs(qk) < incbet_biginv) || (fabs(pk) < incbet_biginv)) {
                    pkm2 *= incbet_big;
                    pkm1 *= incbet_big;
                    qkm2 *= incbet_big;
                    qkm1 *= incbet_big;
                }
            } while (++n < 300);
        cdone:
            return (ans);
        }
static __device__ __noinline__ double incbd(double a, double b, double x) {
            double xk, pk, pkm1, pkm2, qk, qkm1, qkm2;
            double k1, k2, k3, k4, k5, k6, k7, k8;
            double r, t, ans, z, thresh;
            int n;
            k1 = a;
            k2 = b - 1.0;
            k3 = a;
            k4 = a + 1.0;
            k5 = 1.0;
            k6 = a + b;
            k7 = a + 1.0;
            ;
            k8 = a + 2.0;
            pkm2 = 0.0;
            qkm2 = 1.0;
            pkm1 = 1.0;
            qkm1 = 1.0;
            z = x / (1.0 - x);
            ans = 1.0;
            r = 1.0;
            n = 0;
            thresh = 3.0 * MACHEP;
#pragma unroll 1
            do {
                xk = -(z * k1 * k2) / (k3 * k4);
                pk = pkm1 + pkm2 * xk;
                qk = qkm1 + qkm2 * xk;
                pkm2 = pkm1;
                pkm1 = pk;
                qkm2 = qkm1;
                qkm1 = qk;
                xk = (z * k5 * k6) / (k7 * k8);
                pk = pkm1 + pkm2 * xk;
                qk = qkm1 + qkm2 * xk;
                pkm2 = pkm1;
                pkm1 = pk;
                qkm2 = qkm1;
                qkm1 = qk;
                if (qk != 0)
                    r = pk / qk;
                if (r != 0) {
                    t = ::fabs((ans - r) / r);
                    ans = r;
                } else {
                    t = 1.0;
                }
                if (t < thresh) {
                    goto cdone;
                }
                k1 += 1.0;
                k2 -= 1.0;
                k3 += 2.0;
                k4 += 2.0;
                k5 += 1.0;
                k6 += 1.0;
                k7 += 2.0;
                k8 += 2.0;
                if ((::fabs(qk) + ::fabs(pk)) > incbet_big) {
                    pkm2 *= incbet_biginv;
                    pkm1 *= incbet_biginv;
                    qkm2 *= incbet_biginv;
                    qkm1 *= incbet_biginv;
                }
                if ((::fabs(qk) < incbet_biginv) || (::fabs(pk) < incbet_biginv)) {
                    pkm2 *= incbet_big;
                    pkm1 *= incbet_big;
                    qkm2 *= incbet_big;
                    qkm1 *= incbet_big;
                }
            } while (++n < 300);
        cdone:
            return (ans);
        }
static __device__ __noinline__ double incbet_of(double aa, double bb, double xx, double xxc) {
    double a, b, t, x, xc, w, y;
    int flag;
    if (aa <= 0.0 || bb <= 0.0)
        goto domerr;
    if ((xx <= 0.0) || (xx >= 1.0)) {
        if (xx == 0.0)
            return (0.0);
        if (xx == 1.0)
            return (1.0);
    domerr:
        return (NAN);
    }
    flag = 0;
    if ((bb * xx) <= 1.0 && xx <= 0.95) {
        t = incbet_pseries(aa, bb, xx);
        goto done;
    }
    w = xxc;
if (bb < 0.5 && aa * w <= 1.0 && xx > 0.95) {
    t = 1.0 - incbet_pseries(bb, aa, w);
    if (t > 1e-4)
        return t;
}
    if (xx > (aa / (aa + bb))) {
        flag = 1;
        a = bb;
        b = aa;
        xc = xx;
        x = w;
    } else {
        a = aa;
        b = bb;
        xc = w;
        x = xx;
    }
    if (flag == 1 && (b * x) <= 1.0 && x <= 0.95) {
        t = incbet_pseries(a, b, x);
        goto done;
    }
    y = x * (a + b - 2.0) - (a - 1.0);
    if (y < 0.0) {
        w = incbcf(a, b, x);
    } else {
        w = incbd(a, b, x) / xc;
    }
    y = a * call_log(x);
    t = b * call_log(xc);
    if ((a + b) < MAXGAM && ::fabs(y) < MAXLOG && ::fabs(t) < MAXLOG) {
        t = call_pow(xc, b);
        t *= call_pow(x, a);
        t /= a;
        t *= w;
        t *= 1.0 / beta(a, b);
        goto done;
    }
    y += t - lbeta(a, b);
    y += call_log(w / a);
    if (y < MINLOG) {
        t = 0.0;
    } else {
        t = exp(y);
    }
done:
    if (flag == 1) {
        if (t <= MACHEP) {
            t = 1.0 - MACHEP;
        } else {
            t = 1.0 - t;
        }
    }
    return (t);
}
__device__ inline double incbet(double a, double b, double x) { return incbet_of(a, b, x, 1.0 - x); }
}
