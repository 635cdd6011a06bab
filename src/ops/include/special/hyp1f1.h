// The confluent hypergeometric function 1F1(a, b, x) of real operands. Three methods are available, each of which also
// estimates its error: the power series, which is summed in pairs of doubles because its terms may cancel; the
// asymptotic series for large x; and a recurrence in a, for large negative a. The result with the smallest error is
// used.
namespace pygpu_special {

struct Pair {
    double high, low;
};
struct Estimate {
    double value, error;  // The estimated relative error of `value`; infinite if the method has no value.
};
__device__ inline Pair pair_of(double a, double b) {  // a + b, exactly
    double sum = a + b, part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
}
__device__ inline Pair plus(Pair a, Pair b) {
    Pair sum = pair_of(a.high, b.high);
    return pair_of(sum.high, sum.low + (a.low + b.low));
}
__device__ inline Pair times(Pair a, Pair b) {
    double product = a.high * b.high;
    return pair_of(product, fma(a.high, b.high, -product) + (a.high * b.low + a.low * b.high));
}
__device__ inline Pair over(Pair a, Pair b) {
    double first = a.high / b.high;
    Pair product = times({first, 0}, b);
    Pair rest = plus(a, {-product.high, -product.low});
    return pair_of(first, (rest.high + rest.low) / b.high);
}

// Returns exp(shift) * 1F1(a, b, x) by the power series in x. The operand `a` is passed as the sum of two doubles.
static __device__ __noinline__ Estimate hyp1f1_series(Pair a, double b, double x, double shift) {
    const double SCALE = 0x1p-600, LIMIT = 0x1p600;
    Pair sum = {1, 0}, term = {1, 0};
    double largest = 1;
    int scalings = 0, k = 0;
#pragma unroll 1
    for (; k < 20000; k++) {
        Pair above = times(plus(a, {(double)k, 0}), {x, 0}), below = times(pair_of(b, k), {k + 1.0, 0});
        if (above.high == 0) break;
        term = over(times(term, above), below);
        sum = plus(sum, term);
        largest = fmax(largest, fabs(term.high));
        if (fabs(term.high) > LIMIT) {
            if (++scalings > 7) break;
            term = times(term, {SCALE, 0});
            sum = times(sum, {SCALE, 0});
            largest *= SCALE;
        }
        // If b is negative, the terms may fall and then grow again near k = -b, so the summation must not end before k
        // reaches -b.
        bool falls = k > -b && fabs(above.high) < 0.7 * fabs(below.high);
        if (falls && fabs(term.high) <= fmax(1e-34 * largest, 1e-19 * fabs(sum.high))) break;
    }
    if (k == 20000 || scalings > 7 || !(fabs(sum.high) < INFINITY)) return {NAN, INFINITY};
    double value = sum.high, factor = pygpu_xsf::call_exp(scalings ? shift / 8 : shift);
#pragma unroll 1
    for (int part = 0; part < (scalings ? 8 : 1); part++) {
        value *= factor;
        if (part < scalings) value *= LIMIT;
    }
    if (value == 0) return {0, 1e-16};  // For negative integer a the series is a polynomial, of which x is a zero.
    return {value, 1e-16 + 1e-31 * (k + 1) * largest / fabs(sum.high)};
}

__device__ inline double gamma_sign(double x) { return x < 0 && floor(x) != 2 * floor(0.5 * floor(x)) ? -1 : 1; }

// Returns exp(shift) * 1F1(a, b, -y) by the asymptotic series for large y.
static __device__ __noinline__ Estimate hyp1f1_far(double a, double b, double y, double shift) {
    double rest = b - a, sum = 1, term = 1, largest = 1;
    if (y < 20 || (rest <= 0 && rest == floor(rest))) return {NAN, INFINITY};
    bool is_polynomial = a <= 0 && a == floor(a);
    double logarithm = pygpu_xsf::call_log(y), exponent = (2 * a - b) * logarithm - y;
    double difference = pygpu_xsf::call_lgamma(rest) - pygpu_xsf::call_lgamma(a);
    if (!is_polynomial && difference + exponent > -40) return {NAN, INFINITY};
#pragma unroll 1
    for (int k = 0; fabs(term) > 1e-17 * fabs(sum); k++) {
        double ratio = (a + k) * (k + 1 - rest) / ((k + 1) * y);
        if (fabs(ratio) > 0.9 || k > 500) return {NAN, INFINITY};
        term *= ratio;
        sum += term;
        largest = fmax(largest, fabs(term));
    }
    double factor = 0, power = pygpu_xsf::call_pow(y, -a);
    if (fabs(b) < 170 && fabs(rest) < 170) factor = pygpu_xsf::call_tgamma(b) / pygpu_xsf::call_tgamma(rest);
    double scale = factor * power;
    double half = pygpu_xsf::call_exp(0.5 * shift);
    if (!(fabs(factor) > 1e-290 && fabs(factor) < 1e290 && power > 1e-290 && power < 1e290)) {
        scale = gamma_sign(b) * gamma_sign(rest);
        half = pygpu_xsf::call_exp(0.5 * (pygpu_xsf::call_lgamma(b) - pygpu_xsf::call_lgamma(rest) - a * logarithm + shift));
    }
    return {half * (scale * sum) * half, 1e-16 * largest / fabs(sum)};
}

// Returns exp(shift) * 1F1(a, b, x) for positive b and x, and negative a. The recurrence begins at a larger first
// operand, where the power series has little cancellation, and decreases it to a.
static __device__ __noinline__ Estimate hyp1f1_recurrence(double a, double b, double x, double shift) {
    bool is_polynomial = a == floor(a);
    double steps = is_polynomial ? -a : floor(-a - 0.25 * x);
    if (!(steps > 0 && steps < 100000)) return {NAN, INFINITY};
    double at = a + steps;
    Estimate first = hyp1f1_series({at, 0}, b, x, 0), second = hyp1f1_series({at + 1, 0}, b, x, 0);
    double value = first.value, before = second.value;
#pragma unroll 1
    for (; steps > 0; steps--) {
        double next = ((b - 2 * at - x) * value + at * before) / (b - at);
        before = value;
        value = next;
        at -= 1;
    }
    return {value * pygpu_xsf::call_exp(shift), fmax(fmax(first.error, second.error), 1e-14)};
}

__device__ inline Estimate better(Estimate a, Estimate b) { return b.error < a.error ? b : a; }

static __device__ __noinline__ double hyp1f1(double a, double b, double x) {
    if (a != a || b != b || x != x) return NAN;
    bool is_pole = b <= 0 && b == floor(b), is_polynomial = a <= 0 && a == floor(a);
    if (is_pole && !(is_polynomial && a < 0 && a >= b)) return INFINITY;
    if (x == 0 || a == 0) return 1;
    if (isinf(a) || isinf(b)) return NAN;
    if (isinf(x)) {
        if (x < 0) return a > 0 ? 0 : a == b ? 0 : NAN;
        if (is_polynomial) return NAN;
        return gamma_sign(a) * gamma_sign(b) * INFINITY;
    }
    if (is_pole) return hyp1f1_series({a, 0}, b, x, 0).value;
    if (a == b) return pygpu_xsf::call_exp(x);
    Pair rest = pair_of(b, -a);
    const double GOOD = 5e-16;
    Estimate best = {NAN, INFINITY};
    if (fabs(x) > 50) best = x < 0 ? hyp1f1_far(a, b, -x, 0) : hyp1f1_far(b - a, b, x, x);
    if (best.error > GOOD) {  // The power series in the absolute value of x: for positive operands, no terms cancel.
        bool by_rest = x < 0;
        best = better(best, by_rest ? hyp1f1_series(rest, b, -x, x) : hyp1f1_series({a, 0}, b, x, 0));
        if (best.error > GOOD) {
            best = better(best, by_rest ? hyp1f1_series({a, 0}, b, x, 0) : hyp1f1_series(rest, b, -x, x));
        }
    }
    if (best.error > 1e-14 && b > 0) {
        double first = x > 0 ? a : b - a;
        if (first < -1) best = better(best, hyp1f1_recurrence(first, b, fabs(x), x > 0 ? 0 : x));
    }
    return best.error < 1e-6 ? best.value : NAN;  // If no method is accurate, NaN is returned instead of an inexact value.
}

}
