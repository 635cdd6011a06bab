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
// Returns log(x / (1 - x)). Near x = 1/2 the logarithm is small, so the rounding of the quotient r would cause a large
// relative error. There the remainder of the division, divided by x, is added to correct the logarithm. As x is nearly
// 1/2, this division is replaced by a multiplication by 2.
template <class T> __device__ inline T logit(T x) {
    T rest = 1 - x, lost = (1 - rest) - x, r = x / rest, value = log(r);
    return r > (T)0.4 && r < (T)2.5 ? value + 2 * (fma(-r, rest, x) - r * lost) : value;
}
template <class T> __device__ inline T log_expit(T x) { return x < 0 ? x - log1p(exp(x)) : -log1p(exp(-x)); }
template <class T> __device__ inline T exprel(T x) {
    if (fabs(x) < (T)(sizeof(T) == 4 ? 1e-8 : 1e-17)) return 1;
    T top = expm1(x);
    return top - top == 0 ? top / x : x > 0 ? top : x - x == 0 ? top / x : x == x ? (T)0 : x;
}

}
