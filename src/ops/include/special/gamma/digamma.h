// The digamma function, which is the logarithmic derivative of the gamma function. Negative floats are computed in
// double, because the function has a zero close to each pole.
namespace pygpu_special {

// The function contains the code of xsf once, because it is not inlined.
__device__ __noinline__ double digamma_of_any(double x) { return pygpu_xsf::digamma(x); }

// Returns the digamma function for x from 1 to 2, by Boost's rational approximation, which is accurate near the
// function's zero.
__device__ inline float digamma_1_2(float x) {
    const float above[] = {-0.0020713321167745952f, -0.045251321448739056f, -0.28919126444774784f,
                           -0.65031853770896507f,   -0.32555031186804491f,  0.25479851061131551f};
    const float below[] = {-0.55789841321675513e-6f, 0.0021284987017821144f, 0.054151797245674225f, 0.43593529692665969f,
                           1.4606242909763515f,      2.0767117023730469f,    1.0f};
    float from_zero = (x - 1.461632132530212f) - 1.2438149953e-8f;
    return from_zero * (0.99558162689208984f + polynomial(x - 1, above) / polynomial(x - 1, below));
}
// Returns the digamma function for x above 2. If x is below 6, the recurrence relation raises x by 4. The sum of the
// four quotients that this adds is computed as a single quotient.
__device__ inline float digamma_above_2(float x) {
    float below = 0;
    if (x < 6) {
        float u = x * (x + 3);
        below = (2 * u + 2) * (2 * x + 3) / (u * (u + 2));
        x += 4;
    }
    float r = 1 / x, z = r * r;
    const float c[] = {0.003968253968f, -0.008333333333f, 0.083333333333f};
    return log(x) - 0.5f * r - z * polynomial(z, c) - below;
}
__device__ inline float digamma(float x) {
    if (x <= 0) return digamma_of_any(x);
    if (x > 2) return digamma_above_2(x);
    return x >= 1 ? digamma_1_2(x) : digamma_1_2(x + 1) - 1 / x;
}
// Doubles use one formula for numbers up to 3, and another one for larger numbers. All threads compute both, because most
// warps have numbers of both kinds, and both formulas share a division: that of `top` by `bottom * divisor`.
__device__ inline double digamma(double x) {
    if (!(x > 1e-18 && x < 1e18)) return digamma_of_any(x);
    const bool is_small = x <= 3, is_below_1 = x < 1, is_above_2 = x > 2, is_moderate = x < 10;
    // Up to 3: Boost's rational approximation from 1 to 2, at x + 1 or x - 1 for other numbers. The position of the
    // function's zero is stored as the sum of three numbers, which are subtracted one after another.
    const double above[] = {-0.0020713321167745952, -0.045251321448739056, -0.28919126444774784,
                            -0.65031853770896507,   -0.32555031186804491,  0.25479851061131551};
    const double below[] = {-0.55789841321675513e-6, 0.0021284987017821144, 0.054151797245674225, 0.43593529692665969,
                            1.4606242909763515,      2.0767117023730469,    1.0};
    double moved = is_below_1 ? x + 1 : is_above_2 ? x - 1 : x, from_1 = is_below_1 ? x : moved - 1;
    double from_zero = ((moved - 1.4616321446374059) - 3.309564688275257e-10) - 9.0163120932586959e-20;
    // Above 3: an asymptotic series for numbers of at least 10. The recurrence relation raises smaller numbers by 10.
    // The quotients that it adds are 1 / (x + k) + 1 / (x + 9 - k) = (2 * x + 9) / (u + k * (9 - k)).
    double u = x * (x + 9), sum = 1, product = u;
    const double steps[] = {8, 14, 18, 20};
#pragma unroll
    for (int step = 0; step < 4; step++) {
        sum = pygpu_xsf::multiply_add(sum, u + steps[step], product);
        product *= u + steps[step];
    }
    double raised = is_moderate ? x + 10 : x;
    double top = is_small ? polynomial(from_1, above) * from_zero : is_moderate ? -(2 * x + 9) * sum : 0;
    double bottom = is_small ? polynomial(from_1, below) : is_moderate ? product : 1;
    double divisor = is_small ? (is_below_1 ? x : is_above_2 ? moved : 1) : raised;
    double inverse = quotient(1.0, bottom * divisor), of_divisor = inverse * bottom, z = of_divisor * of_divisor;
    const double series[] = {-0.018818829155380717, 0.007550959594172724,  -0.004166539939450138,
                             0.003968253673476796,  -0.008333333333081587, 0.0833333333333333};
    int exponent = exponent_of_ratio(raised, 1.0);
    double of_large = log_of_product(exponent, fma(inverse_power_of_2(x, exponent), raised, -1.0));
    of_large -= pygpu_xsf::multiply_add(z, polynomial(z, series), of_divisor / 2);
    double of_small = from_zero * 0.99558162689208984 + (is_below_1 ? -of_divisor : is_above_2 ? of_divisor : 0);
    return (is_small ? of_small : of_large) + top * divisor * inverse;
}

}
