// Written by tools/random_kernels.py from mathematics.rs.
namespace pygpu_random {
PYGPU_SHARED double ln(double x);
PYGPU_FUNCTION double power_of_2(i64 k);
PYGPU_SHARED double exponential_function(double x);
PYGPU_FUNCTION double ln_1p(double x);
PYGPU_FUNCTION double exponential_minus_1(double x);
PYGPU_FUNCTION double power(double x, double y);
PYGPU_FUNCTION Pair turn(u64 word);
PYGPU_FUNCTION double arc_ratio(double z);
PYGPU_FUNCTION double arc_cosine(double x);
PYGPU_SHARED double ln_gamma(double x);
PYGPU_FUNCTION double stirling_error(double k);
constexpr double LN_2 = 0.6931471805599453;
constexpr double LN_2_REST = 2.3190468138462996e-17;
constexpr double PI = 3.141592653589793;

PYGPU_SHARED double ln(double x) {
    if (x <= 0.0) {
        return choose(x == 0.0, -infinity(), not_a_number());
    }
    if (!(x < infinity())) {
        return x;
    }
    double y = x;
    i64 exponent = 0;
    if (x < 2.2250738585072014e-308) {
        y = x * 18014398509481984.0;
        exponent = -54;
    }
    const i64 shifted = (signed_(bits(y)) - 0x3fe6a09e667f3bcdll) >> 52;
    exponent += shifted;
    const double f = from_bits(less(bits(y), unsigned_(shifted) << 52)) - 1.0;
    const double s = f / (2.0 + f);
    const double z = s * s;
    double r = fma(z, 1.4798198605116586e-1, 1.5313837699209373e-1);
    r = fma(z, r, 1.818357216161805e-1);
    r = fma(z, r, 2.2222198432149784e-1);
    r = fma(z, r, 2.857142874366239e-1);
    r = fma(z, r, 3.999999999940942e-1);
    r = z * fma(z, r, 6.666666666666735e-1);
    const double half = 0.5 * f * f;
    const double n = real(exponent);
    return fma(n, LN_2, f - (half - fma(s, half + r, n * LN_2_REST)));
}
PYGPU_FUNCTION double power_of_2(i64 k) {
    return from_bits(unsigned_(k + 1023) << 52);
}
PYGPU_SHARED double exponential_function(double x) {
    if (!(x < 709.782712893384)) {
        return choose(x > 0.0, infinity(), x);
    }
    if (x < -745.2) {
        return 0.0;
    }
    const double n = floor(fma(x, 1.4426950408889634, 0.5));
    const double r = fma(-n, LN_2_REST, fma(-n, LN_2, x));
    double p = fma(r, 1.6059043836821613e-10, 2.08767569878681e-9);
    p = fma(r, p, 2.505210838544172e-8);
    p = fma(r, p, 2.755731922398589e-7);
    p = fma(r, p, 2.755731922398589e-6);
    p = fma(r, p, 2.48015873015873e-5);
    p = fma(r, p, 1.9841269841269841e-4);
    p = fma(r, p, 1.388888888888889e-3);
    p = fma(r, p, 8.333333333333333e-3);
    p = fma(r, p, 4.1666666666666664e-2);
    p = fma(r, p, 1.6666666666666666e-1);
    p = fma(r, p, 0.5);
    p = fma(r, fma(r, p, 1.0), 1.0);
    const i64 k = whole(n);
    const i64 half = k >> 1;
    return p * power_of_2(half) * power_of_2(k - half);
}
PYGPU_FUNCTION double ln_1p(double x) {
    const double u = 1.0 + x;
    if (u == 1.0) {
        return x;
    }
    if (!(u < infinity())) {
        return u;
    }
    return ln(u) * (x / (u - 1.0));
}
PYGPU_FUNCTION double exponential_minus_1(double x) {
    if (fabs(x) < 1e-5) {
        return fma(0.5 * x, fma(x, 1.0 / 3.0, 1.0) * x, x);
    }
    const double u = exponential_function(x);
    if (!(fabs(x) < 40.0)) {
        return u - 1.0;
    }
    return (u - 1.0) * (x / ln(u));
}
PYGPU_FUNCTION double power(double x, double y) {
    if (x == 0.0) {
        return choose(y == 0.0, 1.0, choose(y > 0.0, 0.0, infinity()));
    }
    return exponential_function(y * ln(x));
}
PYGPU_FUNCTION Pair turn(u64 word) {
    const double angle = real(signed_(word << 2)) * 8.515303950216386e-20;
    const double z = angle * angle;
    double s = fma(z, 1.58969099521155e-10, -2.5050760253406863e-8);
    s = fma(z, s, 2.7557313707070068e-6);
    s = fma(z, s, -1.984126982985795e-4);
    s = fma(z, s, 8.33333333332249e-3);
    s = fma(z, s, -1.6666666666666632e-1);
    s = fma(angle * z, s, angle);
    double c = fma(z, -1.1359647557788195e-11, 2.087572321298175e-9);
    c = fma(z, c, -2.7557314351390663e-7);
    c = fma(z, c, 2.480158728947673e-5);
    c = fma(z, c, -1.388888888887411e-3);
    c = fma(z, c, 4.16666666666666e-2);
    c = fma(z * z, c, fma(z, -0.5, 1.0));
    const bool is_exchanged = ((word >> 62) & 1) == 1;
    const double sign = choose(word >> 63 == 1, -1.0, 1.0);
    return pair(sign * choose(is_exchanged, c, s), sign * choose(is_exchanged, s, c));
}
PYGPU_FUNCTION double arc_ratio(double z) {
    double p = fma(z, 3.479331075960212e-5, 7.915349942898145e-4);
    p = fma(z, p, -4.005553450067941e-2);
    p = fma(z, p, 2.0121253213486293e-1);
    p = fma(z, p, -3.255658186224009e-1);
    p = z * fma(z, p, 1.6666666666666666e-1);
    double q = fma(z, 7.703815055590194e-2, -6.882839716054533e-1);
    q = fma(z, q, 2.0209457602335057);
    q = fma(z, q, -2.4033949117344143);
    return p / fma(z, q, 1.0);
}
PYGPU_FUNCTION double arc_cosine(double x) {
    if (fabs(x) < 0.5) {
        return 0.5 * PI - fma(x, arc_ratio(x * x), x);
    }
    if (x < 0.0) {
        const double y = (1.0 + x) * 0.5;
        const double t = sqrt(y);
        return PI - 2.0 * fma(t, arc_ratio(y), t);
    }
    const double z = fmax(1.0 - x, 0.0) * 0.5;
    const double s = sqrt(z);
    return 2.0 * fma(s, arc_ratio(z), s);
}
PYGPU_SHARED double ln_gamma(double x) {
    if (x == 1.0 || x == 2.0) {
        return 0.0;
    }
    double y = x;
    double product = 1.0;
    while (y < 7.0) {
        product = product * y;
        y += 1.0;
    }
    const double z = 1.0 / (y * y);
    double s = fma(z, -1.3924322169059, 1.796443723688306e-1);
    s = fma(z, s, -2.955065359477124e-2);
    s = fma(z, s, 6.41025641025641e-3);
    s = fma(z, s, -1.9175269175269176e-3);
    s = fma(z, s, 8.417508417508418e-4);
    s = fma(z, s, -5.952380952380953e-4);
    s = fma(z, s, 7.936507936507937e-4);
    s = fma(z, s, -2.777777777777778e-3);
    s = fma(z, s, 8.333333333333333e-2);
    s = s / y + 0.9189385332046728 + (y - 0.5) * ln(y) - y;
    if (product != 1.0) {
        return s - ln(product);
    }
    return s;
}
PYGPU_FUNCTION double stirling_error(double k) {
    const double y = k + 1.0;
    if (y < 16.0) {
        return ln_gamma(y) - ((k + 0.5) * ln(y) - y + 0.9189385332046728);
    }
    const double z = 1.0 / (y * y);
    return (0.08333333333333333 - z * (0.002777777777777778 - z * 7.936507936507937e-4)) / y;
}
}
