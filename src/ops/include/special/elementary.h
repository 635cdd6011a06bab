// Functions of information theory, loss functions, logistic functions and powers, as in SciPy.
namespace pygpu_special {

template <class T> __device__ inline T entr(T x) { return x > 0 ? -x * log(x) : x == 0 ? (T)0 : x < 0 ? -(T)INFINITY : x; }
// The rounding of the quotient x / y makes its logarithm inexact. The result is corrected by the remainder of the
// division.
template <class T> __device__ inline T rel_entr(T x, T y) {
    if (x != x || y != y) return x + y;
    if (x <= 0 || y <= 0) return x == 0 && y >= 0 ? (T)0 : (T)INFINITY;
    T r = x / y;
    if (r > (T)(sizeof(T) == 4 ? FLT_MIN : DBL_MIN) && r < (T)INFINITY) return x * log(r) + fma(-r, y, x);
    return x * (log(x) - log(y));
}
template <class T> __device__ inline T kl_div(T x, T y) {
    if (x > 0 && y > 0) return x * log(x / y) - x + y;
    return x != x || y != y ? x + y : x == 0 && y >= 0 ? y : (T)INFINITY;
}
template <class T> __device__ inline T huber(T delta, T r) {
    if (delta < 0) return INFINITY;
    return fabs(r) <= delta ? (T)0.5 * r * r : delta * (fabs(r) - (T)0.5 * delta);
}
template <class T> __device__ inline T pseudo_huber(T delta, T r) {
    if (delta < 0) return INFINITY;
    if (delta == 0 || r == 0) return 0;
    T v = r / delta, root = sqrt(1 + v * v);
    // If the square of v overflows, the result is that of the Huber loss for a large r.
    return v == v && root - root != 0 ? delta * fabs(r) : delta * delta * (v / (1 + root) * v);
}
template <class T> __device__ inline T xlogy(T x, T y) { return x == 0 && y == y ? (T)0 : x * log(y); }
template <class T> __device__ inline T xlog1py(T x, T y) { return x == 0 && y == y ? (T)0 : x * log1p(y); }
template <class T> __device__ inline T expit(T x) { return 1 / (1 + exp(-x)); }
// Returns log(x / (1 - x)). For x / (1 - x) = 2**e * (1 + s) / (1 - s), the numerator of s is exact near x = 1/2, where
// the logarithm is small: `lost` is the rounding error of 1 - x.
template <class T> __device__ inline T logit(T x) {
    const bool is_tiny = x < (T)(sizeof(T) == 4 ? 1e-30 : 1e-290);
    T rest = 1 - x, lost = (1 - rest) - x, normal = is_tiny ? x * (T)0x1p100 : x;
    int exponent = exponent_of_ratio(normal, rest);
    T power = inverse_power_of_2(x, exponent);
    T s = quotient(fma(normal, power, -rest) - lost, fma(normal, power, rest)), square = s * s;
    T value = add_log_of_power(exponent - (is_tiny ? 100 : 0), fma(s * square, rest_of_log(square), 2 * s));
    T limit = x == 0 ? -(T)INFINITY : x == 1 ? (T)INFINITY : (T)NAN;
    const bool is_inside = (x > 0) & (x < 1);
    return is_inside ? value : limit;
}
template <class T> __device__ inline T log_expit(T x) {
    return add_log1p(x < 0 ? x : (T)0, (T)-1, exp(-fabs(x)));
}
template <class T> __device__ inline T exprel(T x) {
    if (fabs(x) < (T)(sizeof(T) == 4 ? 1e-8 : 1e-17)) return 1;
    T top = expm1(x);
    return top - top == 0 ? top / x : x > 0 ? top : x - x == 0 ? top / x : x == x ? (T)0 : x;
}

}
