// Kernels that write and judge arrays by the rules of element_rules.py. All indices have 64 bits.
typedef unsigned long long number;
typedef long long integer;

struct rule {
    number period, growth;
    integer start;
    number high, wide;
    integer z, y, x;

    // Returns the value of the rule's linear function for element `i` in C order.
    __device__ number f(number i) const {
        const number plane = i / (high * wide), rest = i - plane * (high * wide);
        const number row = rest / wide, column = rest - row * wide;
        return start + plane * z + row * y + column * x;
    }
};

template <class T> __device__ T expected(const T *table, const rule &by, number i) {
    const number f = by.f(i), turns = f / by.period, entry = f - turns * by.period;
    return by.growth ? T(table[entry] + turns * by.growth) : table[entry];
}

template <class T> __device__ bool differs(T found, T wanted, double) { return found != wanted; }
// A NaN differs from every number.
__device__ bool differs(float found, float wanted, double least) { return !(fabs((double)found - wanted) <= least); }
__device__ bool differs(double found, double wanted, double least) { return !(fabs(found - wanted) <= least); }

// Counts a wrong element, and keeps the lowest index of all wrong elements.
__device__ void count(number *wrong, number i) {
    atomicAdd(wrong, 1ull);
    atomicMin(wrong + 1, i);
}

#define EACH(i) \
    for (number i = (number)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (number)gridDim.x * blockDim.x)
#define RULE \
    number period, number growth, integer start, number high, number wide, integer z, integer y, integer x
#define BY {period, growth, start, high, wide, z, y, x}

#define DEFINE(name, T)                                                                                \
    extern "C" __global__ void write_##name(T *to, number n, const T *table, RULE) {                   \
        const rule by = BY;                                                                            \
        EACH(i) to[i] = expected(table, by, i);                                                        \
    }                                                                                                  \
    extern "C" __global__ void compare_##name(const T *found, number n, const T *table, RULE,          \
                                              double least, number *wrong) {                           \
        const rule by = BY;                                                                            \
        EACH(i) if (differs(found[i], expected(table, by, i), least)) count(wrong, i);                 \
    }

// Compares the differences of consecutive elements along an axis of `length` elements with stride `lag` in elements.
#define DEFINE_STEPS(name, T)                                                                          \
    extern "C" __global__ void steps_##name(const T *found, number n, const T *table, RULE,            \
                                            number lag, number length, number *wrong) {                \
        const rule by = BY;                                                                            \
        EACH(i) {                                                                                      \
            const T before = i / lag % length ? found[i - lag] : (T)0;                                 \
            if ((T)(found[i] - before) != expected(table, by, i)) count(wrong, i);                     \
        }                                                                                              \
    }

DEFINE(1, unsigned char)
DEFINE(2, unsigned short)
DEFINE(4, unsigned)
DEFINE(8, unsigned long long)
DEFINE(f4, float)
DEFINE(f8, double)
DEFINE_STEPS(1, unsigned char)
DEFINE_STEPS(8, unsigned long long)
