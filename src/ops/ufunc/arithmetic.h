// Functions of the table of operations that C lacks or defines differently than NumPy. Like array_access.h, this header
// includes no other header.
namespace pygpu_op {

// Integer division as in NumPy. A divisor of 0 gives 0; the minimum of the type divided by -1 gives the minimum.
template <class T> __device__ inline T floor_divide(T a, T b) {
    if (b == 0) return 0;
    if (b == -1) return (T)(0 - (unsigned long long)a);
    T quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
template <class T> __device__ inline T floor_remainder(T a, T b) {
    if (b == 0 || b == -1) return 0;
    T rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// Quotient and remainder of floats by the rules of Python's divmod, computed like NumPy's npy_divmod.
template <class T> __device__ inline T floor_modulo(T a, T b) {
    T rest = fmod(a, b);
    if (b == 0) return rest;
    if (rest == 0) return copysign((T)0, b);
    return (b < 0) != (rest < 0) ? rest + b : rest;
}
template <class T> __device__ inline T floor_quotient(T a, T b) {
    if (b == 0) return a / b;
    T rest = fmod(a, b), quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
    if (quotient == 0) return copysign((T)0, a / b);
    T whole = floor(quotient);
    return quotient - whole > (T)0.5 ? whole + 1 : whole;
}

// Integer power. If the exponent is negative, the exact result is truncated to 0, unless the base is 1 or -1.
template <class T> __device__ inline T power(T a, T b) {
    if (b < 0) return a == 1 ? 1 : a == (T)-1 ? (b & 1 ? (T)-1 : 1) : 0;
    unsigned long long square = (unsigned long long)a, result = 1;
    for (unsigned long long left = (unsigned long long)b; left; left >>= 1, square *= square)
        if (left & 1) result *= square;
    return (T)result;
}

template <class T> __device__ inline T left_shift(T a, T b) {
    return (unsigned long long)b < 8 * sizeof(T) ? (T)((unsigned long long)a << b) : (T)0;
}
template <class T> __device__ inline T right_shift(T a, T b) {
    return (unsigned long long)b < 8 * sizeof(T) ? (T)(a >> b) : (T)(a < 0 ? -1 : 0);
}

// The unsigned type for the magnitudes of a signed type, because the magnitude of the signed type's minimum does not
// fit into the signed type.
template <int BYTES> struct unsigned_of { typedef unsigned type; };
template <> struct unsigned_of<8> { typedef unsigned long long type; };
template <class T> __device__ inline typename unsigned_of<sizeof(T)>::type size_of(T a) {
    typedef typename unsigned_of<sizeof(T)>::type U;
    return a < 0 ? 0 - (U)a : (U)a;
}
template <class U> __device__ inline U common_divisor(U a, U b) {
    while (b != 0) {
        U rest = a % b;
        a = b, b = rest;
    }
    return a;
}
template <class T> __device__ inline T gcd(T a, T b) { return (T)common_divisor(size_of(a), size_of(b)); }
template <class T> __device__ inline T lcm(T a, T b) {
    const typename unsigned_of<sizeof(T)>::type common = common_divisor(size_of(a), size_of(b));
    return common == 0 ? 0 : (T)(size_of(a) / common * size_of(b));
}

// Most code of a sine of floats is the argument reduction for large angles. The following functions contain this code
// once, because they are not inlined. Their callers compute small angles by an inlined sine: because of the comparison
// before it, the compiler omits the reduction for these angles.
__device__ __noinline__ float sine_of_large(float a) { return sin(a); }
__device__ __noinline__ float cosine_of_large(float a) { return cos(a); }
__device__ __noinline__ float tangent_of_large(float a) { return tan(a); }
__device__ inline float sine(float a) { return fabs(a) >= 105615.0f ? sine_of_large(a) : sin(a); }
__device__ inline float cosine(float a) { return fabs(a) >= 105615.0f ? cosine_of_large(a) : cos(a); }
__device__ inline float tangent(float a) { return fabs(a) >= 105615.0f ? tangent_of_large(a) : tan(a); }
__device__ inline double sine(double a) { return sin(a); }
__device__ inline double cosine(double a) { return cos(a); }
__device__ inline double tangent(double a) { return tan(a); }

template <class T> __device__ inline T clip(T a, T least, T most) {
    T high = a >= least || a != a ? a : least;
    return high <= most || high != high ? high : most;
}
template <class T> __device__ inline T angle(T a) {
    return a != a ? a : copysign((T)1, a) < 0 ? (T)3.141592653589793 : (T)0;
}
template <class T> __device__ inline T finite(T a, T nan, T above, T below) {
    return a != a ? nan : a - a == 0 ? a : a > 0 ? above : below;
}

// The logarithm to the base 2. The result is exact for powers of two, for which CUDA's function of double has an error
// of one ulp.
__device__ inline float binary_logarithm(float a) { return log2(a); }
__device__ inline double binary_logarithm(double a) {
    if (!(a > 0) || a - a != 0) return log2(a);
    int exponent;
    double mantissa = frexp(a, &exponent);
    if (mantissa < 0.7071067811865476) {
        mantissa *= 2;
        exponent -= 1;
    }
    return exponent + log2(mantissa);
}

// Complex numbers are ordered lexicographically: by the real part, then by the imaginary part. A complex number counts
// as NaN if either part is NaN.
template <class Z> __device__ inline bool is_nan(Z z) { return z.real() != z.real() || z.imag() != z.imag(); }
template <class Z> __device__ inline bool is_less(Z a, Z b) {
    return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
}
template <class Z> __device__ inline Z maximum(Z a, Z b) { return is_nan(a) || (!is_nan(b) && !is_less(a, b)) ? a : b; }
template <class Z> __device__ inline Z minimum(Z a, Z b) { return is_nan(a) || (!is_nan(b) && !is_less(b, a)) ? a : b; }
template <class Z> __device__ inline Z fmax(Z a, Z b) { return is_nan(b) || (!is_nan(a) && !is_less(a, b)) ? a : b; }
template <class Z> __device__ inline Z fmin(Z a, Z b) { return is_nan(b) || (!is_nan(a) && !is_less(b, a)) ? a : b; }
template <class Z> __device__ inline Z sign(Z z) {
    auto size = abs(z);
    return size == 0 ? Z(0) : is_nan(z) ? z : z / size;
}
template <class Z> __device__ inline Z complex_power(Z a, Z b) {
    if (b.imag() == 0) {
        int whole = (int)b.real();
        if ((decltype(b.real()))whole == b.real() && whole > -100 && whole < 100) return pow(a, whole);
    }
    return pow(a, b);
}

// Complex functions that are computed from real functions, after W. Kahan, "Branch Cuts for Complex Elementary
// Functions" (1987). They preserve the signs of zeros on both sides of a branch cut.
template <class Z> __device__ inline Z turned(Z z) { return Z(-z.imag(), z.real()); }
template <class Z> __device__ inline Z turned_back(Z z) { return Z(z.imag(), -z.real()); }
// By the rules of C99 (annex G), which NumPy and the array API follow, the results for infinite and NaN parts are
// special cases.
template <class T> __device__ inline bool is_finite(T a) { return a - a == 0; }
template <class T> __device__ inline bool is_infinite(T a) { return a == a && a - a != 0; }
template <class Z> __device__ inline bool is_finite_number(Z z) { return is_finite(z.real()) && is_finite(z.imag()); }
template <class Z> __device__ inline bool is_far(Z z) { return is_infinite(z.real()) || is_infinite(z.imag()); }
// Values from which the results of functions of infinite or NaN complex numbers are built: a magnitude, a NaN, and a
// zero with a given sign.
template <class T> __device__ inline T size_of(T x, T y) { return is_infinite(x) ? fabs(x) : fabs(y); }
template <class T> __device__ inline T no_number(T x, T y) { return (x - x) + (y - y); }
template <class T> __device__ inline T zero_like(T sign) { return sign < 0 ? -(T)0 : (T)0; }

template <class Z> __device__ inline Z complex_exp(Z z) {
    typedef decltype(z.real()) T;
    T x = z.real(), y = z.imag();
    if (is_finite_number(z)) return exp(z);
    if (y == 0) return Z(exp(x), y);
    if (is_finite(y)) return Z(exp(x) * cos(y), exp(x) * sin(y));
    if (!is_infinite(x)) return Z(no_number(x, y), no_number(x, y));
    return x < 0 ? Z(0, zero_like(y)) : Z(x, no_number(x, y));
}
template <class Z> __device__ inline Z complex_sinh(Z z) {
    typedef decltype(z.real()) T;
    T x = z.real(), y = z.imag();
    if (is_finite_number(z)) return sinh(z);
    if (y == 0) return Z(x, y);
    if (is_finite(y) && is_infinite(x)) return Z(x * cos(y), fabs(x) * sin(y));
    return Z(x == 0 || is_infinite(x) ? x : no_number(x, y), no_number(x, y));
}
template <class Z> __device__ inline Z complex_cosh(Z z) {
    typedef decltype(z.real()) T;
    T x = z.real(), y = z.imag();
    if (is_finite_number(z)) return cosh(z);
    if (y == 0) return Z(fabs(x), copysign((T)1, x) * y);
    if (is_finite(y) && is_infinite(x)) return Z(fabs(x) * cos(y), x * sin(y));
    return Z(is_infinite(x) ? fabs(x) : no_number(x, y), x == 0 ? x : no_number(x, y));
}
template <class Z> __device__ inline Z complex_tanh(Z z) {
    typedef decltype(z.real()) T;
    T x = z.real(), y = z.imag();
    if (is_finite_number(z)) return tanh(z);
    if (y == 0) return Z(tanh(x), y);
    if (is_infinite(x)) return Z(copysign((T)1, x), zero_like(is_finite(y) ? sin(2 * y) : y));
    return Z(x == 0 ? x : no_number(x, y), no_number(x, y));
}
template <class Z> __device__ inline Z complex_exp2(Z z) {
    typedef decltype(z.real()) T;
    return complex_exp(Z(z.real() * (T)0.6931471805599453, z.imag() * (T)0.6931471805599453));
}
// The logarithm of the absolute value of a finite complex number. Near the unit circle it is computed from the distance
// to the circle, because the rounded absolute value would be 1.
template <class T> __device__ inline T log_of_size(T x, T y) {
    T size = hypot(x, y);
    if (!(size > (T)0.5 && size < (T)1.5)) return log(size);
    T large = fabs(x) > fabs(y) ? fabs(x) : fabs(y), small = fabs(x) > fabs(y) ? fabs(y) : fabs(x);
    return (T)0.5 * log1p((large - 1) * (large + 1) + small * small);
}
template <class Z> __device__ inline Z complex_log(Z z) {
    if (!is_finite_number(z)) return log(z);
    return Z(log_of_size(z.real(), z.imag()), atan2(z.imag(), z.real()));
}
template <class Z> __device__ inline Z complex_log2(Z z) {
    typedef decltype(z.real()) T;
    return complex_log(z) * (T)1.4426950408889634;
}
template <class Z> __device__ inline Z complex_log10(Z z) {
    typedef decltype(z.real()) T;
    return is_finite_number(z) ? complex_log(z) * (T)0.4342944819032518 : log10(z);
}
template <class Z> __device__ inline Z complex_expm1(Z z) {
    typedef decltype(z.real()) T;
    if (!is_finite_number(z)) {
        Z power = complex_exp(z);
        return Z(power.real() - 1, power.imag());
    }
    T half = sin(z.imag() * (T)0.5);
    return Z(expm1(z.real()) * cos(z.imag()) - 2 * half * half, exp(z.real()) * sin(z.imag()));
}
template <class Z> __device__ inline Z complex_log1p(Z z) {
    typedef decltype(z.real()) T;
    T x = z.real(), y = z.imag();
    if (is_far(z)) return Z(size_of(x, y), atan2(y, x + 1));
    // Unless 1 + z is near the unit circle, the argument of `log1p` would be imprecise because of cancellation: for z =
    // -1 + 1e-5j in float32, the argument would be rounded to -1.
    T size = hypot(1 + x, y);
    T real = size > (T)0.5 && size < (T)1.5 ? (T)0.5 * log1p(x * (2 + x) + y * y) : log(size);
    return Z(real, atan2(y, x + 1));
}
// Returns the angle, in the upper half-plane, of a complex number of which at least one part is infinite or NaN.
template <class Z> __device__ inline auto far_angle(Z z) -> decltype(z.real()) {
    typedef decltype(z.real()) T;
    return is_nan(z) && z.real() == 0 ? (T)1.5707963267948966 : atan2(fabs(z.imag()), z.real());
}
template <class Z> __device__ inline Z far_arcsinh(Z z) {
    typedef decltype(z.real()) T;
    T x = z.real(), y = z.imag(), none = no_number(x, y);
    T angle = y == 0 ? fabs(y) : atan2(fabs(y), fabs(x));
    return Z(is_far(z) ? copysign(size_of(x, y), x) : none, copysign(angle, y));
}
template <class Z> __device__ inline Z complex_arccos(Z z) {
    typedef decltype(z.real()) T;
    if (!is_finite_number(z)) {
        T x = z.real(), y = z.imag();
        return Z(far_angle(z), is_far(z) ? -copysign(size_of(x, y), y) : no_number(x, y));
    }
    Z low = sqrt(Z(1 - z.real(), -z.imag())), high = sqrt(Z(1 + z.real(), z.imag()));
    return Z(2 * atan2(low.real(), high.real()), (T)asinh((conj(high) * low).imag()));
}
template <class Z> __device__ inline Z complex_arcsin(Z z) {
    typedef decltype(z.real()) T;
    if (!is_finite_number(z)) return turned_back(far_arcsinh(turned(z)));
    Z low = sqrt(Z(1 - z.real(), -z.imag())), high = sqrt(Z(1 + z.real(), z.imag()));
    return Z(atan2(z.real(), (low * high).real()), (T)asinh((conj(low) * high).imag()));
}
template <class Z> __device__ inline Z complex_arccosh(Z z) {
    typedef decltype(z.real()) T;
    if (!is_finite_number(z)) {
        T x = z.real(), y = z.imag();
        return Z(is_far(z) ? size_of(x, y) : no_number(x, y), copysign(far_angle(z), y));
    }
    Z low = sqrt(Z(z.real() - 1, z.imag())), high = sqrt(Z(z.real() + 1, z.imag()));
    return Z((T)asinh((conj(low) * high).real()), 2 * atan2(low.imag(), high.real()));
}
template <class Z> __device__ inline Z complex_arctanh(Z z) {
    typedef decltype(z.real()) T;
    T x = z.real(), y = z.imag();
    if (!is_finite_number(z)) {
        T none = no_number(x, y), right = (T)1.5707963267948966;
        return Z(is_far(z) || x == 0 ? copysign((T)0, x) : none, is_far(z) && y == y ? copysign(right, y) : none);
    }
    // The function is odd in x. It is computed for |x|, because for x near -1 the argument of `log1p` would lose digits
    // by cancellation. The formula for |x| = 1 contains no square of y, because the square of a small y would
    // underflow.
    T size = fabs(x), apart = 1 - size;
    T real = apart == 0 ? (T)0.5 * log(hypot((T)2, y) / fabs(y))
                        : (T)0.25 * log1p(4 * size / (apart * apart + y * y));
    return Z(copysign(real, x), (T)0.5 * atan2(2 * y, (1 - x) * (1 + x) - y * y));
}
template <class Z> __device__ inline Z complex_arcsinh(Z z) { return turned_back(complex_arcsin(turned(z))); }
template <class Z> __device__ inline Z complex_arctan(Z z) { return turned_back(complex_arctanh(turned(z))); }

}
