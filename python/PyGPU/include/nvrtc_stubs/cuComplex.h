// Replacement of CUDA's header of complex numbers in C, for compilation without an installed toolkit.
#ifndef PYGPU_CUCOMPLEX_H
#define PYGPU_CUCOMPLEX_H

extern "C++" {

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define PYGPU_CUCOMPLEX(suffix, real_type, name, make, absolute)                                                             \
    __device__ inline real_type cuCreal##suffix(name z) { return z.x; }                                                      \
    __device__ inline real_type cuCimag##suffix(name z) { return z.y; }                                                      \
    __device__ inline name make(real_type re, real_type im) { name z; z.x = re; z.y = im; return z; }                        \
    __device__ inline name cuConj##suffix(name z) { return make(z.x, -z.y); }                                                \
    __device__ inline name cuCadd##suffix(name a, name b) { return make(a.x + b.x, a.y + b.y); }                             \
    __device__ inline name cuCsub##suffix(name a, name b) { return make(a.x - b.x, a.y - b.y); }                             \
    __device__ inline name cuCmul##suffix(name a, name b) { return make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }     \
    __device__ inline name cuCfma##suffix(name a, name b, name c) { return cuCadd##suffix(cuCmul##suffix(a, b), c); }        \
    __device__ inline real_type cuCabs##suffix(name z) { return absolute(z.x, z.y); }                                        \
    __device__ inline name cuCdiv##suffix(name a, name b) {                                                                  \
        /* The operands are scaled, so that the divisor's square neither overflows nor underflows. */                        \
        real_type scale = (b.x < 0 ? -b.x : b.x) + (b.y < 0 ? -b.y : b.y);                                                   \
        real_type c = b.x / scale, d = b.y / scale, x = a.x / scale, y = a.y / scale, square = c * c + d * d;                \
        return make((x * c + y * d) / square, (y * c - x * d) / square);                                                     \
    }
PYGPU_CUCOMPLEX(f, float, cuFloatComplex, make_cuFloatComplex, hypotf)
PYGPU_CUCOMPLEX(, double, cuDoubleComplex, make_cuDoubleComplex, hypot)
#undef PYGPU_CUCOMPLEX

__device__ inline cuComplex make_cuComplex(float re, float im) { return make_cuFloatComplex(re, im); }
__device__ inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) { return make_cuFloatComplex((float)z.x, (float)z.y); }
__device__ inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return make_cuDoubleComplex(z.x, z.y); }

}

#endif
