// From xsf/cephes/unity.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
namespace pygpu_xsf {
__device__ inline double log1pmx(double x) {
    if (::fabs(x) < 0.5) {
        uint64_t n;
        double xfac = x;
        double term;
        double res = 0;
        for (n = 2; n < MAXITER; n++) {
            xfac *= -x;
            term = xfac / n;
            res += term;
            if (::fabs(term) < MACHEP * ::fabs(res)) {
                break;
            }
        }
        return res;
    } else {
        return ::log1p(x) - x;
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
__device__ inline double lgam1p_taylor(double x) {
    int n;
    double xfac, coeff, res;
    if (x == 0) {
        return 0;
    }
    res = -SCIPY_EULER * x;
    xfac = -x;
    for (n = 2; n < 42; n++) {
        xfac *= -x;
        coeff = zeta(n, 1) * xfac / n;
        res += coeff;
        if (::fabs(coeff) < MACHEP * ::fabs(res)) {
            break;
        }
    }
    return res;
}
__device__ inline double lgam1p(double x) {
    if (::fabs(x) <= 0.5) {
        return lgam1p_taylor(x);
    } else if (::fabs(x - 1) < 0.5) {
        return ::log(x) + lgam1p_taylor(x - 1);
    } else {
        return ::lgamma(x + 1);
    }
}
}
