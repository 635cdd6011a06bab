// From xsf/cephes/ellpj.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// Copyright 1984, 1987 by Stephen L. Moshier
namespace pygpu_xsf {
static __device__ __noinline__ int ellpj(double u, double m, double *sn, double *cn, double *dn, double *ph) {
        double ai, b, phi, t, twon, dnfac;
        double a[9], c[9];
        int i;
        if (m > 1.0 || isnan(m)) {
            *sn = NAN;
            *cn = NAN;
            *ph = NAN;
            *dn = NAN;
            return (-1);
        }
        if (m < 0.0) {
            double m1 = -m / (1.0 - m);
            double sqrt_1_minus_m = ::sqrt(1.0 - m);
            double u1 = sqrt_1_minus_m * u;
            double sn_p, cn_p, dn_p, ph_p;
            int result = ellpj(u1, m1, &sn_p, &cn_p, &dn_p, &ph_p);
            if (result != 0)
                return result;
            *sn = sn_p / (sqrt_1_minus_m * dn_p);
            *cn = cn_p / dn_p;
            *dn = 1.0 / dn_p;
            double ph0 = ::atan2(sn_p, sqrt_1_minus_m * cn_p);
            *ph = ph0 + M_PI * ::round((ph_p - ph0) / M_PI);
            return (0);
        }
        if (m < 1.0e-9) {
            t = call_sin(u);
            b = call_cos(u);
            ai = 0.25 * m * (u - t * b);
            *sn = t - ai * b;
            *cn = b + ai * t;
            *ph = u - ai;
            *dn = 1.0 - 0.5 * m * t * t;
            return (0);
        }
        if (m >= 0.9999999999) {
            ai = 0.25 * (1.0 - m);
            b = call_cosh(u);
            t = ::tanh(u);
            phi = 1.0 / b;
            twon = b * call_sinh(u);
            *sn = t + ai * (twon - u) / (b * b);
            *ph = 2.0 * ::atan(exp(u)) - M_PI_2 + ai * (twon - u) / b;
            ai *= t * phi;
            *cn = phi - ai * (twon - u);
            *dn = phi + ai * (twon + u);
            return (0);
        }
        a[0] = 1.0;
        b = ::sqrt(1.0 - m);
        c[0] = ::sqrt(m);
        twon = 1.0;
        i = 0;
#pragma unroll 1
        while (::fabs(c[i] / a[i]) > MACHEP) {
            if (i > 7) {
                goto done;
            }
            ai = a[i];
            ++i;
            c[i] = (ai - b) / 2.0;
            t = ::sqrt(ai * b);
            a[i] = (ai + b) / 2.0;
            b = t;
            twon *= 2.0;
        }
    done:
        phi = twon * a[i] * u;
#pragma unroll 1
        do {
            t = c[i] * call_sin(phi) / a[i];
            b = phi;
            phi = (::asin(t) + phi) / 2.0;
        } while (--i);
        *sn = call_sin(phi);
        t = call_cos(phi);
        *cn = t;
        dnfac = call_cos(phi - b);
        if (::fabs(dnfac) < 0.1) {
            *dn = ::sqrt(1 - m * (*sn) * (*sn));
        } else {
            *dn = t / dnfac;
        }
        *ph = phi;
        return (0);
    }
}
