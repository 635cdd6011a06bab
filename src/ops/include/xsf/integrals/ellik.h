// From xsf/cephes/ellik.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// Copyright 1984, 1987 by Stephen L. Moshier
// Copyright 2014, Eric W. Moore
namespace pygpu_xsf {
static __device__ __noinline__ double ellik_neg_m(double phi, double m) {
            double x, y, z, x1, y1, z1, A0, A, Q, X, Y, Z, E2, E3, scale;
            int n = 0;
            double mpp = (m * phi) * phi;
            if (-mpp < 1e-6 && phi < -m) {
                return phi + (-call_divide(mpp * phi * phi, 30.0) + call_divide(3.0 * mpp * mpp, 40.0) + call_divide(mpp, 6.0)) * phi;
            }
            if (-mpp > 4e7) {
                double sm = call_sqrt(-m);
                double sp = call_sin(phi);
                double cp = call_cos(phi);
                double a = call_log(call_divide(4 * sp * sm, 1 + cp));
                double b = -(1 + call_divide(call_divide(cp, sp), sp) - a) / call_divide(4, m);
                return call_divide((a + b), sm);
            }
            if (phi > 1e-153 && m > -1e305) {
                double s = call_sin(phi);
                double csc2 = call_divide(1.0, s * s);
                scale = 1.0;
                x = call_divide(1.0, ::tan(phi) * ::tan(phi));
                y = csc2 - m;
                z = csc2;
            } else {
                scale = phi;
                x = 1.0;
                y = 1 - m * scale * scale;
                z = 1.0;
            }
            if (x == y && x == z) {
                return call_divide(scale, call_sqrt(x));
            }
            A0 = call_divide((x + y + z), 3.0);
            A = A0;
            x1 = x;
            y1 = y;
            z1 = z;
            Q = 400.0 * ::fmax(::fabs(A0 - x), ::fmax(::fabs(A0 - y), ::fabs(A0 - z)));
#pragma unroll 1
            while (Q > ::fabs(A) && n <= 100) {
                double sx = call_sqrt(x1);
                double sy = call_sqrt(y1);
                double sz = call_sqrt(z1);
                double lam = sx * sy + sx * sz + sy * sz;
                x1 = (x1 + lam) / 4.0;
                y1 = (y1 + lam) / 4.0;
                z1 = (z1 + lam) / 4.0;
                A = call_divide((x1 + y1 + z1), 3.0);
                n += 1;
                Q = Q / (4);
            }
            X = call_divide(call_divide((A0 - x), A), 1 << 2 * n);
            Y = call_divide(call_divide((A0 - y), A), 1 << 2 * n);
            Z = -(X + Y);
            E2 = X * Y - Z * Z;
            E3 = X * Y * Z;
            return call_divide(scale * (1.0 - E2 / 10.0 + E3 / 14.0 + E2 * E2 / 24.0 - 3.0 * E2 * E3 / 44.0), sqrt(A));
        }
static __device__ __noinline__ double ellik(double phi, double m) {
        double a, b, c, e, temp, t, K, denom, npio2;
        int d, mod, sign;
        if (isnan(phi) || isnan(m))
            return NAN;
        if (m > 1.0)
            return NAN;
        if (isinf(phi) || isinf(m)) {
            if (isinf(m) && isfinite(phi))
                return 0.0;
            else if (isinf(phi) && isfinite(m))
                return phi;
            else
                return NAN;
        }
        if (m == 0.0)
            return (phi);
        a = 1.0 - m;
        if (a == 0.0) {
            if (::fabs(phi) >= (double)M_PI_2) {
                return (INFINITY);
            }
            return ::asinh(::tan(phi));
        }
        npio2 = floor(call_divide(phi, M_PI_2));
        if (0.5 * npio2 != ::floor(0.5 * npio2))
            npio2 += 1;
        if (npio2 != 0.0) {
            K = ellpk(a);
            phi = phi - npio2 * M_PI_2;
        } else
            K = 0.0;
        if (phi < 0.0) {
            phi = -phi;
            sign = -1;
        } else
            sign = 0;
        if (a > 1.0) {
            temp = ellik_neg_m(phi, m);
            goto done;
        }
        b = call_sqrt(a);
        t = ::tan(phi);
        if (::fabs(t) > 10.0) {
            e = call_divide(1.0, b * t);
            if (::fabs(e) < 10.0) {
                e = ::atan(e);
                if (npio2 == 0)
                    K = ellpk(a);
                temp = K - ellik(e, m);
                goto done;
            }
        }
        a = 1.0;
        c = call_sqrt(m);
        d = 1;
        mod = 0;
#pragma unroll 1
        while (::fabs(call_divide(c, a)) > MACHEP) {
            temp = call_divide(b, a);
            phi = phi + atan(t * temp) + mod * M_PI;
            denom = 1.0 - temp * t * t;
            if (::fabs(denom) > 10 * MACHEP) {
                t = call_divide(t * (1.0 + temp), denom);
                mod = call_divide((phi + M_PI_2), M_PI);
            } else {
                t = ::tan(phi);
                mod = (int)(::floor(call_divide((phi - ::atan(t)), M_PI)));
            }
            c = (a - b) / 2.0;
            temp = call_sqrt(a * b);
            a = (a + b) / 2.0;
            b = temp;
            d += d;
        }
        temp = call_divide((::atan(t) + mod * M_PI), d * a);
    done:
        if (sign < 0)
            temp = -temp;
        temp += npio2 * K;
        return (temp);
    }
}
