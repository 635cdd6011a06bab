// The binomial coefficient "n over k". If n and k are moderate and k is not an integer, it is computed from the beta
// function; for k above n, by a reflection formula.
namespace pygpu_special {

// Returns sin(pi (k - n)). The rounding error of k - n corrects the argument, because it is significant near the zeros
// of the sine.
__device__ inline double sine_of_difference(double k, double n) {
    double difference = k - n, part = difference - k, lost = (k - (difference - part)) - (n + part);
    double whole = rint(difference), sine = sinpi((difference - whole) + lost);
    return whole == 2 * floor(whole / 2) ? sine : -sine;
}
__device__ inline double binom(double n, double k) {
    bool is_above = k > n;
    double a = is_above ? n + 1 : 1 + n - k, b = is_above ? k - n : 1 + k;
    if (k == floor(k) || !(n > 0) || !is_moderate(a, b)) return pygpu_xsf::binom(n, k);
    double value = beta(a, b);
    return is_above ? value * sine_of_difference(k, n) * 0.3183098861837907 : 1 / ((n + 1) * value);
}

}
