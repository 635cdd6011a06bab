// Mathematical functions that a GPU has and <math.h> lacks. Functions that are fast and less accurate on a GPU have
// full accuracy here.
#ifndef PYGPU_CPU_MATHEMATICS_H
#define PYGPU_CPU_MATHEMATICS_H

namespace pygpu_cpu {

constexpr double pi = 3.14159265358979323846;

// sin(pi x) and cos(pi x), exact if x is a multiple of 1/2.
inline double sine_of_pi(double x) {
    double r = remainder(x, 2.0), a = fabs(r);
    if (a == 0 || a == 1) return copysign(0.0, x);
    return copysign(a > 0.5 ? sin(pi * (1 - a)) : sin(pi * a), r);
}
inline double cosine_of_pi(double x) {
    double a = fabs(remainder(x, 2.0));
    return a == 0.5 ? 0.0 : a < 0.25 ? cos(pi * a) : a > 0.75 ? -cos(pi * (1 - a)) : sin(pi * (0.5 - a));
}

// Computes Acklam's rational approximation, and then two steps of Halley's method to reach double precision.
inline double normal_quantile(double p) {
    if (!(p >= 0 && p <= 1)) return NAN;
    if (p == 0 || p == 1) return p == 0 ? -INFINITY : INFINITY;
    if (p > 0.5) return -normal_quantile(1 - p);
    double x;
    if (p < 0.02425) {
        double q = sqrt(-2 * log(p));
        x = (((((-7.784894002430293e-3 * q - 3.223964580411365e-1) * q - 2.400758277161838) * q - 2.549732539343734) * q +
              4.374664141464968) * q + 2.938163982698783) /
            ((((7.784695709041462e-3 * q + 3.224671290700398e-1) * q + 2.445134137142996) * q + 3.754408661907416) * q + 1);
    } else {
        double q = p - 0.5, r = q * q;
        x = (((((-39.69683028665376 * r + 220.9460984245205) * r - 275.9285104469687) * r + 138.3577518672690) * r -
              30.66479806614716) * r + 2.506628277459239) * q /
            (((((-54.47609879822406 * r + 161.5858368580409) * r - 155.6989798598866) * r + 66.80131188771972) * r -
              13.28068155288572) * r + 1);
    }
    for (int step = 0; step < 2; step++) {
        double density = exp(-0.5 * x * x) / 2.50662827463100050242;
        if (density == 0) break;
        double u = (0.5 * erfc(-x * 0.70710678118654752440) - p) / density;
        x -= u / (1 + 0.5 * x * u);
    }
    return x;
}
// erfcinv(y) is -normcdfinv(y / 2) / sqrt(2). Near 0, erfinv iterates with the derivative of erf, because 1 - y would
// lose precision.
inline double inverse_erfc(double y) { return -normal_quantile(0.5 * y) * 0.70710678118654752440; }
inline double inverse_erf(double x) {
    if (fabs(x) > 0.5) return x > 0 ? inverse_erfc(1 - x) : -inverse_erfc(1 + x);
    double y = x * 0.88622692545275801365;
    for (int step = 0; step < 4; step++) {
        double u = (erf(y) - x) / (1.12837916709551257390 * exp(-y * y));
        y -= u / (1 + y * u);
    }
    return y;
}

// exp(x * x) * erfc(x). The continued fraction is used if the product would be infinity times zero.
inline double scaled_erfc(double x) {
    if (x < 20) return exp(x * x) * erfc(x);
    double f = x;
    for (int k = 60; k > 0; k--) f = x + 0.5 * k / f;
    return 0.56418958354775628695 / f;
}

// Modified Bessel functions of the first kind, by Hankel's asymptotic series, or by the power series, whose terms are
// positive. The exponential is computed from half the argument, because it would otherwise overflow for some finite
// results.
inline double bessel_i(int order, double x) {
    if (fabs(x) > 30) {
        double a = fmin(fabs(x), 1e3), root = exp(0.5 * a), sum = 1;
        double part = 1;
        for (int k = 1; k < 30; k++) sum += part *= ((2 * k - 1) * (2 * k - 1) - 4 * order * order) / (8 * a * k);
        sum *= root / sqrt(2 * pi * a) * root;
        return order && x < 0 ? -sum : sum;
    }
    double term = order ? 0.5 * x : 1.0, sum = term, quarter = 0.25 * x * x;
    for (int k = 1; k < 2000 && fabs(term) > 1e-17 * fabs(sum); k++) sum += term *= quarter / (double(k) * (k + order));
    return sum;
}

}

