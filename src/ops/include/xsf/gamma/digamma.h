// From xsf/digamma.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated from Cython into C++ by SciPy developers in 2024.
// Author: Josh Wilson
namespace pygpu_xsf {
constexpr double digamma_negroot = -0.504083008264455409;
constexpr double digamma_negrootval = 7.2897639029768949e-17;
__device__ inline double digamma_zeta_series(double z, double root, double rootval) {
        double res = rootval;
        double coeff = -1.0;
        z = z - root;
        double term;
#pragma unroll 1
        for (int n = 1; n < 100; n++) {
            coeff *= -z;
            term = coeff * zeta(n + 1, root);
            res += term;
            if (::fabs(term) < DBL_EPSILON * ::fabs(res)) {
                break;
            }
        }
        return res;
    }
__device__ inline double digamma(double z) {
    if (::fabs(z - digamma_negroot) < 0.3) {
        return digamma_zeta_series(z, digamma_negroot, digamma_negrootval);
    }
    return psi(z);
}
}
