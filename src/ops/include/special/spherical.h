// Spherical functions of integer degrees and orders. These integers are passed as doubles.
namespace pygpu_special {

// The associated Legendre function of cos(theta), normalized on the sphere, with Condon and Shortley's sign.
static __device__ __noinline__ double sph_legendre_p(double n, double m, double theta) {
    if (!(fabs(n) < 2147483646.0 && fabs(m) < 2147483646.0) || n != floor(n) || m != floor(m)) return NAN;
    double order = fabs(m), sine = fabs(sin(theta)), cosine = cos(theta);
    if (order > n) return 0;
    double before = 0, value = 0.28209479177387814347;  // sqrt(1 / (4 * pi))
#pragma unroll 1
    for (double k = 1; k <= order; k++) value *= -sine * sqrt((2 * k + 1) / (2 * k));
    if (m < 0 && 0.5 * order != floor(0.5 * order)) value = -value;
#pragma unroll 1
    for (double k = order + 1; k <= n; k++) {
        double scale = (2 * k + 1) / ((k - order) * (k + order));
        double next = sqrt(scale * (2 * k - 1)) * cosine * value;
        if (k > order + 1) next -= sqrt(scale * ((k - 1 - order) * (k - 1 + order)) / (2 * k - 3)) * before;
        before = value;
        value = next;
    }
    return value;
}

// The spherical Bessel function of the second kind, or its derivative.
template <int DERIVATIVE> __device__ inline double spherical_yn(double n, double x) {
    if (x != x || !(n >= 0 && n < 2147483646.0) || n != floor(n)) return NAN;
    double size = fabs(x);
    bool is_odd = 0.5 * n != floor(0.5 * n);
    if (size == 0) return DERIVATIVE ? INFINITY : -INFINITY;
    if (isinf(size)) return 0;
    double before = sin(size) / size, value = -cos(size) / size;
#pragma unroll 1
    for (double k = 1; k <= n; k++) {
        double next = (2 * k - 1) * value / size - before;
        before = value;
        value = next;
        if (isinf(value)) break;
    }
    if (DERIVATIVE) value = isinf(value) ? -value : before - (n + 1) * value / size;
    return x < 0 && is_odd == (DERIVATIVE == 1) ? -value : value;
}

}
