// From xsf/cephes/nbdtr.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// Copyright 1984, 1987, 1995 by Stephen L. Moshier
namespace pygpu_xsf {
__device__ inline double nbdtrc(int k, int n, double p) {
    double dk, dn;
    if ((p < 0.0) || (p > 1.0)) {
        goto domerr;
    }
    if (k < 0) {
    domerr:
        return (NAN);
    }
    dk = k + 1;
    dn = n;
    return (incbet(dk, dn, 1.0 - p));
}
__device__ inline double nbdtr(int k, int n, double p) {
    double dk, dn;
    if ((p < 0.0) || (p > 1.0)) {
        goto domerr;
    }
    if (k < 0) {
    domerr:
        return (NAN);
    }
    dk = k + 1;
    dn = n;
    return (incbet(dn, dk, p));
}
__device__ inline double nbdtri(int k, int n, double p) {
    double dk, dn, w;
    if ((p < 0.0) || (p > 1.0)) {
        goto domerr;
    }
    if (k < 0) {
    domerr:
        return (NAN);
    }
    dk = k + 1;
    dn = n;
    w = incbi(dn, dk, p);
    return (w);
}
}
