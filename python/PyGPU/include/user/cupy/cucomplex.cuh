// The functions of cuComplex.h over `complex<T>`, for sources that mix both.
#ifndef PYGPU_CUPY_CUCOMPLEX_CUH
#define PYGPU_CUPY_CUCOMPLEX_CUH

#include <cupy/complex.cuh>

// A source may enclose the inclusion in extern "C", in which there are no templates and overloads.
extern "C++" {
typedef complex<float> cuFloatComplex;
typedef complex<float> cuComplex;
typedef complex<double> cuDoubleComplex;

#define PYGPU_CUPY_CUCOMPLEX(Type, Real, suffix)                                                                        \
    __device__ inline Real cuCreal##suffix(Type z) { return z.real(); }                                                \
    __device__ inline Real cuCimag##suffix(Type z) { return z.imag(); }                                                \
    __device__ inline Real cuCabs##suffix(Type z) { return abs(z); }                                                   \
    __device__ inline Type cuConj##suffix(Type z) { return conj(z); }                                                  \
    __device__ inline Type cuCadd##suffix(Type x, Type y) { return x + y; }                                            \
    __device__ inline Type cuCsub##suffix(Type x, Type y) { return x - y; }                                            \
    __device__ inline Type cuCmul##suffix(Type x, Type y) { return x * y; }                                            \
    __device__ inline Type cuCdiv##suffix(Type x, Type y) { return x / y; }                                            \
    __device__ inline Type cuCfma##suffix(Type x, Type y, Type z) { return x * y + z; }

// Single precision has the suffix f. The other names also accept single precision, as after CuPy's translation.
PYGPU_CUPY_CUCOMPLEX(cuFloatComplex, float, f)
PYGPU_CUPY_CUCOMPLEX(cuFloatComplex, float, )
PYGPU_CUPY_CUCOMPLEX(cuDoubleComplex, double, )
#undef PYGPU_CUPY_CUCOMPLEX

__device__ inline cuFloatComplex make_cuFloatComplex(float re, float im) { return cuFloatComplex(re, im); }
__device__ inline cuFloatComplex make_cuComplex(float re, float im) { return cuFloatComplex(re, im); }
__device__ inline cuDoubleComplex make_cuDoubleComplex(double re, double im) { return cuDoubleComplex(re, im); }
__device__ inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) { return cuFloatComplex(z); }
__device__ inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return cuDoubleComplex(z); }

}
#endif
