// Bessel functions of orders 0 and 1 for float. They are computed by polynomials with a relative error below 1e-7,
// which Lawson's algorithm fitted to values of 40 digits.
namespace pygpu_special {

// I0(x) and I1(x) / x for x up to 8, as polynomials in z = x * x.
__device__ inline float i0_near(float z) {
    const float c[] = {1.35663824e-19f, 1.99133823e-17f, 1.00695641e-14f, 2.37213873e-12f, 4.71799877e-10f, 6.7802354e-08f,
                       6.78183051e-06f, 0.000434026966f, 0.0156250019f,   0.25f,           1.0f};
    return polynomial(z, c);
}
__device__ inline float i1_near(float z) {
    const float c[] = {2.75044378e-18f, 3.50455514e-16f, 1.61782263e-13f, 3.31828315e-11f, 5.6621059e-09f,
                       6.78021593e-07f, 5.42545749e-05f, 0.00260416279f,  0.0625000075f,   0.5f};
    return polynomial(z, c);
}
// I0(x) * exp(-x) and I1(x) * exp(-x) for x above 8, as polynomials in r = 1 / x.
__device__ inline float i0_far(float r) {
    const float c[] = {0.38797152f, -0.0138521893f, 0.0337853022f, 0.0278987922f, 0.0498695858f, 0.398942292f};
    return polynomial(r, c) * sqrt(r);
}
__device__ inline float i1_far(float r) {
    const float c[] = {-0.452376664f, 0.00969849154f, -0.0461563058f, -0.0465757661f, -0.149605453f, 0.398942292f};
    return polynomial(r, c) * sqrt(r);
}
// Limits the argument: above 200 the result overflows anyway, and for infinity the formula would give NaN.
__device__ inline float limited(float x) { return x > 200 ? 200.0f : x; }
// Returns value * exp(x) by two multiplications by exp(x / 2), so that no intermediate product overflows unless the
// result does.
__device__ inline float times_exp(float value, float x) {
    float root = exp(0.5f * x);
    return value * root * root;
}
__device__ inline float i0(float x) {
    x = limited(fabs(x));
    return x <= 8 ? i0_near(x * x) : times_exp(i0_far(1 / x), x);
}
__device__ inline float i0e(float x) {
    x = fabs(x);
    return x <= 8 ? i0_near(x * x) * exp(-x) : i0_far(1 / x);
}
__device__ inline float i1(float x) {
    float size = limited(fabs(x));
    return size <= 8 ? x * i1_near(x * x) : copysign(times_exp(i1_far(1 / size), size), x);
}
__device__ inline float i1e(float x) {
    float size = fabs(x);
    return size <= 8 ? x * i1_near(x * x) * exp(-size) : copysign(i1_far(1 / size), x);
}

// K0(x) and K1(x) for x up to 2 (`near`); K0(x) * exp(x) and K1(x) * exp(x) for larger x (`far`).
__device__ inline float k0_near(float x) {
    const float part[] = {1.28019721e-07f, 1.0150161e-05f, 0.000545345363f, 0.0144183291f, 0.105696157f, -0.577215672f};
    const float i0[] = {7.34874703e-08f, 6.75692036e-06f, 0.000434076763f, 0.0156249572f, 0.25f, 1.0f};
    return polynomial(x * x, part) - log(0.5f * x) * polynomial(x * x, i0);
}
__device__ inline float k0_far(float x) {
    const float c[] = {-0.0504835546f, 0.124618396f,  -0.145157844f, 0.11739444f,
                       -0.0894347429f, 0.0879979059f, -0.15666163f,  1.25331414f};
    return polynomial(1 / x, c) / sqrt(x);
}
__device__ inline float k1_near(float x) {
    const float part[] = {-1.11063398e-08f, -1.08343397e-06f, -7.49470855e-05f, -0.00283708726f,
                          -0.0420490392f,   0.0386078358f,    1.0f};
    const float i1[] = {6.06089712e-09f, 6.7634852e-07f, 5.42571579e-05f, 0.00260416325f, 0.0625f, 0.5f};
    return log(0.5f * x) * (x * polynomial(x * x, i1)) + polynomial(x * x, part) / x;
}
__device__ inline float k1_far(float x) {
    const float c[] = {0.0632831976f, -0.156629339f, 0.184391052f, -0.153608531f,
                       0.125769973f,  -0.146728307f, 0.469989836f, 1.25331414f};
    return polynomial(1 / x, c) / sqrt(x);
}
__device__ inline float k0(float x) { return x < 0 ? NAN : x == 0 ? INFINITY : x <= 2 ? k0_near(x) : k0_far(x) * exp(-x); }
__device__ inline float k0e(float x) { return x < 0 ? NAN : x == 0 ? INFINITY : x <= 2 ? k0_near(x) * exp(x) : k0_far(x); }
__device__ inline float k1(float x) { return x < 0 ? NAN : x == 0 ? INFINITY : x <= 2 ? k1_near(x) : k1_far(x) * exp(-x); }
__device__ inline float k1e(float x) { return x < 0 ? NAN : x == 0 ? INFINITY : x <= 2 ? k1_near(x) * exp(x) : k1_far(x); }

// Factors in Hankel's asymptotic form of J and Y for x above 8, where the device's own float functions have an absolute
// error of 2e-6.
struct phases {
    float p, q, difference, sum;
};
__device__ inline phases phases_of(float x, float p, float q_over_r) {
    float scale = 0.5641895835f / sqrt(x), sine, cosine;
    sincosf(x, &sine, &cosine);
    return {scale * p, scale * q_over_r / x, sine - cosine, sine + cosine};
}
__device__ inline phases phases0(float x) {
    const float p[] = {-0.434387952f, 0.110948645f, -0.0703089684f, 1.0f};
    const float q[] = {1.20871425f, -0.222696006f, 0.0732294172f, -0.124999993f};
    float r = 1 / x;
    return phases_of(x, polynomial(r * r, p), polynomial(r * r, q));
}
__device__ inline phases phases1(float x) {
    const float p[] = {0.518965065f, -0.142818585f, 0.117183454f, 1.0f};
    const float q[] = {-1.40960193f, 0.272600979f, -0.102524646f, 0.375f};
    float r = 1 / x;
    return phases_of(x, polynomial(r * r, p), polynomial(r * r, q));
}
__device__ inline float j0(float x) {
    x = fabs(x);
    if (x <= 8) return j0f(x);
    phases at = phases0(x);
    return at.p * at.sum - at.q * at.difference;
}
__device__ inline float y0(float x) {
    if (!(x > 8)) return y0f(x);
    phases at = phases0(x);
    return at.p * at.difference + at.q * at.sum;
}
__device__ inline float j1(float x) {
    float size = fabs(x);
    if (size <= 8) return j1f(x);
    phases at = phases1(size);
    return copysign(1.0f, x) * (at.p * at.difference + at.q * at.sum);
}
__device__ inline float y1(float x) {
    if (!(x > 8)) return y1f(x);
    phases at = phases1(x);
    return at.q * at.difference - at.p * at.sum;
}

}
