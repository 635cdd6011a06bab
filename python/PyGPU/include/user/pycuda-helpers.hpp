// PyCUDA's header of this name: access to float64 and complex numbers through textures and surfaces of integers. The functions
// are declared for sources with textures or surfaces at file scope, which PyGPU implements for current compilers
// (include/textures/texture_references.h).
#ifndef PYCUDA_HELPERS_HPP_SEEN
#define PYCUDA_HELPERS_HPP_SEEN

#include <pycuda-complex.hpp>

extern "C++" {

typedef float fp_tex_float;
typedef int2 fp_tex_double;
typedef uint2 fp_tex_cfloat;
typedef int4 fp_tex_cdouble;

#ifdef PYGPU_TEXTURE_REFERENCES
namespace pycuda {

// Conversion of an element, as a texture stores it, to the number that it represents.
template <class T> struct fp_texel {
    typedef T value;
    static __device__ value of(const T &v) { return v; }
};
template <> struct fp_texel<fp_tex_double> {
    typedef double value;
    static __device__ value of(const fp_tex_double &v) { return __hiloint2double(v.y, v.x); }
};
template <> struct fp_texel<fp_tex_cfloat> {
    typedef complex<float> value;
    static __device__ value of(const fp_tex_cfloat &v) {
        return value(__int_as_float((int)v.x), __int_as_float((int)v.y));
    }
};
template <> struct fp_texel<fp_tex_cdouble> {
    typedef complex<double> value;
    static __device__ value of(const fp_tex_cdouble &v) {
        return value(__hiloint2double(v.y, v.x), __hiloint2double(v.w, v.z));
    }
};

// Conversion of a number to the element that stores it in a surface.
template <class T> struct fp_held {
    typedef T texel;
    static __device__ texel in(const T &v) { return v; }
};
template <> struct fp_held<double> {
    typedef fp_tex_double texel;
    static __device__ texel in(double v) {
        texel result;
        result.x = __double2loint(v), result.y = __double2hiint(v);
        return result;
    }
};
template <> struct fp_held<complex<float> > {
    typedef fp_tex_cfloat texel;
    static __device__ texel in(const complex<float> &v) {
        texel result;
        result.x = (unsigned)__float_as_int(v.real()), result.y = (unsigned)__float_as_int(v.imag());
        return result;
    }
};
template <> struct fp_held<complex<double> > {
    typedef fp_tex_cdouble texel;
    static __device__ texel in(const complex<double> &v) {
        texel result;
        result.x = __double2loint(v.real()), result.y = __double2hiint(v.real());
        result.z = __double2loint(v.imag()), result.w = __double2hiint(v.imag());
        return result;
    }
};

}

#define PYCUDA_LIST(...) __VA_ARGS__
#define PYCUDA_FETCH(name, fetch, dimensions, parameters, arguments)                                             \
    template <class T, int mode>                                                                                 \
    static __device__ __forceinline__ typename pycuda::fp_texel<T>::value name(                                  \
        const ::pygpu::texture_reference<T, dimensions, mode> &reference, parameters) {                          \
        return pycuda::fp_texel<T>::of(fetch(reference, arguments));                                             \
    }
PYCUDA_FETCH(fp_tex1Dfetch, tex1Dfetch, 1, int i, i)
PYCUDA_FETCH(fp_tex1D, tex1D, 1, float i, i)
PYCUDA_FETCH(fp_tex2D, tex2D, 2, PYCUDA_LIST(int i, int j), PYCUDA_LIST(i, j))
PYCUDA_FETCH(fp_tex2DLayered, tex2DLayered, cudaTextureType2DLayered, PYCUDA_LIST(float i, float j, int layer),
             PYCUDA_LIST(i, j, layer))
PYCUDA_FETCH(fp_tex3D, tex3D, 3, PYCUDA_LIST(int i, int j, int k), PYCUDA_LIST(i, j, k))
#undef PYCUDA_FETCH

#define PYCUDA_SURFACE(name, dimensions)                                                                         \
    template <class T, class Of>                                                                                 \
    static __device__ __forceinline__ void fp_##name##write(                                                     \
        T value, const ::pygpu::surface_reference<Of, dimensions> &reference, int i, int j, int k,               \
        PYGPU_BOUNDARY mode = PYGPU_BEYOND) {                                                                    \
        typedef typename pycuda::fp_held<T>::texel texel;                                                        \
        name##write(pycuda::fp_held<T>::in(value), reference, i * (int)sizeof(texel), j, k, mode);               \
    }                                                                                                            \
    template <class T, class Of>                                                                                 \
    static __device__ __forceinline__ void fp_##name##read(                                                      \
        T *value, const ::pygpu::surface_reference<Of, dimensions> &reference, int i, int j, int k,              \
        PYGPU_BOUNDARY mode = PYGPU_BEYOND) {                                                                    \
        typedef typename pycuda::fp_held<T>::texel texel;                                                        \
        texel element;                                                                                           \
        name##read(&element, reference, i * (int)sizeof(texel), j, k, mode);                                     \
        *value = pycuda::fp_texel<texel>::of(element);                                                           \
    }
PYCUDA_SURFACE(surf2DLayered, cudaSurfaceType2DLayered)
PYCUDA_SURFACE(surf3D, 3)
#undef PYCUDA_SURFACE
#undef PYCUDA_LIST
#endif

}

#endif
