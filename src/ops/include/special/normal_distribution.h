// The logarithm of the normal distribution function.
namespace pygpu_special {

template <class T> __device__ inline T log_ndtr(T x) {
    T t = x * (T)0.70710678118654752440;
    return x < -1 ? log(erfcx(-t) / 2) - t * t : log1p(-erfc(t) / 2);
}

}
