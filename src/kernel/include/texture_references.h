// File-scope textures and surfaces, which CUDA 12 removed from the language. PyGPU prepends this header to sources that
// contain `texture<` or `surface<`, for NVRTC, nvcc, hiprtc, hipcc and the CPU engine.
//
// Each reference becomes a variable in constant memory that contains the handle of a texture object. The class
// TextureReference of PyGPU.driver writes the handle, and the fetch functions read the texture through it. The host
// derives the element type from the variable's size: 8 bytes for floats, 16 for integers, 24 for integers read as
// floats.
#ifndef PYGPU_TEXTURE_REFERENCES
#define PYGPU_TEXTURE_REFERENCES

#if !defined(__PYGPU_CPU__) && !defined(__CUDACC_RTC__) && (defined(__HIPCC__) || defined(__HIPCC_RTC__) || defined(__HIP__))
#define PYGPU_OBJECT(reference) (hipTextureObject_t)(reference).object[0]
#define PYGPU_SURFACE_OBJECT(reference) (hipSurfaceObject_t)(reference).object[0]
#define PYGPU_BOUNDARY int
#define PYGPU_BEYOND hipBoundaryModeTrap
#define cudaReadModeElementType 0
#define cudaReadModeNormalizedFloat 1
#define cudaBoundaryModeZero hipBoundaryModeZero
#define cudaBoundaryModeClamp hipBoundaryModeClamp
#define cudaBoundaryModeTrap hipBoundaryModeTrap
#else
#define PYGPU_OBJECT(reference) (reference).object[0]
#define PYGPU_SURFACE_OBJECT(reference) (reference).object[0]
#ifdef __PYGPU_CPU__
#define PYGPU_BOUNDARY int
#else
#define PYGPU_BOUNDARY cudaSurfaceBoundaryMode
#endif
#define PYGPU_BEYOND cudaBoundaryModeTrap
#endif

#ifndef cudaTextureType1D
#define cudaTextureType1D 0x01
#endif
#ifndef cudaTextureType2D
#define cudaTextureType2D 0x02
#endif
#ifndef cudaTextureType3D
#define cudaTextureType3D 0x03
#endif
#ifndef cudaTextureType1DLayered
#define cudaTextureType1DLayered 0xF1
#endif
#ifndef cudaTextureType2DLayered
#define cudaTextureType2DLayered 0xF2
#endif
#ifndef cudaSurfaceType1D
#define cudaSurfaceType1D 0x01
#endif
#ifndef cudaSurfaceType2D
#define cudaSurfaceType2D 0x02
#endif
#ifndef cudaSurfaceType3D
#define cudaSurfaceType3D 0x03
#endif
#ifndef cudaSurfaceType1DLayered
#define cudaSurfaceType1DLayered 0xF1
#endif
#ifndef cudaSurfaceType2DLayered
#define cudaSurfaceType2DLayered 0xF2
#endif

namespace pygpu {
// Result type of a fetch: the element type or, for mode 1, float. `words` is the variable's size in units of 8 bytes.
template <class T, int mode> struct fetched { typedef T type; enum { words = 2 }; };
template <class T> struct fetched<T, 1> { typedef float type; enum { words = 3 }; };
template <> struct fetched<float, 0> { typedef float type; enum { words = 1 }; };
template <> struct fetched<float1, 0> { typedef float1 type; enum { words = 1 }; };
template <> struct fetched<float2, 0> { typedef float2 type; enum { words = 1 }; };
template <> struct fetched<float4, 0> { typedef float4 type; enum { words = 1 }; };
#define PYGPU_FETCHED(name)                                                                  \
    template <> struct fetched<name##1, 1> { typedef float1 type; enum { words = 3 }; };     \
    template <> struct fetched<name##2, 1> { typedef float2 type; enum { words = 3 }; };     \
    template <> struct fetched<name##4, 1> { typedef float4 type; enum { words = 3 }; };
PYGPU_FETCHED(char)
PYGPU_FETCHED(uchar)
PYGPU_FETCHED(short)
PYGPU_FETCHED(ushort)
#undef PYGPU_FETCHED
template <class T, int dimensions = 1, int mode = 0> struct texture_reference {
    unsigned long long object[fetched<T, mode>::words];
};
template <class T = void, int dimensions = 1> struct surface_reference { unsigned long long object[1]; };
}

