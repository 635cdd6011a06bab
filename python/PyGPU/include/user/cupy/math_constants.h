// The most common names of CUDA's math_constants.h.
#ifndef PYGPU_CUPY_MATH_CONSTANTS_H
#define PYGPU_CUPY_MATH_CONSTANTS_H

#ifndef CUDART_INF_F
#define CUDART_INF_F __int_as_float(0x7f800000)
#define CUDART_NAN_F __int_as_float(0x7fffffff)
#define CUDART_MAX_NORMAL_F __int_as_float(0x7f7fffff)
#define CUDART_ZERO_F 0.0f
#define CUDART_ONE_F 1.0f
#define CUDART_PI_F 3.141592654f
#endif
#ifndef CUDART_INF
#define CUDART_INF __longlong_as_double(0x7ff0000000000000LL)
#define CUDART_NAN __longlong_as_double(0x7ff8000000000000LL)
#define CUDART_ZERO 0.0
#define CUDART_ONE 1.0
#define CUDART_PI 3.1415926535897931e+0
#define CUDART_PIO2 1.5707963267948966e+0
#define CUDART_L2E 1.4426950408889634e+0
#define CUDART_SQRT_TWO 1.4142135623730951e+0
#endif

#endif
