// Logarithms without branches, so that the compiler interleaves the elements of a thread: of numbers that are products of
// a power of 2 and a number near 1, and of sums of exponentials.
namespace pygpu_special {

// Returns a / b for |b| from 2**-100 to 2**100. Unlike the operator, it has no branch for other numbers. The remainder
// corrects the quotient; the error is below 0.6 ulp.
__device__ inline float quotient(float a, float b) {
    float inverse = __fdividef(1.0f, b), q = a * inverse;
    return fma(fma(-b, q, a), inverse, q);
}
__device__ inline double quotient(double a, double b) {
    double inverse = __fdividef(1.0f, (float)b);
    inverse = fma(fma(-b, inverse, 1.0), inverse, inverse);
    double q = a * inverse;
    return fma(fma(-b, q, a), inverse, q);
}

// Returns the exponent e for which x / (y * 2**e) is from 2/3 to 3/2. The numbers are positive and not subnormal;
// for other numbers, the exponent is undefined.
__device__ inline int exponent_of_ratio(float x, float y) {
    return (int)((unsigned)__float_as_int(x) - (unsigned)__float_as_int(y) + 0x400000) >> 23;
}
__device__ inline int exponent_of_ratio(double x, double y) {
    return (int)((unsigned)__double2hiint(x) - (unsigned)__double2hiint(y) + 0x80000) >> 20;
}
// Returns 2**-exponent for exponents from -127 to 126, or from -1023 to 1042.
__device__ inline float inverse_power_of_2(float, int exponent) {
    return __int_as_float((unsigned)(127 - exponent) << 23);
}
__device__ inline double inverse_power_of_2(double, int exponent) {
    return __hiloint2double(exponent > 1022 ? 1u << (1042 - exponent) : (unsigned)(1023 - exponent) << 20, 0);
}
// Returns (log((1 + s) / (1 - s)) - 2 * s) / s**3 for the square of s, which is at most 0.04.
__device__ inline float rest_of_log(float square) {
    const float c[] = {0.299559623f, 0.399790078f, 0.666667163f};
    return polynomial(square, c);
}
__device__ inline double rest_of_log(double square) {
    const double c[] = {0.13604517062720323, 0.13210295347053236, 0.15388837982487366, 0.18181738372176318,
                        0.22222223038856737, 0.285714285673329,   0.4000000000000781,  0.6666666666666666};
    return polynomial(square, c);
}
__device__ inline float add_log_of_power(int exponent, float sum) {
    return fma((float)exponent, 0.693145752f, fma((float)exponent, 1.42860677e-6f, sum));
}
__device__ inline double add_log_of_power(int exponent, double sum) {
    return fma((double)exponent, 0.6931471803691238, fma((double)exponent, 1.9082149292705877e-10, sum));
}
// Returns log(2**exponent * (1 + f)) for f from -1/3 to 1/2. The result is f if the exponent is 0 and f is tiny.
template <class T> __device__ inline T log_of_product(int exponent, T f) {
    T s = quotient(f, 2 + f), square = s * s;
    return add_log_of_power(exponent, fma(-s, fma(-square, rest_of_log(square), f), f));
}

// Returns log(1 + x). It equals 2**exponent * (1 + f). f is exact for exponents from -1 to 1, and otherwise rounded, but
// smaller than the result.
__device__ inline double log1p_of_double(double x) {
    int exponent = exponent_of_ratio(1 + x, 1.0);
    double power = inverse_power_of_2(x, exponent), f = fma(power, x, power - 1);
    double s = quotient(f, 2 + f), square = s * s, rest = fma(-square, rest_of_log(square), f);
    // The sum of f and the logarithm of the power is exact as `sum` and `lost`.
    double of_power = exponent * 0.6931471803691238, sum = of_power + f, lost = (of_power - sum) + f;
    double value = sum + (fma(-s, rest, exponent * 1.9082149292705877e-10) + lost);
    value = exponent == 0 ? fma(-s, rest, f) : value;
    // Selecting between integers instead of doubles makes no branch.
    const bool is_pole = __double2hiint(1 + x) == 0, is_beyond = x <= -1;
    double limit = __hiloint2double(is_pole ? 0xfff00000 : 0x7ff80000, 0);
    const bool is_regular = (x < INFINITY) & (x != 0);
    return is_beyond ? limit : is_regular ? value : x;
}

// Returns sum + factor * log(1 + t) for t from 0 to 1, by polynomials for log(1 + t) / t with relative errors of 2**-26
// and 2**-54.5. log1p has a division, and branches for other arguments.
__device__ inline float add_log1p(float sum, float factor, float t) {
    const float c[] = {-0.00317605701f, 0.0195425265f,  -0.0563736111f, 0.105436236f,  -0.152696669f,
                       0.196632743f,    -0.249516159f, 0.333297104f,   -0.499998927f, 1.0f};
    return fma(factor * t, polynomial(t, c), sum);
}
__device__ inline double add_log1p(double sum, double factor, double t) {
    const double c[] = {2.4437973948580947e-05, -0.0002827421139374107, 0.0015535244034334333, -0.0054217339910016095,
                        0.013598778090617254,   -0.026398779480743217,  0.041925709853904154,  -0.05718978534193906,
                        0.07015296236526472,    -0.08070954578430206,   0.09009095815198633,   -0.09979768096586568,
                        0.11107211585299538,    -0.12499427063514382,   0.14285651975275926,   -0.16666661848248537,
                        0.19999999749856523,    -0.24999999992009522,   0.33333333333197523,   -0.4999999999999908,
                        1.0};
    return fma(factor * t, polynomial(t, c), sum);
}
// Both orders of the operands use the same instructions, because threads of a warp would otherwise run both branches.
// The comparison of the operands serves equal infinities, whose difference is NaN.
template <class T> __device__ inline T logaddexp(T a, T b) {
    T sum = add_log1p(a > b ? a : b, (T)1, exp(-fabs(a - b)));
    return a == b ? a + (T)0.6931471805599453 : sum;
}
template <class T> __device__ inline T logaddexp2(T a, T b) {
    T sum = add_log1p(a > b ? a : b, (T)1.4426950408889634, exp2(-fabs(a - b)));
    return a == b ? a + 1 : sum;
}

}