#define PYGPU_CPU_ONE(type) (type x)
#define PYGPU_CPU_TWO(type) (type x, type y)
#define PYGPU_CPU_THREE(type) (type x, type y, type z)
#define PYGPU_CPU_FOUR(type) (type x, type y, type z, type w)
// Defines a mathematical function for double and for float. Both versions compute in double.
#define PYGPU_CPU_MATH(name, parameters, expression)                                       \
    PYGPU_CPU_FUNCTION double name parameters(double) { return expression; }               \
    PYGPU_CPU_FUNCTION float name##f parameters(float) { return float(expression); }       \
    PYGPU_CPU_FUNCTION float name parameters(float) { return float(expression); }

PYGPU_CPU_MATH(rsqrt, PYGPU_CPU_ONE, 1.0 / sqrt(double(x)))
PYGPU_CPU_MATH(rcbrt, PYGPU_CPU_ONE, 1.0 / cbrt(double(x)))
PYGPU_CPU_MATH(sinpi, PYGPU_CPU_ONE, pygpu_cpu::sine_of_pi(x))
PYGPU_CPU_MATH(cospi, PYGPU_CPU_ONE, pygpu_cpu::cosine_of_pi(x))
PYGPU_CPU_MATH(erfinv, PYGPU_CPU_ONE, pygpu_cpu::inverse_erf(x))
PYGPU_CPU_MATH(erfcinv, PYGPU_CPU_ONE, pygpu_cpu::inverse_erfc(x))
PYGPU_CPU_MATH(erfcx, PYGPU_CPU_ONE, pygpu_cpu::scaled_erfc(x))
PYGPU_CPU_MATH(normcdf, PYGPU_CPU_ONE, 0.5 * erfc(-double(x) * 0.70710678118654752440))
PYGPU_CPU_MATH(normcdfinv, PYGPU_CPU_ONE, pygpu_cpu::normal_quantile(x))
PYGPU_CPU_MATH(cyl_bessel_i0, PYGPU_CPU_ONE, pygpu_cpu::bessel_i(0, x))
PYGPU_CPU_MATH(cyl_bessel_i1, PYGPU_CPU_ONE, pygpu_cpu::bessel_i(1, x))
PYGPU_CPU_MATH(rhypot, PYGPU_CPU_TWO, 1.0 / hypot(double(x), double(y)))
PYGPU_CPU_MATH(norm3d, PYGPU_CPU_THREE, hypot(hypot(double(x), double(y)), double(z)))
PYGPU_CPU_MATH(rnorm3d, PYGPU_CPU_THREE, 1.0 / hypot(hypot(double(x), double(y)), double(z)))
PYGPU_CPU_MATH(norm4d, PYGPU_CPU_FOUR, hypot(hypot(double(x), double(y)), hypot(double(z), double(w))))
PYGPU_CPU_MATH(rnorm4d, PYGPU_CPU_FOUR, 1.0 / hypot(hypot(double(x), double(y)), hypot(double(z), double(w))))
#undef PYGPU_CPU_MATH
#undef PYGPU_CPU_ONE
#undef PYGPU_CPU_TWO
#undef PYGPU_CPU_THREE
#undef PYGPU_CPU_FOUR

PYGPU_CPU_FUNCTION void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }
PYGPU_CPU_FUNCTION void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
PYGPU_CPU_FUNCTION void sincospi(float x, float *s, float *c) { sincospif(x, s, c); }
PYGPU_CPU_FUNCTION void sincos(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
PYGPU_CPU_FUNCTION float exp10(float x) { return float(pow(10.0, double(x))); }
#ifndef __GLIBC__
PYGPU_CPU_FUNCTION void sincos(double x, double *s, double *c) { *s = sin(x), *c = cos(x); }
PYGPU_CPU_FUNCTION void sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
PYGPU_CPU_FUNCTION double exp10(double x) { return pow(10.0, x); }
PYGPU_CPU_FUNCTION float exp10f(float x) { return float(pow(10.0, double(x))); }
PYGPU_CPU_FUNCTION float j0f(float x) { return float(j0(x)); }
PYGPU_CPU_FUNCTION float j1f(float x) { return float(j1(x)); }
PYGPU_CPU_FUNCTION float y0f(float x) { return float(y0(x)); }
PYGPU_CPU_FUNCTION float y1f(float x) { return float(y1(x)); }
#endif
PYGPU_CPU_FUNCTION double norm(int n, const double *v) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum = hypot(sum, v[i]);
    return sum;
}
PYGPU_CPU_FUNCTION float normf(int n, const float *v) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum = hypot(sum, double(v[i]));
    return float(sum);
}
PYGPU_CPU_FUNCTION float fdividef(float x, float y) { return x / y; }

