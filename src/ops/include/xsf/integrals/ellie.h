// From xsf/cephes/ellie.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// Copyright 1984, 1987, 1993 by Stephen L. Moshier
// Copyright 2014, Eric W. Moore
namespace pygpu_xsf {
static __device__ __noinline__ double ellie_neg_m(double phi, double m) {
            double x, y, z, x1, y1, z1, ret, Q;
            double A0f, Af, Xf, Yf, Zf, E2f, E3f, scalef;
            double A0d, Ad, seriesn, seriesd, Xd, Yd, Zd, E2d, E3d, E4d, E5d, scaled;
            int n = 0;
            double mpp = (m * phi) * phi;
            if (-mpp < 1e-6 && phi < -m) {
                return phi + (call_divide(mpp * phi * phi, 30.0) - call_divide(mpp * mpp, 40.0) - call_divide(mpp, 6.0)) * phi;
            }
            if (-mpp > 1e6) {
                double sm = call_sqrt(-m);
                double sp = call_sin(phi);
                double cp = call_cos(phi);
                double a = -cosm1(phi);
                double b1 = call_log(call_divide(4 * sp * sm, 1 + cp));
                double b = -(0.5 + b1) / call_divide(2.0, m);
                double c = call_divide(call_divide(call_divide((0.75 + call_divide(call_divide(cp, sp), sp) - b1), 16.0), m), m);
                return (a + b + c) * sm;
            }
            if (phi > 1e-153 && m > -1e200) {
                double s = call_sin(phi);
                double csc2 = call_divide(call_divide(1.0, s), s);
                scalef = 1.0;
                scaled = call_divide(m, 3.0);
                x = call_divide(call_divide(1.0, ::tan(phi)), ::tan(phi));
                y = csc2 - m;
                z = csc2;
            } else {
                scalef = phi;
                scaled = call_divide(mpp * phi, 3.0);
                x = 1.0;
                y = 1 - mpp;
                z = 1.0;
            }
            if (x == y && x == z) {
                return call_divide((scalef + call_divide(scaled, x)), call_sqrt(x));
            }
            A0f = call_divide((x + y + z), 3.0);
            Af = A0f;
            A0d = call_divide((x + y + 3.0 * z), 5.0);
            Ad = A0d;
            x1 = x;
            y1 = y;
            z1 = z;
            seriesd = 0.0;
            seriesn = 1.0;
            Q = 400.0 * ::fmax(::fabs(A0f - x), ::fmax(::fabs(A0f - y), ::fabs(A0f - z)));
#pragma unroll 1
            while (Q > ::fabs(Af) && Q > ::fabs(Ad) && n <= 100) {
                double sx = call_sqrt(x1);
                double sy = call_sqrt(y1);
                double sz = call_sqrt(z1);
                double lam = sx * sy + sx * sz + sy * sz;
                seriesd += call_divide(seriesn, sz * (z1 + lam));
                x1 = (x1 + lam) / 4.0;
                y1 = (y1 + lam) / 4.0;
                z1 = (z1 + lam) / 4.0;
                Af = call_divide((x1 + y1 + z1), 3.0);
                Ad = (Ad + lam) / 4.0;
                n += 1;
                Q = Q / (4.0);
                seriesn = call_divide(seriesn, 4.0);
            }
            Xf = call_divide(call_divide((A0f - x), Af), 1 << 2 * n);
            Yf = call_divide(call_divide((A0f - y), Af), 1 << 2 * n);
            Zf = -(Xf + Yf);
            E2f = Xf * Yf - Zf * Zf;
            E3f = Xf * Yf * Zf;
            ret = call_divide(scalef * (1.0 - call_divide(E2f, 10.0) + call_divide(E3f, 14.0) + call_divide(E2f * E2f, 24.0) - call_divide(3.0 * E2f * E3f, 44.0)), sqrt(Af));
            Xd = call_divide(call_divide((A0d - x), Ad), 1 << 2 * n);
            Yd = call_divide(call_divide((A0d - y), Ad), 1 << 2 * n);
            Zd = -call_divide((Xd + Yd), 3.0);
            E2d = Xd * Yd - 6.0 * Zd * Zd;
            E3d = (3 * Xd * Yd - 8.0 * Zd * Zd) * Zd;
            E4d = 3.0 * (Xd * Yd - Zd * Zd) * Zd * Zd;
            E5d = Xd * Yd * Zd * Zd * Zd;
            ret -= call_divide(call_divide(call_divide(scaled *
                   (1.0 - call_divide(3.0 * E2d, 14.0) + call_divide(E3d, 6.0) + call_divide(9.0 * E2d * E2d, 88.0) - call_divide(3.0 * E4d, 22.0) -
                    call_divide(9.0 * E2d * E3d, 52.0) + call_divide(3.0 * E5d, 26.0)), 1 << 2 * n), Ad), sqrt(Ad));
            ret -= 3.0 * scaled * seriesd;
            return ret;
        }
static __device__ __noinline__ double ellie(double phi, double m) {
        double a, b, c, e, temp;
        double lphi, t, E, denom, npio2;
        int d, mod, sign;
        if (isnan(phi) || isnan(m))
            return NAN;
        if (m > 1.0)
            return NAN;
        ;
        if (isinf(phi))
            return phi;
        if (isinf(m))
            return -m;
        if (m == 0.0)
            return (phi);
        lphi = phi;
        npio2 = ::floor(call_divide(lphi, M_PI_2));
        if (0.5 * npio2 != ::floor(0.5 * npio2))
            npio2 += 1;
        lphi = lphi - npio2 * M_PI_2;
        if (lphi < 0.0) {
            lphi = -lphi;
            sign = -1;
        } else {
            sign = 1;
        }
        a = 1.0 - m;
        E = ellpe(m);
        if (a == 0.0) {
            temp = call_sin(lphi);
            goto done;
        }
        if (a > 1.0) {
            temp = ellie_neg_m(lphi, m);
            goto done;
        }
        if (lphi < 0.135) {
            double m11 = (((((-7.0 / 2816.0) * m + (5.0 / 1056.0)) * m - (7.0 / 2640.0)) * m + (17.0 / 41580.0)) * m -
                          (1.0 / 155925.0)) *
                         m;
            double m9 = ((((-5.0 / 1152.0) * m + (1.0 / 144.0)) * m - (1.0 / 360.0)) * m + (1.0 / 5670.0)) * m;
            double m7 = ((-call_divide(m, 112.0) + (1.0 / 84.0)) * m - (1.0 / 315.0)) * m;
            double m5 = (-call_divide(m, 40.0) + (1.0 / 30)) * m;
            double m3 = -call_divide(m, 6.0);
            double p2 = lphi * lphi;
            temp = ((((m11 * p2 + m9) * p2 + m7) * p2 + m5) * p2 + m3) * p2 * lphi + lphi;
            goto done;
        }
        t = ::tan(lphi);
        b = call_sqrt(a);
        if (::fabs(t) > 10.0) {
            e = call_divide(1.0, b * t);
            if (::fabs(e) < 10.0) {
                e = ::atan(e);
                temp = E + m * call_sin(lphi) * call_sin(e) - ellie(e, m);
                goto done;
            }
        }
        c = call_sqrt(m);
        a = 1.0;
        d = 1;
        e = 0.0;
        mod = 0;
#pragma unroll 1
        while (::fabs(call_divide(c, a)) > MACHEP) {
            temp = call_divide(b, a);
            lphi = lphi + atan(t * temp) + mod * M_PI;
            denom = 1 - temp * t * t;
            if (::fabs(denom) > 10 * MACHEP) {
                t = call_divide(t * (1.0 + temp), denom);
                mod = call_divide((lphi + M_PI_2), M_PI);
            } else {
                t = ::tan(lphi);
                mod = (int)(::floor(call_divide((lphi - ::atan(t)), M_PI)));
            }
            c = (a - b) / 2.0;
            temp = call_sqrt(a * b);
            a = (a + b) / 2.0;
            b = temp;
            d += d;
            e += c * call_sin(lphi);
        }
        temp = call_divide(E, ellpk(1.0 - m));
        temp *= call_divide((::atan(t) + mod * M_PI), d * a);
        temp += e;
    done:
        if (sign < 0)
            temp = -temp;
        temp += npio2 * E;
        return (temp);
    }
}
