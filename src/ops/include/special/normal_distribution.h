// The logarithm of the normal distribution function.
namespace pygpu_special {

// Returns log(ndtr(x)). For negative x, ndtr(x) is erfcx(-x / sqrt(2)) * exp(-x * x / 2) / 2; otherwise it is 1 minus
// this product for -x. `lost` is the rounding error of the square. Threads with positive and with negative numbers run
// the same instructions.
template <class T> __device__ inline T log_ndtr(T x) {
    const bool is_negative = x < 0;
    T size = fabs(x), square = x * x, lost = fma(x, x, -square), scaled = erfcx(size * (T)0.70710678118654752440) / 2;
    T tail = scaled * exp(-square / 2);
    tail = size > 50 ? 0 : fma(lost / -2, tail, tail);
    int exponent = exponent_of_ratio(is_negative ? scaled : 1 - tail, (T)1);
    T power = inverse_power_of_2(x, exponent);
    T f = fma(is_negative ? power : -power, is_negative ? scaled : tail, is_negative ? -(T)1 : power - 1);
    return log_of_product(exponent, f) - (is_negative ? square / 2 : 0);
}

}
