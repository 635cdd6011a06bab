// From xsf/specfun/specfun.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Copyrighted but permission granted to use code in programs.
// Copyright (C) 2024 SciPy developers
namespace pygpu_xsf {
static __device__ __noinline__ double gamma2(double x) {
        double ga, gr, r, z;
        int k, m;
        const double pi = 3.141592653589793;
        static const double g[26] = {1.0000000000000000e+00,  0.5772156649015329e+00,  -0.6558780715202538e+00,
                                     -0.4200263503409520e-01, 0.1665386113822915e+00,  -0.4219773455554430e-01,
                                     -0.9621971527877000e-02, 0.7218943246663000e-02,  -0.1165167591859100e-02,
                                     -0.2152416741149000e-03, 0.1280502823882000e-03,  -0.2013485478070000e-04,
                                     -0.1250493482100000e-05, 0.1133027232000000e-05,  -0.2056338417000000e-06,
                                     0.6116095000000000e-08,  0.5002007500000000e-08,  -0.1181274600000000e-08,
                                     0.1043427000000000e-09,  0.7782300000000000e-11,  -0.3696800000000000e-11,
                                     0.5100000000000000e-12,  -0.2060000000000000e-13, -0.5400000000000000e-14,
                                     0.1400000000000000e-14,  0.1000000000000000e-15};
        if (x == (int)x) {
            if (x > 0.0) {
                ga = 1.0;
                m = (int)(x - 1);
#pragma unroll 1
                for (k = 2; k < (m + 1); k++) {
                    ga *= k;
                }
            } else {
                ga = 1e300;
            }
        } else {
            r = 1.0;
            if (fabs(x) > 1.0) {
                z = fabs(x);
                m = (int)z;
#pragma unroll 1
                for (k = 1; k < (m + 1); k++) {
                    r *= (z - k);
                }
                z -= m;
            } else {
                z = x;
            }
            gr = g[25];
#pragma unroll 1
            for (k = 25; k > 0; k--) {
                gr *= z;
                gr += g[k - 1];
            }
            ga = call_divide(1.0, gr * z);
            if (fabs(x) > 1.0) {
                ga *= r;
                if (x < 0.0) {
                    ga = -call_divide(pi, x * ga * sin(pi * x));
                }
            }
        }
        return ga;
    }
static __device__ __noinline__ double psi_spec(double x) {
        int k, n;
        double ps, s = 0.0, x2, xa = fabs(x);
        const double pi = 3.141592653589793;
        const double el = 0.5772156649015329;
        static const double a[8] = {-0.8333333333333e-01,     0.83333333333333333e-02,  -0.39682539682539683e-02,
                                    0.41666666666666667e-02,  -0.75757575757575758e-02, 0.21092796092796093e-01,
                                    -0.83333333333333333e-01, 0.4432598039215686};
        if ((x == (int)x) && (x <= 0.0)) {
            return 1e300;
        } else if (xa == (int)xa) {
            n = (int)xa;
#pragma unroll 1
            for (k = 1; k < n; k++) {
                s += call_divide(1.0, k);
            }
            ps = -el + s;
        } else if ((xa + 0.5) == (int)(xa + 0.5)) {
            n = (int)(xa - 0.5);
#pragma unroll 1
            for (k = 1; k < (n + 1); k++) {
                s += call_divide(1.0, 2.0 * k - 1.0);
            }
            ps = -el + 2.0 * s - 1.386294361119891;
        } else {
            if (xa < 10.0) {
                n = (10.0 - (int)xa);
#pragma unroll 1
                for (k = 0; k < n; k++) {
                    s += call_divide(1.0, xa + k);
                }
                xa += n;
            }
            x2 = call_divide(1.0, xa * xa);
            ps = log(xa) - call_divide(0.5, xa);
            ps += x2 * (((((((a[7] * x2 + a[6]) * x2 + a[5]) * x2 + a[4]) * x2 + a[3]) * x2 + a[2]) * x2 + a[1]) * x2 +
                        a[0]);
            ps -= s;
        }
        if (x < 0.0) {
            ps -= call_divide(pi * cos(pi * x), sin(pi * x)) + call_divide(1.0, x);
        }
        return ps;
    }
static __device__ __noinline__ double lpmv0(double v, int m, double x) {
        int j, k, nv;
        double c0, v0, vs, pa, pss, pv0, pmv, r, r0, r1, r2, s, s0, s1, s2, qr, rg, xq;
        const double pi = 3.141592653589793;
        const double el = 0.5772156649015329;
        const double eps = 1e-14;
        nv = (int)v;
        v0 = v - nv;
        if (x == -1.0 && v != nv) {
            if (m == 0)
                return -1.0e+300;
            if (m != 0)
                return 1.0e+300;
        }
        c0 = 1.0;
        if (m != 0) {
            rg = v * (v + m);
#pragma unroll 1
            for (j = 1; j <= m - 1; j++) {
                rg *= (v * v - j * j);
            }
            xq = sqrt(1.0 - x * x);
            r0 = 1.0;
#pragma unroll 1
            for (j = 1; j <= m; j++) {
                r0 = call_divide(0.5 * r0 * xq, j);
            }
            c0 = r0 * rg;
        }
        if (v0 == 0.0) {
            pmv = 1.0;
            r = 1.0;
#pragma unroll 1
            for (k = 1; k <= nv - m; k++) {
                r = call_divide(0.5 * r * (-nv + m + k - 1.0) * (nv + m + k), k * (k + m)) * (1.0 + x);
                pmv += r;
            }
            return (nv % 2 == 0 ? 1.0 : -1.0) * c0 * pmv;
        } else {
            if (x >= -0.35) {
                pmv = 1.0;
                r = 1.0;
#pragma unroll 1
                for (k = 1; k <= 100; k++) {
                    r = call_divide(0.5 * r * (-v + m + k - 1.0) * (v + m + k), k * (m + k)) * (1.0 - x);
                    pmv += r;
                    if (k > 12 && fabs(call_divide(r, pmv)) < eps) {
                        break;
                    }
                }
                return (m % 2 == 0 ? 1.0 : -1.0) * c0 * pmv;
            } else {
                vs = call_divide(sin(v * pi), pi);
                pv0 = 0.0;
                if (m != 0) {
                    qr = sqrt(call_divide((1.0 - x), 1.0 + x));
                    r2 = 1.0;
#pragma unroll 1
                    for (j = 1; j <= m; j++) {
                        r2 *= qr * j;
                    }
                    s0 = 1.0;
                    r1 = 1.0;
#pragma unroll 1
                    for (k = 1; k <= m - 1; k++) {
                        r1 = call_divide(0.5 * r1 * (-v + k - 1) * (v + k), k * (k - m)) * (1.0 + x);
                        s0 += r1;
                    }
                    pv0 = -call_divide(vs * r2, m) * s0;
                }
                pa = 2.0 * (psi_spec(v) + el) + call_divide(pi, tan(pi * v)) + call_divide(1.0, v);
                s1 = 0.0;
#pragma unroll 1
                for (j = 1; j <= m; j++) {
                    s1 += call_divide((j * j + v * v), j * (j * j - v * v));
                }
                pmv = pa + s1 - call_divide(1.0, m - v) + log(0.5 * (1.0 + x));
                r = 1.0;
#pragma unroll 1
                for (k = 1; k <= 100; k++) {
                    r = call_divide(0.5 * r * (-v + m + k - 1.0) * (v + m + k), k * (k + m)) * (1.0 + x);
                    s = 0.0;
#pragma unroll 1
                    for (j = 1; j <= m; j++)
                        s += call_divide(((k + j) * (k + j) + v * v), (k + j) * ((k + j) * (k + j) - v * v));
                    s2 = 0.0;
#pragma unroll 1
                    for (j = 1; j <= k; j++)
                        s2 = s2 + call_divide(1.0, j * (j * j - v * v));
                    pss = pa + s + 2.0 * v * v * s2 - call_divide(1.0, m + k - v) + log(0.5 * (1.0 + x));
                    r2 = pss * r;
                    pmv += r2;
                    if (fabs(call_divide(r2, pmv)) < eps) {
                        break;
                    }
                }
                return pv0 + pmv * vs * c0;
            }
        }
    }
static __device__ __noinline__ double lpmv(double x, int m, double v) {
        int mx, neg_m, nv, j;
        double vx, pmv, v0, p0, p1, g1, g2;
        if ((x == -1.0) && (v != (int)v)) {
            if (m == 0) {
                double vs = call_divide(sin(v * M_PI), v * M_PI);
                pmv = (vs > 0) ? -1e300 : 1e300;
            } else {
                pmv = 1e300;
            }
            return pmv;
        }
        vx = v;
        mx = m;
        if (v < 0) {
            vx = -vx - 1.0;
        }
        neg_m = 0;
        if (m < 0) {
            if (((vx + m + 1) > 0) || (vx != (int)vx)) {
                neg_m = 1;
                mx = -m;
            } else {
                return NAN;
            }
        }
        nv = (int)vx;
        v0 = vx - nv;
        if ((nv > 2) && (nv > mx)) {
            p0 = lpmv0(v0 + mx, mx, x);
            p1 = lpmv0(v0 + mx + 1, mx, x);
            pmv = p1;
#pragma unroll 1
            for (j = mx + 2; j <= nv; j++) {
                pmv = call_divide(((2 * (v0 + j) - 1) * x * p1 - (v0 + j - 1 + mx) * p0), v0 + j - mx);
                p0 = p1;
                p1 = pmv;
            }
        } else {
            pmv = lpmv0(vx, mx, x);
        }
        if ((neg_m != 0) && (fabs(pmv) < 1.e300)) {
            g1 = gamma2(vx - mx + 1);
            g2 = gamma2(vx + mx + 1);
            pmv = call_divide(pmv * g1, g2) * (mx % 2 == 0 ? 1.0 : -1.0);
        }
        return pmv;
    }
}
