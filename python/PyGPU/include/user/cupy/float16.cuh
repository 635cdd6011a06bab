// Numbers of 16 bits under CuPy's names, float16 and bfloat16: they are stored with 16 bits and computed as float.
#ifndef PYGPU_CUPY_FLOAT16_CUH
#define PYGPU_CUPY_FLOAT16_CUH

#ifdef PYGPU_OPS_FLOAT16_H // a kernel that PyGPU generates has its own types of 16 bits

#define PYGPU_CUPY_SIXTEEN_BITS(name)                                                                                  \
    struct name : pygpu::name {                                                                                        \
        name() = default;                                                                                              \
        template <class T> __device__ name(T value) : pygpu::name(value) {}                                            \
        template <class T> __device__ name &operator=(T value) { return *this = name(value); }                           \
    };
PYGPU_CUPY_SIXTEEN_BITS(float16)
PYGPU_CUPY_SIXTEEN_BITS(bfloat16)
#undef PYGPU_CUPY_SIXTEEN_BITS

#else

#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C++" {

#define PYGPU_CUPY_SIXTEEN_BITS(name, Storage, to_float, from_float)                                                   \
    struct name {                                                                                                      \
        Storage stored;                                                                                                \
        name() = default;                                                                                              \
        template <class T> __device__ name(T value) : stored(from_float((float)value)) {}                              \
        __device__ operator float() const { return to_float(stored); }                                                 \
        template <class T> __device__ name &operator+=(T value) { return *this = name((float)*this + (float)value); }    \
        template <class T> __device__ name &operator-=(T value) { return *this = name((float)*this - (float)value); }    \
        template <class T> __device__ name &operator*=(T value) { return *this = name((float)*this * (float)value); }    \
        template <class T> __device__ name &operator/=(T value) { return *this = name((float)*this / (float)value); }    \
    };
PYGPU_CUPY_SIXTEEN_BITS(float16, __half, __half2float, __float2half)
PYGPU_CUPY_SIXTEEN_BITS(bfloat16, __nv_bfloat16, __bfloat162float, __float2bfloat16)
#undef PYGPU_CUPY_SIXTEEN_BITS

}
#endif
#endif
