// From xsf/cephes/rgamma.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Copyright 1985, 1987 by Stephen L. Moshier
namespace pygpu_xsf {
__constant__ const double rgamma_R[] = {3.13173458231230000000E-17,  -6.70718606477908000000E-16,
2.20039078172259550000E-15,  2.47691630348254132600E-13,
-6.60074100411295197440E-12, 5.13850186324226978840E-11,
1.08965386454418662084E-9,   -3.33964630686836942556E-8,
2.68975996440595483619E-7,   2.96001177518801696639E-6,
-8.04814124978471142852E-5,  4.16609138709688864714E-4,
5.06579864028608725080E-3,   -6.41925436109158228810E-2,
-4.98558728684003594785E-3,  1.27546015610523951063E-1};
static __device__ __noinline__ double rgamma(double x) {
        double w, y, z;
        if (x == 0) {
            return x;
        }
        if (x < 0 && x == ::floor(x)) {
            return 0.0;
        }
        if (::fabs(x) > 4.0) {
            return 1.0 / call_tgamma(x);
        }
        z = 1.0;
        w = x;
#pragma unroll 1
        while (w > 1.0) {
            w -= 1.0;
            z *= w;
        }
#pragma unroll 1
        while (w < 0.0) {
            z /= w;
            w += 1.0;
        }
        if (w == 0.0)
            return (0.0);
        if (w == 1.0)
            return (1.0 / z);
        y = w * (1.0 + chbevl(4.0 * w - 2.0, rgamma_R, 16)) / z;
        return (y);
    }
}
