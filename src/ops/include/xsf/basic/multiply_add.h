// A product and a sum, rounded once on GPUs; kernels are compiled without automatic contraction.
namespace pygpu_xsf {
template <class T> __device__ inline T multiply_add(T x, T y, T z) {
#ifdef PYGPU_CPU_FUNCTION  // On a CPU fma may be a slow call.
    return x * y + z;
#else
    return fma(x, y, z);
#endif
}
}
