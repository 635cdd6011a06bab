// Lambert's W function by Halley's method, as in SciPy. The iteration starts from an expansion at the branch point,
// from a Pade approximation, or from an asymptotic series.
namespace pygpu_special {

typedef pycuda::complex<double> Number;

__device__ inline Number lambertw_start(Number z, double k) {
    double size = abs(z), re = z.real(), im = fabs(z.imag());
    if (k == 0 && abs(z + 0.36787944117144232160) < 0.3) {
        Number p = sqrt(2.0 * (2.7182818284590452354 * z + 1.0));
        return (p / -3.0 + 1.0) * p - 1.0;
    }
    if (k == 0 && re > -1 && re < 1.5 && im < 1 && -2.5 * im - 0.2 < re) {
        return z * ((z + 12.34042553191489361902) * z + 12.85106382978723404255) /
               ((z + 14.34042553191489361702) * z + 32.53191489361702127660);
    }
    if (k == -1 && size <= 0.36787944117144232160 && im == 0 && re < 0) return Number(log(-re));
    Number w = log(z) + Number(0, 6.28318530717958647693 * k);
    return w - log(w);
}
static __device__ __noinline__ Number lambertw(Number z, Number branch) {
    double k = branch.real(), pi = 3.14159265358979323846;
    if (z.real() != z.real() || z.imag() != z.imag()) return z;
    if (z.real() == INFINITY) return z + Number(0, 2 * pi * k);
    if (z.real() == -INFINITY) return -z + Number(0, 2 * pi * k + pi);
    if (z.real() == 0 && z.imag() == 0) return k == 0 ? z : Number(-INFINITY);
    if (z.real() == 1 && z.imag() == 0 && k == 0) return Number(0.56714329040978387300);
    Number w = lambertw_start(z, k);
    bool is_right = w.real() >= 0;
#pragma unroll 1
    for (int step = 0; step < 100; step++) {
        Number e = exp(is_right ? -w : w), error = is_right ? w - z * e : w * e - z;
        Number slope = is_right ? w + 1.0 : w * e + e;
        Number next = w - error / (slope - (w + 2.0) * error / (2.0 * w + 2.0));
        if (abs(next - w) <= 1e-8 * abs(next)) return next;
        w = next;
    }
    return Number(NAN, NAN);
}

}