#define PYGPU_LIST(...) __VA_ARGS__
#define PYGPU_FETCH(name, dimensions, parameters, arguments)                                                     \
    template <class T, int mode>                                                                                 \
    static __device__ __forceinline__ typename ::pygpu::fetched<T, mode>::type name(                             \
        const ::pygpu::texture_reference<T, dimensions, mode> &reference, parameters) {                          \
        return ::name<typename ::pygpu::fetched<T, mode>::type>(PYGPU_OBJECT(reference), arguments);             \
    }
PYGPU_FETCH(tex1Dfetch, 1, int x, x)
PYGPU_FETCH(tex1D, 1, float x, x)
PYGPU_FETCH(tex1DLod, 1, PYGPU_LIST(float x, float level), PYGPU_LIST(x, level))
PYGPU_FETCH(tex2D, 2, PYGPU_LIST(float x, float y), PYGPU_LIST(x, y))
PYGPU_FETCH(tex2DLod, 2, PYGPU_LIST(float x, float y, float level), PYGPU_LIST(x, y, level))
PYGPU_FETCH(tex3D, 3, PYGPU_LIST(float x, float y, float z), PYGPU_LIST(x, y, z))
PYGPU_FETCH(tex3DLod, 3, PYGPU_LIST(float x, float y, float z, float level), PYGPU_LIST(x, y, z, level))
PYGPU_FETCH(tex1DLayered, cudaTextureType1DLayered, PYGPU_LIST(float x, int layer), PYGPU_LIST(x, layer))
PYGPU_FETCH(tex1DLayeredLod, cudaTextureType1DLayered, PYGPU_LIST(float x, int layer, float level),
            PYGPU_LIST(x, layer, level))
PYGPU_FETCH(tex2DLayered, cudaTextureType2DLayered, PYGPU_LIST(float x, float y, int layer), PYGPU_LIST(x, y, layer))
PYGPU_FETCH(tex2DLayeredLod, cudaTextureType2DLayered, PYGPU_LIST(float x, float y, int layer, float level),
            PYGPU_LIST(x, y, layer, level))
#undef PYGPU_FETCH

#define PYGPU_SURFACE(name, dimensions, parameters, arguments)                                                   \
    template <class T, class Of>                                                                                 \
    static __device__ __forceinline__ void name##read(                                                           \
        T *element, const ::pygpu::surface_reference<Of, dimensions> &reference, parameters,                     \
        PYGPU_BOUNDARY mode = PYGPU_BEYOND) {                                                                    \
        ::name##read(element, PYGPU_SURFACE_OBJECT(reference), arguments, mode);                                         \
    }                                                                                                            \
    template <class T, class Of>                                                                                 \
    static __device__ __forceinline__ T name##read(const ::pygpu::surface_reference<Of, dimensions> &reference,  \
                                                   parameters, PYGPU_BOUNDARY mode = PYGPU_BEYOND) {             \
        T element;                                                                                               \
        ::name##read(&element, PYGPU_SURFACE_OBJECT(reference), arguments, mode);                                        \
        return element;                                                                                          \
    }                                                                                                            \
    template <class T, class Of>                                                                                 \
    static __device__ __forceinline__ void name##write(                                                          \
        T element, const ::pygpu::surface_reference<Of, dimensions> &reference, parameters,                      \
        PYGPU_BOUNDARY mode = PYGPU_BEYOND) {                                                                    \
        ::name##write(element, PYGPU_SURFACE_OBJECT(reference), arguments, mode);                                        \
    }
PYGPU_SURFACE(surf1D, 1, int x, x)
PYGPU_SURFACE(surf2D, 2, PYGPU_LIST(int x, int y), PYGPU_LIST(x, y))
PYGPU_SURFACE(surf3D, 3, PYGPU_LIST(int x, int y, int z), PYGPU_LIST(x, y, z))
PYGPU_SURFACE(surf1DLayered, cudaSurfaceType1DLayered, PYGPU_LIST(int x, int layer), PYGPU_LIST(x, layer))
PYGPU_SURFACE(surf2DLayered, cudaSurfaceType2DLayered, PYGPU_LIST(int x, int y, int layer), PYGPU_LIST(x, y, layer))
#undef PYGPU_SURFACE
#undef PYGPU_LIST

// With these macros, a declaration such as `texture<float, 2> name;` declares a variable in constant memory.
#define texture __constant__ ::pygpu::texture_reference
#define surface __constant__ ::pygpu::surface_reference

#endif
