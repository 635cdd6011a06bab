// The beta function of two positive numbers of moderate size, as one quotient of Lanczos sums (Boost, Math Toolkit,
// Beta). Differences of logarithms of the gamma function, which would lose digits by cancellation, are thereby avoided.
namespace pygpu_special {

// The value of a beta function as two numbers: the value is `factor` times exp(`exponent`).
struct beta_parts {
    double factor, exponent;
};
__device__ inline bool is_moderate(double a, double b) { return a > 1e-8 && b > 1e-8 && a < 1e6 && b < 1e6; }
__device__ inline beta_parts moderate_beta(double x, double y) {
    double a = fmax(x, y), b = fmin(x, y);
    lanczos_sum p = lanczos_sum_of(a), q = lanczos_sum_of(b), r = lanczos_sum_of(a + b);
    double sums = p.top * q.top * r.bottom / (p.bottom * q.bottom * r.top);
    double exponent = (a - b - 0.5) * log1p(-b / r.base) + b * log(p.base / r.base * (q.base / r.base));
    return {sums * sqrt(2.718281828459045 / q.base), exponent};
}
__device__ inline double beta(double a, double b) {
    if (!is_moderate(a, b)) return pygpu_xsf::beta(a, b);
    beta_parts parts = moderate_beta(a, b);
    return parts.factor * exp(parts.exponent);
}
__device__ inline double betaln(double a, double b) {
    if (!is_moderate(a, b)) return pygpu_xsf::lbeta(a, b);
    beta_parts parts = moderate_beta(a, b);
    // If one operand is 1 and the other one is x, the beta function is 1 / x.
    bool is_reciprocal = a == 1 || b == 1;
    double logarithm = log(is_reciprocal ? a * b : parts.factor);
    return is_reciprocal ? -logarithm : logarithm + parts.exponent;
}

}
