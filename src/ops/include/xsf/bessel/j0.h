// From xsf/cephes/j0.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// Copyright 1984, 1987, 1989, 2000 by Stephen L. Moshier
namespace pygpu_xsf {
__constant__ const double j0_PP[7] = {
    7.96936729297347051624E-4, 8.28352392107440799803E-2, 1.23953371646414299388E0,  5.44725003058768775090E0,
    8.74716500199817011941E0,  5.30324038235394892183E0,  9.99999999999999997821E-1,
};
__constant__ const double j0_PQ[7] = {
    9.24408810558863637013E-4, 8.56288474354474431428E-2, 1.25352743901058953537E0, 5.47097740330417105182E0,
    8.76190883237069594232E0,  5.30605288235394617618E0,  1.00000000000000000218E0,
};
__constant__ const double j0_QP[8] = {
    -1.13663838898469149931E-2, -1.28252718670509318512E0, -1.95539544257735972385E1, -9.32060152123768231369E1,
    -1.77681167980488050595E2,  -1.47077505154951170175E2, -5.14105326766599330220E1, -6.05014350600728481186E0,
};
__constant__ const double j0_QQ[7] = {
    6.43178256118178023184E1, 8.56430025976980587198E2, 3.88240183605401609683E3, 7.24046774195652478189E3,
    5.93072701187316984827E3, 2.06209331660327847417E3, 2.42005740240291393179E2,
};
__constant__ const double j0_YP[8] = {
    1.55924367855235737965E4,   -1.46639295903971606143E7,  5.43526477051876500413E9,
    -9.82136065717911466409E11, 8.75906394395366999549E13,  -3.46628303384729719441E15,
    4.42733268572569800351E16,  -1.84950800436986690637E16,
};
__constant__ const double j0_YQ[7] = {
    1.04128353664259848412E3,  6.26107330137134956842E5,  2.68919633393814121987E8,  8.64002487103935000337E10,
    2.02979612750105546709E13, 3.17157752842975028269E15, 2.50596256172653059228E17,
};
constexpr double j0_DR1 = 5.78318596294678452118E0;
constexpr double j0_DR2 = 3.04712623436620863991E1;
__constant__ const double j0_RP[4] = {
    -4.79443220978201773821E9,
    1.95617491946556577543E12,
    -2.49248344360967716204E14,
    9.70862251047306323952E15,
};
__constant__ const double j0_RQ[8] = {
    4.99563147152651017219E2,  1.73785401676374683123E5,  4.84409658339962045305E7,  1.11855537045356834862E10,
    2.11277520115489217587E12, 3.10518229857422583814E14, 3.18121955943204943306E16, 1.71086294081043136091E18,
};
__device__ inline void j0_far(double x, double *p, double *q, double *sine, double *cosine) {
    // One division computes both quotients, and one argument reduction serves both phases.
    double w = 5.0 / x, z = w * w, scale = SQRT1OPI / ::sqrt(x);
    double below_p = polevl(z, j0_PQ, 6), below_q = p1evl(z, j0_QQ, 7);
    scale /= below_p * below_q;
    *p = polevl(z, j0_PP, 6) * below_q * scale;
    *q = polevl(z, j0_QP, 7) * below_p * scale * w;
    ::sincos(x, sine, cosine);
}
__device__ inline double j0_near(double x) {
    double z = x * x;
    return x < 1.0e-5 ? 1.0 - z / 4.0 : (z - j0_DR1) * (z - j0_DR2) * polevl(z, j0_RP, 3) / p1evl(z, j0_RQ, 8);
}
__device__ inline double j0(double x) {
    double p, q, sine, cosine;
    x = ::fabs(x);
    if (x <= 5.0) return j0_near(x);
    j0_far(x, &p, &q, &sine, &cosine);
    return (p + q) * cosine + (p - q) * sine;
}
__device__ inline double y0(double x) {
    double p, q, sine, cosine;
    if (!(x > 0)) return x == 0 ? -INFINITY : NAN;
    if (x <= 5.0) return polevl(x * x, j0_YP, 7) / p1evl(x * x, j0_YQ, 7) + 0.63661977236758134308 * ::log(x) * j0_near(x);
    j0_far(x, &p, &q, &sine, &cosine);
    return (q - p) * cosine + (p + q) * sine;
}
static __device__ __noinline__ double call_j0(double x) { return j0(x); }
static __device__ __noinline__ double call_y0(double x) { return y0(x); }
}
