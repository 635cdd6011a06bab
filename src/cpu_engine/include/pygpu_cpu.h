// CUDA's and HIP's device language for an ordinary C++17 compiler. PyGPU's CPU backend and simulated drivers include
// this header before every kernel source. docs/design/kernels_on_the_cpu.md describes the method.
//
// Keywords that a header cannot define (__global__, __device__, __shared__, __constant__, __launch_bounds__) are
// replaced in the preprocessed source before it is compiled. A source can recognize this compilation by __PYGPU_CPU__.
// __CUDA_ARCH__, __CUDACC_RTC__ and __HIPCC_RTC__ are not defined, because sources use them to select the vendors'
// inline assembly.
//
// Nearly every function here is a template for one reason only: a function of the same signature in the user's source
// is then preferred, and is not a redefinition.
#ifndef PYGPU_CPU_H
#define PYGPU_CPU_H

#define __PYGPU_CPU__ 1
#define __CUDACC__ 1

#ifndef PYGPU_CPU_WARP_SIZE
#define PYGPU_CPU_WARP_SIZE 32
#endif

#define PYGPU_CPU_FUNCTION template <class PygpuUnused = void> inline

// In C++17, GNU's <cmath> adds special functions, such as Bessel functions, which no device has. These functions
// include half of the library, which takes more than half of the compile time of a small kernel. The macro that enables
// these functions is therefore undefined.
#include <cstddef>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS

// Included before another header can include <math.h>, because the device language uses some names of <math.h>
// differently.
#include <math.h>
#include <stddef.h>

#if defined(__restrict__)
#undef __restrict__
#endif
#define __forceinline__ inline
#define __inline_hint__
#define __align__(n) __attribute__((aligned(n)))
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];

#include "pygpu_cpu/abi.h"
#include "pygpu_cpu/types.h"
#include "pygpu_cpu/threads.h"
#include "pygpu_cpu/warps.h"
#include "pygpu_cpu/atomics.h"
#include "pygpu_cpu/integers.h"
#include "pygpu_cpu/conversions.h"
#include "pygpu_cpu/mathematics.h"
#include "pygpu_cpu/barrier_regions.h"
#include "pygpu_cpu/kernel_entry.h"

#endif
