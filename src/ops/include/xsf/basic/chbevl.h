// From xsf/cephes/chbevl.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Copyright 1985, 1987 by Stephen L. Moshier
namespace pygpu_xsf {
__device__ inline double chbevl(double x, const double array[], int n) {
    double b0, b1, b2;
    const double *p;
    int i;
    p = array;
    b0 = *p++;
    b1 = 0.0;
    i = n - 1;
    do {
        b2 = b1;
        b1 = b0;
        b0 = multiply_add(x, b1, *p++ - b2);
    } while (--i);
    return (0.5 * (b0 - b2));
}
}
