// Modified Bessel functions of real order, by Temme's method, and by asymptotic series for large arguments.
namespace pygpu_special {

// Returns the sum in Hankel's asymptotic series of the Bessel function I (if `sign` is 1) or K (if it is -1). The
// caller multiplies the sum by the series' exponential and square root. `m` is 4 times the square of the order.
__device__ inline double hankel_series(double m, double x, double sign) {
    double term = 1, sum = 1;
    for (int k = 1; k < 200; k++) {
        double odd = 2 * k - 1, next = -sign * term * (m - odd * odd) / (8 * x * k);
        if (fabs(next) > fabs(term) && k > 1) break;
        sum += term = next;
        if (fabs(term) < 1e-17 * fabs(sum)) break;
    }
    return sum;
}
__device__ inline bool is_asymptotic(double v, double x) { return x > 50 && x > v * v; }
// Returns whether the uniform expansion for large orders must be used, because Temme's method would overflow.
__device__ inline bool is_uniform(double v, double x) { return v > 50 || x > 500; }
__device__ inline double kv(double v, double x) {
    if (v != v || !(x >= 0)) return NAN;
    if (x == 0) return INFINITY;
    v = fabs(v);
    if (isinf(x)) return 0;
    if (v > 50) {
        double i, k;
        pygpu_xsf::ikv_asymptotic_uniform(v, x, &i, &k);
        return k;
    }
    if (is_asymptotic(v, x)) return sqrt(1.57079632679489661923 / x) * exp(-x) * hankel_series(4 * v * v, x, -1);
    double i, k;
    pygpu_xsf::ikv_temme(v, x, nullptr, &k);
    return k;
}
__device__ inline double kve(double v, double x) {
    if (v != v || !(x >= 0)) return NAN;
    if (isinf(x)) return 0;
    v = fabs(v);
    if (is_asymptotic(v, x)) return sqrt(1.57079632679489661923 / x) * hankel_series(4 * v * v, x, -1);
    if (x == 0 || !is_uniform(v, x)) return exp(x) * kv(v, x);
    double i, k;
    pygpu_xsf::ikv_asymptotic_uniform(v, x, &i, &k, x);
    return k;
}
__device__ inline double iv(double v, double x) { return pygpu_xsf::iv(v, x); }
static __device__ double ive(double v, double x) {
    if (v != v || x != x) return NAN;
    if (isinf(x)) return 0;
    double size = fabs(x);
    bool is_far = is_asymptotic(fabs(v), size);
    if (v == floor(v)) v = fabs(v);
    if (v < 0 && x > 300) return ive(-v, x) + 0.63661977236758134308 * sinpi(-v) * exp(-2 * x) * kve(-v, x);
    if (!is_far && (x == 0 || v < 0 || !is_uniform(v, size))) return exp(-size) * pygpu_xsf::iv(v, x);
    if (x < 0 && v != floor(v)) return NAN;
    double sum = 0;
    if (is_far) {
        sum = hankel_series(4 * v * v, size, 1) * 0.39894228040143267794 / sqrt(size);
    } else {
        pygpu_xsf::ikv_asymptotic_uniform(v, size, &sum, nullptr, size);
    }
    return x < 0 && 0.5 * v != floor(0.5 * v) ? -sum : sum;
}

}
