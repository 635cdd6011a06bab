// From xsf/cephes/pdtr.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// Copyright 1984, 1987, 1995 by Stephen L. Moshier
namespace pygpu_xsf {
__device__ inline double pdtrc(double k, double m) {
    double v;
    if (k < 0.0 || m < 0.0) {
        return (NAN);
    }
    if (m == 0.0) {
        return 0.0;
    }
    v = ::floor(k) + 1;
    return (igam(v, m));
}
__device__ inline double pdtr(double k, double m) {
    double v;
    if (k < 0 || m < 0) {
        return (NAN);
    }
    if (m == 0.0) {
        return 1.0;
    }
    v = ::floor(k) + 1;
    return (igamc(v, m));
}
__device__ inline double pdtri(int k, double y) {
    double v;
    if ((k < 0) || (y < 0.0) || (y >= 1.0)) {
        return (NAN);
    }
    v = k + 1;
    v = igamci(v, y);
    return (v);
}
}
