// Incomplete gamma functions of numbers of moderate size. Series and continued fractions are summed as quotients of two
// numbers, with one division for four terms. T is float or double: the type with the precision of the result.
namespace pygpu_special {

__device__ inline bool is_moderate_gamma(double a, double x, double least) {
    return a >= least && a <= 60 && x > 1e-30 && x < 1e30;
}
// Returns pow(x, a) * exp(-x) / gamma(a).
static __device__ __noinline__ double gamma_density(double a, double x) {
    lanczos_sum sum = lanczos_sum_of(a);
    double exponent = a * pygpu_xsf::call_log(pygpu_xsf::call_divide(x, sum.base)) + (a - x);
    double factor = pygpu_xsf::call_divide(sum.bottom, sum.top) * sqrt(sum.base / 2.718281828459045);
    return factor * pygpu_xsf::call_exp(exponent);
}
// Returns the lower incomplete gamma function by its series, the sum of pow(x, n) / ((a + 1) ... (a + n)).
template <class T> __device__ inline double gamma_series(double a, double x) {
    const double least = sizeof(T) == 4 ? 1e-9 : 1e-17;
    double top = 1, bottom = 1, power = 1, factor = a;
#pragma unroll 1
    for (int step = 0; step < 100 && power > least * top; step++) {
#pragma unroll
        for (int term = 0; term < 4; term++) {
            factor += 1;
            power *= x;
            bottom *= factor;
            top = pygpu_xsf::multiply_add(top, factor, power);
        }
    }
    return pygpu_xsf::call_divide(gamma_density(a, x) * top, bottom * a);
}
// Returns the upper incomplete gamma function for x > a and x > 2, by Legendre's continued fraction.
template <class T> __device__ inline double gamma_fraction(double a, double x) {
    const double least = sizeof(T) == 4 ? 1e-9 : 1e-16;
    double y = 1 - a, z = x + y + 1, count = 0;
    double top_before = 1, bottom_before = x, top = x + 1, bottom = z * x, value = pygpu_xsf::call_divide(top, bottom), change = 1;
#pragma unroll 1
    for (int step = 0; step < 50 && change > least * value; step++) {
#pragma unroll
        for (int term = 0; term < 4; term++) {
            count += 1;
            y += 1;
            z += 2;
            double next_top = pygpu_xsf::multiply_add(top, z, -top_before * (y * count));
            double next_bottom = pygpu_xsf::multiply_add(bottom, z, -bottom_before * (y * count));
            top_before = top;
            bottom_before = bottom;
            top = next_top;
            bottom = next_bottom;
        }
        double next = top / bottom;
        change = fabs(next - value);
        value = next;
        if (top > 1e100) {
            top *= 1e-100;
            bottom *= 1e-100;
            top_before *= 1e-100;
            bottom_before *= 1e-100;
        }
    }
    return value * gamma_density(a, x);
}
template <class T> __device__ inline T gammainc(T a, T x) {
    if (!is_moderate_gamma(a, x, 0.01)) return (T)pygpu_xsf::igam(a, x);
    return (T)(x > 2 && x > a ? 1 - gamma_fraction<T>(a, x) : gamma_series<T>(a, x));
}
template <class T> __device__ inline T gammaincc(T a, T x) {
    if (!is_moderate_gamma(a, x, 0.5)) return (T)pygpu_xsf::igamc(a, x);
    return (T)(x > 2 && x > a ? gamma_fraction<T>(a, x) : 1 - gamma_series<T>(a, x));
}

}
