// The digamma function, which is the logarithmic derivative of the gamma function. Negative floats are computed in
// double, because the function has a zero close to each pole.
namespace pygpu_special {

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
    if (x <= 0) return pygpu_xsf::digamma(x);
    if (x > 2) return digamma_above_2(x);
    return x >= 1 ? digamma_1_2(x) : digamma_1_2(x + 1) - 1 / x;
}
__device__ inline double digamma_1_2(double x) {
    const double above[] = {-0.0020713321167745952, -0.045251321448739056, -0.28919126444774784,
                            -0.65031853770896507,   -0.32555031186804491,  0.25479851061131551};
    const double below[] = {-0.55789841321675513e-6, 0.0021284987017821144, 0.054151797245674225, 0.43593529692665969,
                            1.4606242909763515,      2.0767117023730469,    1.0};
    // The position of the function's zero is stored as the sum of three numbers, which are subtracted one after
    // another.
    double from_zero = ((x - 1.4616321446374059) - 3.309564688275257e-10) - 9.0163120932586959e-20;
    return from_zero * 0.99558162689208984 + from_zero * (polynomial(x - 1, above) / polynomial(x - 1, below));
}
// Returns the digamma function for x above 2. If x is below 10, the recurrence relation raises x by 10. The sum of the
// ten quotients that this adds is computed as a single quotient.
__device__ inline double digamma_above_2(double x) {
    double sum = 0, product = 1;
    if (x < 10) {
#pragma unroll
        for (int step = 0; step < 10; step++) {
            sum = pygpu_xsf::multiply_add(sum, x, product);
            product *= x;
            x += 1;
        }
    }
    double z = 1 / (x * x);
    const double c[] = {8.33333333333333333e-2, -2.10927960927960928e-2, 7.57575757575757576e-3, -4.16666666666666667e-3,
                        3.96825396825396825e-3, -8.33333333333333333e-3, 8.33333333333333333e-2};
    return log(x) - 0.5 / x - z * polynomial(z, c) - sum / product;
}
__device__ inline double digamma(double x) {
    if (x <= 0 || x != x) return pygpu_xsf::digamma(x);
    if (x > 2) return digamma_above_2(x);
    return x >= 1 ? digamma_1_2(x) : digamma_1_2(x + 1) - 1 / x;
}

}
