// The survival function of the one-sided Kolmogorov-Smirnov statistic. It is computed as a sum of positive terms, in
// which no digits cancel.
namespace pygpu_special {

static __device__ __noinline__ double smirnov(double count, double x) {
    if (!(count >= 1 && x >= 0 && x <= 1) || isinf(count)) return NAN;
    double n = floor(count);
    if (x == 0 || x == 1) return 1 - x;
    if (x * n <= 1) return 1 - x * pow(1 + x, n - 1);
    if (-2 * n * x * x < -745.2) return 0;
    if (n > 1e6) {
        double power = 6 * n * x + 1;
        return exp(-power * power / 18 / n);
    }
    // `binomial` is the logarithm of the binomial coefficient "n over v". `lost` is the rounding error of `binomial`.
    double binomial = 0, lost = 0, sum = 0;
#pragma unroll 1
    for (double v = 0; x + v / n < 1; v++) {
        double base = x + v / n;
        sum += exp(binomial + ((v - 1) * log(base) + (n - v) * log1p(-base)));
        double next = log((n - v) / (v + 1)) - lost, total = binomial + next;
        lost = (total - binomial) - next;
        binomial = total;
    }
    return fmin(x * sum, 1.0);
}

}
