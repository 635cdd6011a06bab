// From xsf/boxcox.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated from Cython to C++ by the xsf developers in 2026.
// Original implementation by Warren Weckesser.
namespace pygpu_xsf {
__device__ inline double boxcox(double x, double lmbda) {
    if (::fabs(lmbda) < 1e-19) {
        return ::log(x);
    } else if (lmbda * ::log(x) < 709.78) {
        return ::expm1(lmbda * ::log(x)) / lmbda;
    } else {
        return ::copysign(1.0, lmbda) * ::exp(lmbda * ::log(x) - ::log(::fabs(lmbda))) - 1 / lmbda;
    }
}
__device__ inline double boxcox1p(double x, double lmbda) {
    double lgx = ::log1p(x);
    if (::fabs(lmbda) < 1e-19 || (::fabs(lgx) < 1e-289 && ::fabs(lmbda) < 1e273)) {
        return lgx;
    } else if (lmbda * lgx < 709.78) {
        return ::expm1(lmbda * lgx) / lmbda;
    } else {
        return ::copysign(1.0, lmbda) * ::exp(lmbda * lgx - ::log(::fabs(lmbda))) - 1 / lmbda;
    }
}
__device__ inline double inv_boxcox(double x, double lmbda) {
    if (lmbda == 0) {
        return ::exp(x);
    } else if (lmbda * x < 1.79e308) {
        return ::exp(::log1p(lmbda * x) / lmbda);
    } else {
        return ::exp((::log(::copysign(1.0, lmbda) * (x + 1 / lmbda)) + ::log(::fabs(lmbda))) / lmbda);
    }
}
__device__ inline double inv_boxcox1p(double x, double lmbda) {
    if (lmbda == 0) {
        return ::expm1(x);
    } else if (::fabs(lmbda * x) < 1e-154) {
        return x;
    } else if (lmbda * x < 1.79e308) {
        return ::expm1(::log1p(lmbda * x) / lmbda);
    } else {
        return ::expm1((::log(::copysign(1.0, lmbda) * (x + 1 / lmbda)) + ::log(::fabs(lmbda))) / lmbda);
    }
}
}
