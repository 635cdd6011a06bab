// Atomic functions that CuPy adds to CUDA's: sums of signed 64-bit integers, extrema of floating-point numbers.
#ifndef PYGPU_CUPY_ATOMICS_CUH
#define PYGPU_CUPY_ATOMICS_CUH

extern "C++" {

__device__ inline long long atomicAdd(long long *address, long long value) {
    return (long long)atomicAdd((unsigned long long *)address, (unsigned long long)value);
}

// HIP has these functions.
#if !defined(__HIP_PLATFORM_AMD__) && !defined(__HIPCC_RTC__)

// Replaces a number while `is_better` holds for the new number. A NaN is never better.
#define PYGPU_CUPY_EXTREMUM(name, T, Word, as_word, as_number, is_better)                                              \
    __device__ inline T name(T *address, T value) {                                                                    \
        Word *word = (Word *)address, before = *word;                                                                  \
        while (value is_better as_number(before)) {                                                                    \
            Word expected = before;                                                                                    \
            before = atomicCAS(word, expected, (Word)as_word(value));                                                  \
            if (before == expected) break;                                                                             \
        }                                                                                                              \
        return as_number(before);                                                                                      \
    }
PYGPU_CUPY_EXTREMUM(atomicMax, float, int, __float_as_int, __int_as_float, >)
PYGPU_CUPY_EXTREMUM(atomicMin, float, int, __float_as_int, __int_as_float, <)
PYGPU_CUPY_EXTREMUM(atomicMax, double, unsigned long long, __double_as_longlong, __longlong_as_double, >)
PYGPU_CUPY_EXTREMUM(atomicMin, double, unsigned long long, __double_as_longlong, __longlong_as_double, <)
#undef PYGPU_CUPY_EXTREMUM

#endif

}
#endif
