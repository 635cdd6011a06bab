// The logarithm of the gamma function of complex numbers. From xsf/loggamma.h and xsf/trig.h; licence: xsf/LICENSE.
// Translated from Cython into C++ by SciPy developers in 2024. Original author: Josh Wilson, 2016.
namespace pygpu_special {

typedef pycuda::complex<double> Number;

template <int COUNT> __device__ inline Number polynomial(const double (&table)[COUNT], Number z) {
    double a = table[0], b = table[1], r = 2 * z.real(), s = z.real() * z.real() + z.imag() * z.imag();
#pragma unroll 1
    for (int place = 2; place < COUNT; place++) {
        double before = b;
        b = fma(-s, a, table[place]);
        a = fma(r, a, before);
    }
    return z * a + b;
}
static __device__ __noinline__ Number log_of(Number z) { return log(z); }
static __device__ __noinline__ Number loggamma_stirling(Number z) {
    const double table[] = {-2.955065359477124183E-2, 6.4102564102564102564E-3,  -1.9175269175269175269E-3,
                            8.4175084175084175084E-4, -5.952380952380952381E-4,  7.9365079365079365079E-4,
                            -2.7777777777777777778E-3, 8.3333333333333333333E-2};
    Number inverse = 1.0 / z;
    return (z - 0.5) * log_of(z) - z + 0.918938533204672742 + inverse * polynomial(table, inverse / z);
}
static __device__ __noinline__ Number loggamma_recurrence(Number z) {
    int flips = 0;
    bool is_negative = false;
    Number product = z;
#pragma unroll 1
    for (z += 1.0; z.real() <= 7; z += 1.0) {
        product *= z;
        bool is_now = signbit(product.imag());
        flips += is_now && !is_negative;
        is_negative = is_now;
    }
    return loggamma_stirling(z) - log_of(product) - Number(0, flips * 6.28318530717958647693);
}
static __device__ __noinline__ Number loggamma_taylor(Number z) {
    const double table[] = {-4.3478266053040259361E-2, 4.5454556293204669442E-2,  -4.7619070330142227991E-2,
                            5.000004769810169364E-2,   -5.2631679379616660734E-2, 5.5555767627403611102E-2,
                            -5.8823978658684582339E-2, 6.2500955141213040742E-2,  -6.6668705882420468033E-2,
                            7.1432946295361336059E-2,  -7.6932516411352191473E-2, 8.3353840546109004025E-2,
                            -9.0954017145829042233E-2, 1.0009945751278180853E-1,  -1.1133426586956469049E-1,
                            1.2550966952474304242E-1,  -1.4404989676884611812E-1, 1.6955717699740818995E-1,
                            -2.0738555102867398527E-1, 2.7058080842778454788E-1,  -4.0068563438653142847E-1,
                            8.2246703342411321824E-1,  -5.7721566490153286061E-1};
    z -= 1.0;
    return z * polynomial(table, z);
}
// log(z) near 1
static __device__ __noinline__ Number log_near_1(Number z) {
    if (abs(z - 1.0) > 0.1) return log_of(z);
    Number power(-1.0), sum(0.0);
    z -= 1.0;
#pragma unroll 1
    for (int n = 1; n < 17; n++) {
        power *= -z;
        sum += power / double(n);
    }
    return sum;
}
// Returns log(sin(pi z)), because the sine itself would overflow for large imaginary parts.
static __device__ __noinline__ Number log_of_sine(Number z) {
    double s = sinpi(z.real()), c = cospi(z.real()), y = 3.14159265358979323846 * z.imag();
    if (fabs(y) < 300) return log_of(Number(s * cosh(y), c * sinh(y)));
    return log_of(Number(s, copysign(c, c * y))) + (fabs(y) - 0.69314718055994530942);
}
__device__ inline bool is_pole(Number z) { return z.real() <= 0 && z.imag() == 0 && z.real() == floor(z.real()); }
__device__ inline Number loggamma_right(Number z) {
    if (z.real() > 7 || fabs(z.imag()) > 7) return loggamma_stirling(z);
    if (abs(z - 1.0) < 0.2) return loggamma_taylor(z);
    if (abs(z - 2.0) < 0.2) return log_near_1(z - 1.0) + loggamma_taylor(z - 1.0);
    if (!signbit(z.imag())) return loggamma_recurrence(z);
    return conj(loggamma_recurrence(conj(z)));
}
static __device__ __noinline__ Number loggamma(Number z) {
    if (z.real() != z.real() || z.imag() != z.imag() || is_pole(z)) return Number(NAN, NAN);
    bool is_left = z.real() < 0.1 && fabs(z.imag()) <= 7;
    Number right = loggamma_right(is_left ? 1.0 - z : z);
    if (!is_left) return right;
    double turns = copysign(6.28318530717958647693, z.imag()) * floor(0.5 * z.real() + 0.25);
    return Number(1.1447298858494001741, turns) - log_of_sine(z) - right;
}
__device__ inline Number gamma(Number z) { return is_pole(z) ? Number(NAN, NAN) : exp(loggamma(z)); }
__device__ inline Number rgamma(Number z) { return is_pole(z) ? Number(0) : exp(-loggamma(z)); }

}