// min and max of two numbers, in the common type to which C++ converts them. If one argument is NaN, the result is the
// other argument.
namespace pygpu_cpu {
template <class T> constexpr bool number = one_of<T, char, signed char, unsigned char, short, unsigned short, int, unsigned, long,
                                                  unsigned long, long long, unsigned long long, bool, float, double>;
// For types that are not in `number`, `min` and `max` must not even form the type of a sum: overload resolution could
// select a user-defined operator+, and evaluate this condition again, endlessly.
template <class A, class B, bool> struct sum_of {};
template <class A, class B> struct sum_of<A, B, true> { using type = decltype(A() + B()); };
template <class A, class B> using common = typename sum_of<A, B, number<A> && number<B>>::type;
}
template <class A, class B> constexpr pygpu_cpu::common<A, B> min(A a, B b) {
    pygpu_cpu::common<A, B> x = a, y = b;
    return y < x || x != x ? y : x;
}
template <class A, class B> constexpr pygpu_cpu::common<A, B> max(A a, B b) {
    pygpu_cpu::common<A, B> x = a, y = b;
    return x < y || x != x ? y : x;
}
PYGPU_CPU_FUNCTION unsigned umin(unsigned a, unsigned b) { return b < a ? b : a; }
PYGPU_CPU_FUNCTION unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
PYGPU_CPU_FUNCTION long long llmin(long long a, long long b) { return b < a ? b : a; }
PYGPU_CPU_FUNCTION long long llmax(long long a, long long b) { return a < b ? b : a; }

// The C library declares some names that begin with `__` without defining them. Macros therefore map these names to
// other names.
PYGPU_CPU_FUNCTION void pygpu_cpu_sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
PYGPU_CPU_FUNCTION float pygpu_cpu_exp10f(float x) { return float(pow(10.0, double(x))); }
#define __sinf sinf
#define __cosf cosf
#define __tanf tanf
#define __expf expf
#define __exp10f pygpu_cpu_exp10f
#define __logf logf
#define __log2f log2f
#define __log10f log10f
#define __powf powf
#define __sincosf pygpu_cpu_sincosf
PYGPU_CPU_FUNCTION float __fdividef(float x, float y) { return x / y; }
PYGPU_CPU_FUNCTION float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }

// Arithmetic that no compiler option may contract or reorder. Only rounding to nearest is supported.
#define PYGPU_CPU_ROUNDED(prefix, type, root)                                                       \
    PYGPU_CPU_FUNCTION type __##prefix##add_rn(type x, type y) { volatile type r = x + y; return r; } \
    PYGPU_CPU_FUNCTION type __##prefix##sub_rn(type x, type y) { volatile type r = x - y; return r; } \
    PYGPU_CPU_FUNCTION type __##prefix##mul_rn(type x, type y) { volatile type r = x * y; return r; } \
    PYGPU_CPU_FUNCTION type __##prefix##div_rn(type x, type y) { return x / y; }                      \
    PYGPU_CPU_FUNCTION type __##prefix##rcp_rn(type x) { return 1 / x; }                              \
    PYGPU_CPU_FUNCTION type __##prefix##sqrt_rn(type x) { return root(x); }
PYGPU_CPU_ROUNDED(f, float, sqrtf)
PYGPU_CPU_ROUNDED(d, double, sqrt)
#undef PYGPU_CPU_ROUNDED
PYGPU_CPU_FUNCTION float __frsqrt_rn(float x) { return rsqrtf(x); }
PYGPU_CPU_FUNCTION float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
PYGPU_CPU_FUNCTION double __fma_rn(double x, double y, double z) { return fma(x, y, z); }

#endif
