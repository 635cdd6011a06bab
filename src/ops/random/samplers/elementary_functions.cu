// Written by tools/random_kernels.py from elementary_functions.rs.
namespace pygpu_random {
PYGPU_SHARED double ln_of_normal(double x, i64 exponent);
PYGPU_SHARED double ln(double x);
PYGPU_FUNCTION double power_of_2(i64 k);
PYGPU_SHARED double exponential_function(double x);
PYGPU_FUNCTION double ln_1p(double x);
PYGPU_FUNCTION double exponential_minus_1(double x);
PYGPU_FUNCTION double power(double x, double y);
PYGPU_FUNCTION double negated_by(u64 word, double x);
PYGPU_FUNCTION Pair turn(u64 word);
PYGPU_FUNCTION double arc_ratio(double z);
PYGPU_FUNCTION double arc_cosine(double x);
PYGPU_SHARED double ln_gamma(double x);
PYGPU_FUNCTION double stirling_error(double k);
static __constant__ double numbers_of_elementary_functions[] = {
    1.4798198605116586e-1,
    1.5313837699209373e-1,
    1.818357216161805e-1,
    2.2222198432149784e-1,
    2.857142874366239e-1,
    3.999999999940942e-1,
    6.666666666666735e-1,
    0.6931471805599453,
    2.3190468138462996e-17,
    709.782712893384,
    745.2,
    1.4426950408889634,
    1.6059043836821613e-10,
    2.08767569878681e-9,
    2.505210838544172e-8,
    2.755731922398589e-7,
    2.755731922398589e-6,
    2.48015873015873e-5,
    1.9841269841269841e-4,
    1.388888888888889e-3,
    8.333333333333333e-3,
    4.1666666666666664e-2,
    1.6666666666666666e-1,
    1e-5,
    8.515303950216386e-20,
    1.58969099521155e-10,
    2.5050760253406863e-8,
    2.7557313707070068e-6,
    1.984126982985795e-4,
    8.33333333332249e-3,
    1.6666666666666632e-1,
    1.1359647557788195e-11,
    2.087572321298175e-9,
    2.7557314351390663e-7,
    2.480158728947673e-5,
    1.388888888887411e-3,
    4.16666666666666e-2,
    3.479331075960212e-5,
    7.915349942898145e-4,
    4.005553450067941e-2,
    2.0121253213486293e-1,
    3.255658186224009e-1,
    7.703815055590194e-2,
    6.882839716054533e-1,
    2.0209457602335057,
    2.4033949117344143,
    3.141592653589793,
    1.3924322169059,
    1.796443723688306e-1,
    2.955065359477124e-2,
    6.41025641025641e-3,
    1.9175269175269176e-3,
    8.417508417508418e-4,
    5.952380952380953e-4,
    7.936507936507937e-4,
    2.777777777777778e-3,
    8.333333333333333e-2,
    0.9189385332046728,
    0.08333333333333333,
    0.002777777777777778,
};
PYGPU_SHARED double ln_of_normal(double x, i64 exponent) {
    const i64 shifted = (signed_(bits(x)) - 0x3fe6a09e667f3bcdll) >> 52;
    const double f = from_bits(less(bits(x), unsigned_(shifted) << 52)) - 1.0;
    const double s = quotient(f, 2.0 + f);
    const double z = s * s;
    double r = fma(z, numbers_of_elementary_functions[0], numbers_of_elementary_functions[1]);
    r = fma(z, r, numbers_of_elementary_functions[2]);
    r = fma(z, r, numbers_of_elementary_functions[3]);
    r = fma(z, r, numbers_of_elementary_functions[4]);
    r = fma(z, r, numbers_of_elementary_functions[5]);
    r = z * fma(z, r, numbers_of_elementary_functions[6]);
    const double half = 0.5 * f * f;
    const double n = real(exponent + shifted);
    return fma(n, numbers_of_elementary_functions[7], f - (half - fma(s, half + r, n * numbers_of_elementary_functions[8])));
}
PYGPU_SHARED double ln(double x) {
    if (x <= 0.0) {
        return choose(x == 0.0, -infinity(), not_a_number());
    }
    if (!(x < infinity())) {
        return x;
    }
    if (x < 2.2250738585072014e-308) {
        return ln_of_normal(x * 18014398509481984.0, -54);
    }
    return ln_of_normal(x, 0);
}
PYGPU_FUNCTION double power_of_2(i64 k) {
    return from_bits(unsigned_(k + 1023) << 52);
}
PYGPU_SHARED double exponential_function(double x) {
    if (!(x < numbers_of_elementary_functions[9])) {
        return choose(x > 0.0, infinity(), x);
    }
    if (x < -numbers_of_elementary_functions[10]) {
        return 0.0;
    }
    const double n = floor(fma(x, numbers_of_elementary_functions[11], 0.5));
    const double r = fma(-n, numbers_of_elementary_functions[8], fma(-n, numbers_of_elementary_functions[7], x));
    double p = fma(r, numbers_of_elementary_functions[12], numbers_of_elementary_functions[13]);
    p = fma(r, p, numbers_of_elementary_functions[14]);
    p = fma(r, p, numbers_of_elementary_functions[15]);
    p = fma(r, p, numbers_of_elementary_functions[16]);
    p = fma(r, p, numbers_of_elementary_functions[17]);
    p = fma(r, p, numbers_of_elementary_functions[18]);
    p = fma(r, p, numbers_of_elementary_functions[19]);
    p = fma(r, p, numbers_of_elementary_functions[20]);
    p = fma(r, p, numbers_of_elementary_functions[21]);
    p = fma(r, p, numbers_of_elementary_functions[22]);
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
    if (fabs(x) < numbers_of_elementary_functions[23]) {
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
PYGPU_FUNCTION double negated_by(u64 word, double x) {
    return from_bits(bits(x) ^ ((word >> 63) << 63));
}
PYGPU_FUNCTION Pair turn(u64 word) {
    const double angle = real(signed_(word << 2)) * numbers_of_elementary_functions[24];
    const double z = angle * angle;
    double s = fma(z, numbers_of_elementary_functions[25], -numbers_of_elementary_functions[26]);
    s = fma(z, s, numbers_of_elementary_functions[27]);
    s = fma(z, s, -numbers_of_elementary_functions[28]);
    s = fma(z, s, numbers_of_elementary_functions[29]);
    s = fma(z, s, -numbers_of_elementary_functions[30]);
    s = fma(angle * z, s, angle);
    double c = fma(z, -numbers_of_elementary_functions[31], numbers_of_elementary_functions[32]);
    c = fma(z, c, -numbers_of_elementary_functions[33]);
    c = fma(z, c, numbers_of_elementary_functions[34]);
    c = fma(z, c, -numbers_of_elementary_functions[35]);
    c = fma(z, c, numbers_of_elementary_functions[36]);
    c = fma(z * z, c, fma(z, -0.5, 1.0));
    const bool is_exchanged = ((word >> 62) & 1) == 1;
    return pair(negated_by(word, choose(is_exchanged, c, s)), negated_by(word, choose(is_exchanged, s, c)));
}
PYGPU_FUNCTION double arc_ratio(double z) {
    double p = fma(z, numbers_of_elementary_functions[37], numbers_of_elementary_functions[38]);
    p = fma(z, p, -numbers_of_elementary_functions[39]);
    p = fma(z, p, numbers_of_elementary_functions[40]);
    p = fma(z, p, -numbers_of_elementary_functions[41]);
    p = z * fma(z, p, numbers_of_elementary_functions[22]);
    double q = fma(z, numbers_of_elementary_functions[42], -numbers_of_elementary_functions[43]);
    q = fma(z, q, numbers_of_elementary_functions[44]);
    q = fma(z, q, -numbers_of_elementary_functions[45]);
    return p / fma(z, q, 1.0);
}
PYGPU_FUNCTION double arc_cosine(double x) {
    if (fabs(x) < 0.5) {
        return 0.5 * numbers_of_elementary_functions[46] - fma(x, arc_ratio(x * x), x);
    }
    if (x < 0.0) {
        const double y = (1.0 + x) * 0.5;
        const double t = sqrt(y);
        return numbers_of_elementary_functions[46] - 2.0 * fma(t, arc_ratio(y), t);
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
    double s = fma(z, -numbers_of_elementary_functions[47], numbers_of_elementary_functions[48]);
    s = fma(z, s, -numbers_of_elementary_functions[49]);
    s = fma(z, s, numbers_of_elementary_functions[50]);
    s = fma(z, s, -numbers_of_elementary_functions[51]);
    s = fma(z, s, numbers_of_elementary_functions[52]);
    s = fma(z, s, -numbers_of_elementary_functions[53]);
    s = fma(z, s, numbers_of_elementary_functions[54]);
    s = fma(z, s, -numbers_of_elementary_functions[55]);
    s = fma(z, s, numbers_of_elementary_functions[56]);
    s = s / y + numbers_of_elementary_functions[57] + (y - 0.5) * ln(y) - y;
    if (product != 1.0) {
        return s - ln(product);
    }
    return s;
}
PYGPU_FUNCTION double stirling_error(double k) {
    const double y = k + 1.0;
    if (y < 16.0) {
        return ln_gamma(y) - ((k + 0.5) * ln(y) - y + numbers_of_elementary_functions[57]);
    }
    const double z = 1.0 / (y * y);
    return (numbers_of_elementary_functions[58] - z * (numbers_of_elementary_functions[59] - z * numbers_of_elementary_functions[54])) / y;
}
}
