// Functions of information, logistic functions and powers, as in SciPy.
namespace pygpu_special {

template <class T> __device__ inline T xlogy(T x, T y) { return x == 0 && y == y ? (T)0 : x * log(y); }
template <class T> __device__ inline T xlog1py(T x, T y) { return x == 0 && y == y ? (T)0 : x * log1p(y); }
template <class T> __device__ inline T expit(T x) { return 1 / (1 + exp(-x)); }
// Away from 1/2 the logarithm of the ratio is accurate; near 1/2 the difference of two logarithms.
template <class T> __device__ inline T logit(T x) {
    if (x < (T)0.3 || x > (T)0.65) return log(x / (1 - x));
    T s = 2 * (x - (T)0.5);
    return log1p(s) - log1p(-s);
}
template <class T> __device__ inline T log_expit(T x) { return x < 0 ? x - log1p(exp(x)) : -log1p(exp(-x)); }
template <class T> __device__ inline T exprel(T x) {
    if (fabs(x) < (T)(sizeof(T) == 4 ? 1e-8 : 1e-17)) return 1;
    T top = expm1(x);
    return top - top == 0 ? top / x : x > 0 ? top : x - x == 0 ? top / x : x == x ? (T)0 : x;
}

}
