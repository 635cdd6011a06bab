// The binomial coefficient; that of other than whole numbers of moderate size by the beta function.
namespace pygpu_special {

__device__ inline double binom(double n, double k) {
    double a = 1 + n - k, b = 1 + k;
    if (k == floor(k) || !(n > 0) || !is_moderate(a, b)) return pygpu_xsf::binom(n, k);
    return 1 / ((n + 1) * beta(a, b));
}

}
