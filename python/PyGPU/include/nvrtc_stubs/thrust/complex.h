// Replacement of Thrust's header of complex numbers, for compilation without an installed toolkit. It gives PyCUDA's
// complex numbers the names of Thrust.
#ifndef PYGPU_THRUST_COMPLEX_H
#define PYGPU_THRUST_COMPLEX_H

#include <pycuda-complex.hpp>

extern "C++" {
namespace thrust {
using pycuda::complex;
using pycuda::abs;
using pycuda::arg;
using pycuda::norm;
using pycuda::conj;
using pycuda::polar;
using pycuda::exp;
using pycuda::log;
using pycuda::log10;
using pycuda::pow;
using pycuda::sqrt;
using pycuda::sin;
using pycuda::cos;
using pycuda::tan;
using pycuda::sinh;
using pycuda::cosh;
using pycuda::tanh;
}
}

#endif
