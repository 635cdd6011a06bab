// The logarithmic derivative of the gamma function for float. Negative numbers are computed in double, because the
// poles are close to the zeros.
namespace pygpu_special {

// For x from 1 to 2 this is Boost's rational approximation, which is accurate at the function's zero.
__device__ inline float digamma_1_2(float x) {
    const float above[] = {-0.0020713321167745952f, -0.045251321448739056f, -0.28919126444774784f,
                           -0.65031853770896507f,   -0.32555031186804491f,  0.25479851061131551f};
    const float below[] = {-0.55789841321675513e-6f, 0.0021284987017821144f, 0.054151797245674225f, 0.43593529692665969f,
                           1.4606242909763515f,      2.0767117023730469f,    1.0f};
    float from_zero = (x - 1.461632132530212f) - 1.2438149953e-8f;
    return from_zero * (0.99558162689208984f + polynomial(x - 1, above) / polynomial(x - 1, below));
}
// For x below 6, the recurrence adds 4 to x. Its four quotients are computed with one common denominator.
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

}
