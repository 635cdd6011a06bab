// Vector types with the alignment of a GPU, dim3, and their constructor functions.
#ifndef PYGPU_CPU_TYPES_H
#define PYGPU_CPU_TYPES_H

#define PYGPU_CPU_ALIGNMENT(type, count) (sizeof(type) * (count) < 16 ? sizeof(type) * (count) : 16)

#define PYGPU_CPU_VECTOR(name, type)                                                                                \
    struct name##1 { type x; };                                                                                     \
    struct alignas(PYGPU_CPU_ALIGNMENT(type, 2)) name##2 { type x, y; };                                            \
    struct name##3 { type x, y, z; };                                                                               \
    struct alignas(PYGPU_CPU_ALIGNMENT(type, 4)) name##4 { type x, y, z, w; };                                      \
    PYGPU_CPU_FUNCTION name##1 make_##name##1(type x) { return {x}; }                                               \
    PYGPU_CPU_FUNCTION name##2 make_##name##2(type x, type y) { return {x, y}; }                                    \
    PYGPU_CPU_FUNCTION name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                         \
    PYGPU_CPU_FUNCTION name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

PYGPU_CPU_VECTOR(char, signed char)
PYGPU_CPU_VECTOR(uchar, unsigned char)
PYGPU_CPU_VECTOR(short, short)
PYGPU_CPU_VECTOR(ushort, unsigned short)
PYGPU_CPU_VECTOR(int, int)
PYGPU_CPU_VECTOR(uint, unsigned int)
PYGPU_CPU_VECTOR(long, long)
PYGPU_CPU_VECTOR(ulong, unsigned long)
PYGPU_CPU_VECTOR(longlong, long long)
PYGPU_CPU_VECTOR(ulonglong, unsigned long long)
PYGPU_CPU_VECTOR(float, float)
PYGPU_CPU_VECTOR(double, double)

#undef PYGPU_CPU_VECTOR
#undef PYGPU_CPU_ALIGNMENT

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};

namespace pygpu_cpu {
template <class T> struct same { using type = T; };
// Excludes a parameter from type deduction, so that atomicAdd(float *, 1) deduces its type from the pointer alone.
template <class T> using given = typename same<T>::type;
template <class A, class B> constexpr bool is = false;
template <class A> constexpr bool is<A, A> = true;
template <class T, class... Of> constexpr bool one_of = (is<T, Of> || ...);
}

#endif
