// Numbers of 16 bits under CuPy's names, float16 and bfloat16: they are stored with 16 bits and computed as float.
#ifndef PYGPU_CUPY_FLOAT16_CUH
#define PYGPU_CUPY_FLOAT16_CUH

#ifdef PYGPU_OPS_FLOAT16_H // A kernel that PyGPU generates has its own types of 16 bits.

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

// Functions whose arguments would convert to more than one other type.
extern "C++" {
#define PYGPU_CUPY_SIXTEEN_BITS(name)                                                                                  \
    static inline __device__ name min(name x, name y) { return (float)y < (float)x ? y : x; }                          \
    static inline __device__ name max(name x, name y) { return (float)x < (float)y ? y : x; }                          \
    static inline __device__ name fmin(name x, name y) { return fminf((float)x, (float)y); }                           \
    static inline __device__ name fmax(name x, name y) { return fmaxf((float)x, (float)y); }                           \
    static inline __device__ name copysign(name x, name y) { return copysignf((float)x, (float)y); }                   \
    static inline __device__ int iszero(name x) { return (float)x == 0; }                                              \
    static inline __device__ int isnan(name x) { return (float)x != (float)x; }                                        \
    static inline __device__ int isinf(name x) { return fabsf((float)x) > 3.4028235e38f; }                             \
    static inline __device__ int isfinite(name x) { return fabsf((float)x) <= 3.4028235e38f; }                         \
    static inline __device__ int signbit(name x) { return copysignf(1, (float)x) < 0; }
PYGPU_CUPY_SIXTEEN_BITS(float16)
PYGPU_CUPY_SIXTEEN_BITS(bfloat16)
#undef PYGPU_CUPY_SIXTEEN_BITS
}
#endif
