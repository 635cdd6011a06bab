// CUDA's and HIP's device language for an ordinary C++17 compiler: the header that stands before every kernel which PyGPU
// runs on the CPU backend and in its simulated drivers. docs/design/kernels_on_the_cpu.md says how it works.
//
// What a compiler cannot be taught by a header (__global__, __device__, __shared__, __constant__, __launch_bounds__) is
// rewritten in the preprocessed source before it is compiled. A source can tell that it is compiled here by
// __PYGPU_CPU__; neither __CUDA_ARCH__ nor __CUDACC_RTC__ nor __HIPCC_RTC__ is defined, since the inline assembly of the vendors
// stands behind those.
//
// Nearly every function here is a template without need of one: a function of the same signature in the user's source
// is then preferred, where it would otherwise be a redefinition.
#ifndef PYGPU_CPU_H
#define PYGPU_CPU_H

#define __PYGPU_CPU__ 1
#define __CUDACC__ 1

#ifndef PYGPU_CPU_WARP_SIZE
#define PYGPU_CPU_WARP_SIZE 32
#endif

#define PYGPU_CPU_FUNCTION template <class PygpuUnused = void> inline

// GNU's <cmath> of C++17 brings Bessel functions and the like, with half of the library behind them: more than half of what is
// compiled for a small kernel, and nothing that a device has.
#include <cstddef>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS

// Before anything reads <math.h>: there are names in these headers that the language of the device uses otherwise.
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
#include "pygpu_cpu/regions.h"
#include "pygpu_cpu/entry.h"

#endif
