// Complex numbers under CuPy's names: `complex<T>` and `thrust::complex<T>`.
#ifndef PYGPU_CUPY_COMPLEX_CUH
#define PYGPU_CUPY_COMPLEX_CUH

#include <pycuda-complex.hpp>

namespace thrust {
using namespace pycuda;
}
using pycuda::complex;
using pycuda::arg;
using pycuda::conj;
using pycuda::imag;
using pycuda::norm;
using pycuda::polar;
using pycuda::real;

#endif
