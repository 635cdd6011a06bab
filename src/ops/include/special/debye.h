// Bessel functions J and Y. If the order is large and far above the argument, Debye's expansion is used, otherwise xsf.
namespace pygpu_special {

__device__ inline bool is_debye(double v, double x) { return v >= 100 && v < 1e9 && x > 0 && x < 0.6 * v; }

// Returns the Bessel function J (if `sign` is 1) or Y (if it is -1) of order v, by Debye's expansion.
static __device__ __noinline__ double debye(double v, double x, double sign) {
    double ratio = pygpu_xsf::call_divide(x, v), root = pygpu_xsf::call_sqrt((1 - ratio) * (1 + ratio));
    double p = pygpu_xsf::call_divide(1, root), p2 = p * p, sum = 1, scale = 1;
#pragma unroll 1
    for (int n = 1; n < pygpu_xsf::iv_N_UFACTORS; n++) {
        double term = 0;
#pragma unroll 1
        for (int k = pygpu_xsf::iv_N_UFACTOR_TERMS - 1 - 3 * n; k < pygpu_xsf::iv_N_UFACTOR_TERMS - n; k += 2) {
            term = term * p2 + pygpu_xsf::iv_asymptotic_ufactors[n][k];
        }
        // Polynomial n of the expansion has the factor p^n, which `scale` contains.
        scale *= pygpu_xsf::call_divide(sign * p, v);
        sum += term * scale;
        if (fabs(term * scale) < 1e-17) break;
    }
    double exponent = v * (root - pygpu_xsf::call_log(pygpu_xsf::call_divide(1 + root, ratio)));
    double divisor = (sign > 0 ? 6.28318530717958647693 : 1.57079632679489661923) * v * root;
    return pygpu_xsf::call_divide(sign * pygpu_xsf::call_exp(sign * exponent) * sum, pygpu_xsf::call_sqrt(divisor));
}
__device__ inline double jv(double v, double x) { return is_debye(v, x) ? debye(v, x, 1) : pygpu_xsf::jv(v, x); }
static __device__ __noinline__ double yv(double v, double x) {
    if (is_debye(v, x)) return debye(v, x, -1);
    if (!(v >= 100 && v < 1e6 && x > 0 && x < 1e9) || v == floor(v)) return pygpu_xsf::yv(v, x);
    // The order is raised step by step: the recurrence for Y is stable towards larger orders, and xsf has no method for
    // orders above 500.
    double order = v - floor(v), before = pygpu_xsf::yv(order, x), value = pygpu_xsf::yv(order + 1, x);
#pragma unroll 1
    for (order += 1; order < v - 0.5; order++) {
        double next = pygpu_xsf::call_divide(2 * order, x) * value - before;
        before = value;
        value = next;
    }
    return value;
}

}
