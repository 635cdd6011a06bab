// From xsf/cephes/unity.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
namespace pygpu_xsf {
__constant__ const double zeta_over_order[40] = {0.8224670334241132, 0.40068563438653143, 0.27058080842778454, 0.20738555102867398, 0.1695571769974082, 0.1440498967688461, 0.12550966952474304, 0.11133426586956469, 0.1000994575127818, 0.09095401714582904, 0.083353840546109, 0.0769325164113522, 0.07143294629536133, 0.06666870588242046, 0.06250095514121304, 0.058823978658684585, 0.055555767627403614, 0.05263167937961666, 0.05000004769810169, 0.047619070330142226, 0.04545455629320467, 0.04347826605304026, 0.04166666915034121, 0.04000000119214014, 0.03846153903467518, 0.037037037312989324, 0.035714285847333355, 0.034482758684919304, 0.03333333336437758, 0.03225806453115042, 0.03125000000727597, 0.030303030306558044, 0.029411764707594344, 0.02857142857226011, 0.027777777778181998, 0.027027027027223673, 0.02631578947377995, 0.025641025641072283, 0.025000000000022737, 0.024390243902450117};
static __device__ __noinline__ double log1pmx(double x) {
        if (::fabs(x) < 0.5) {
            uint64_t n;
            double xfac = x;
            double term;
            double res = 0;
#pragma unroll 1
            for (n = 2; n < MAXITER; n++) {
                xfac *= -x;
                term = call_divide(xfac, n);
                res += term;
                if (::fabs(term) < MACHEP * ::fabs(res)) {
                    break;
                }
            }
            return res;
        } else {
            return call_log1p(x) - x;
        }
    }
__constant__ const double unity_coscof[7] = {
    4.7377507964246204691685E-14, -1.1470284843425359765671E-11, 2.0876754287081521758361E-9,
    -2.7557319214999787979814E-7, 2.4801587301570552304991E-5,   -1.3888888888888872993737E-3,
    4.1666666666666666609054E-2,
};
__device__ inline double cosm1(double x) {
    double xx;
    if ((x < -M_PI_4) || (x > M_PI_4))
        return (::cos(x) - 1.0);
    xx = x * x;
    xx = -0.5 * xx + xx * xx * polevl(xx, unity_coscof, 6);
    return xx;
}
static __device__ __noinline__ double lgam1p_taylor(double x) {
    double power = -x, sum = -SCIPY_EULER * x;
#pragma unroll 1
    for (int n = 2; n < 42; n++) {
        power *= -x;
        sum += zeta_over_order[n - 2] * power;
    }
    return sum;
}
static __device__ __noinline__ double lgam1p(double x) {
    if (::fabs(x) <= 0.5) {
        return lgam1p_taylor(x);
    } else if (::fabs(x - 1) < 0.5) {
        return call_log(x) + lgam1p_taylor(x - 1);
    } else {
        return call_lgamma(x + 1);
    }
}
}
