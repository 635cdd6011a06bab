// The Hurwitz zeta function for floats of moderate size. It is computed in double: 8 terms of the sum, and the
// Euler-Maclaurin formula for the remaining terms.
namespace pygpu_special {

__device__ inline float zeta(float x, float q) {
    if (!(x > 1.0001f && x < 16 && q > 0 && q < 1e6f)) return (float)pygpu_xsf::zeta(x, q);
    double exponent = -(double)x, place = q, sum = 0;
#pragma unroll 1
    for (int term = 0; term < 8; term++, place += 1) sum += exp(exponent * log(place));
    // The j-th correction of the Euler-Maclaurin formula is numbers[j - 1] = B(2 j) / (2 j)!, where B are the Bernoulli
    // numbers, times x (x + 1) ... (x + 2 j - 2) / pow(place, 2 j - 1).
    const double numbers[] = {0.08333333333333333,    -0.001388888888888889,  3.306878306878307e-5,
                              -8.267195767195767e-7, 2.08767569878681e-8,     -5.284190138687493e-10};
    double last = exp(exponent * log(place)), r = 1 / place, factor = x * r, tail = 0.5;
#pragma unroll
    for (int j = 0; j < 6; j++) {
        tail += numbers[j] * factor;
        factor *= (x + (2 * j + 1)) * r * ((x + (2 * j + 2)) * r);
    }
    return (float)(sum + last * (place / (x - 1.0) + tail));
}

}
