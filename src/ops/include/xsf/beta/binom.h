// From xsf/binom.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated from Cython into C++ by SciPy developers in 2024.
namespace pygpu_xsf {
static __device__ __noinline__ double binom(double n, double k) {
    double kx, nx, num, den, dk, sgn;
    if (n < 0) {
        nx = ::floor(n);
        if (n == nx) {
            return NAN;
        }
    }
    kx = ::floor(k);
    if (k == kx && (::fabs(n) > 1E-8 || n == 0)) {
        nx = ::floor(n);
        if (nx == n && kx > nx / 2 && nx > 0) {
            kx = nx - kx;
        }
        if (kx >= 0 && kx < 20) {
            num = 1.0;
            den = 1.0;
#pragma unroll 1
            for (int i = 1; i < 1 + (int)(kx); i++) {
                num *= i + n - kx;
                den *= i;
                if (::fabs(num) > 1E50) {
                    num /= den;
                    den = 1.0;
                }
            }
            return num / den;
        }
    }
    if (n >= 1E10 * k && k > 0) {
        return call_exp(-lbeta(1 + n - k, 1 + k) - call_log(n + 1));
    }
    if (k > 1E8 * ::fabs(n)) {
        num = call_tgamma(1 + n) / ::fabs(k) + call_tgamma(1 + n) * n / (2 * k * k);
        num /= M_PI * call_pow(::fabs(k), n);
        if (k > 0) {
            kx = ::floor(k);
            if ((int)(kx) == kx) {
                dk = k - kx;
                sgn = ((int)(kx) % 2 == 0) ? 1 : -1;
            } else {
                dk = k;
                sgn = 1;
            }
            return num * call_sin((dk - n) * M_PI) * sgn;
        }
        kx = ::floor(k);
        if ((int)(kx) == kx) {
            return 0;
        }
        return num * call_sin(k * M_PI);
    }
    return 1 / (n + 1) / beta(1 + n - k, 1 + k);
}
}
