// The incomplete beta function of moderate numbers by the continued fraction of DiDonato and Morris (ACM TOMS 708),
// with one division for each of its steps. T is float or double: the type with the precision of the result.
namespace pygpu_special {

template <class T> __device__ inline double beta_fraction(double a, double b, double x, double y) {
    const double least = sizeof(T) == 4 ? 1e-9 : 1e-16;
    double start = a * y - b * x + 1, inverse = 1 / (a + 1);
    double top_before = 1, bottom_before = 0, top = a * start * inverse, bottom = 1, value = bottom / top, change = 1;
#pragma unroll 1
    for (int step = 0; step < 200 && change > least * value; step += 2) {
#pragma unroll
        for (int term = 1; term < 3; term++) {
            double m = step + term, share = m * (b - m) * x * inverse;
            double next = 1 / (a + 2 * m + 1);
            double over = (a + m - 1) * (a + b + m - 1) * x * inverse * share;
            double under = m + share + (a + m) * (start + m * (2 - x)) * next;
            inverse = next;
            double next_top = pygpu_xsf::multiply_add(under, top, over * top_before);
            double next_bottom = pygpu_xsf::multiply_add(under, bottom, over * bottom_before);
            top_before = top;
            bottom_before = bottom;
            top = next_top;
            bottom = next_bottom;
        }
        double next_value = bottom / top;
        change = fabs(next_value - value);
        value = next_value;
        if (fabs(top) > 1e100) {
            top *= 1e-100;
            bottom *= 1e-100;
            top_before *= 1e-100;
            bottom_before *= 1e-100;
        }
    }
    return value;
}
// Returns the incomplete beta function at x. The caller passes positive x and y whose sum is 1.
template <class T> __device__ inline T betainc_of(T a, T b, double x, double y) {
    bool is_moderate_beta = a > (T)0.05 && b > (T)0.05 && a < 100 && b < 100 && x > 1e-3 && y > 1e-3;
    if (!is_moderate_beta) return (T)betainc_of_any(a, b, x, y);
    bool is_above = x * (a + b + 2.0) > a + 1.0;
    double p = is_above ? b : a, q = is_above ? a : b, u = is_above ? y : x, v = is_above ? x : y;
    double value = beta_fraction<T>(p, q, u, v) * pow(u, p) * pow(v, q) / beta(p, q);
    return (T)(is_above ? 1 - value : value);
}
template <class T> __device__ inline T betainc(T a, T b, T x) { return betainc_of<T>(a, b, x, 1.0 - x); }
template <class T> __device__ inline T betaincc(T a, T b, T x) { return betainc_of<T>(b, a, 1.0 - x, x); }

}
