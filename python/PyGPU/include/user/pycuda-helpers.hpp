// PyCUDA's header of this name wraps texture references (fp_tex1Dfetch and its kin), which CUDA 12 has taken away. It is
// here so that sources which include it compile; a source that uses them says so at that place.
#ifndef PYCUDA_HELPERS_HPP_SEEN
#define PYCUDA_HELPERS_HPP_SEEN

#include <pycuda-complex.hpp>

extern "C++" {
namespace pycuda {
template <class T> struct no_texture_references {
    static_assert(sizeof(T) == 0, "texture references are gone since CUDA 12: read the array in global memory");
    typedef T type;
};
}
}
#define fp_tex1Dfetch(texture, at) (typename pycuda::no_texture_references<int>::type(0))
#define fp_tex1D(texture, x) (typename pycuda::no_texture_references<int>::type(0))
#define fp_tex2D(texture, x, y) (typename pycuda::no_texture_references<int>::type(0))
#define fp_tex3D(texture, x, y, z) (typename pycuda::no_texture_references<int>::type(0))

#endif
