// Conversions with a named rounding mode, and reinterpretation of a value's bits as another type. As on a GPU, a value
// outside the range of an integer type becomes the nearest representable integer. A NaN becomes 0, or the lowest value
// if the result has 64 bits.
#ifndef PYGPU_CPU_CONVERSIONS_H
#define PYGPU_CPU_CONVERSIONS_H

namespace pygpu_cpu {

template <class To, class From> To bits(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

template <class To> constexpr To lowest = To(-1) < To(0) ? To(To(1) << (sizeof(To) * 8 - 1)) : To(0);

template <class To, class From> To saturated(From whole) {
    const From limit = From(sizeof(To) == 8 ? (To(-1) < To(0) ? 0x1p63 : 0x1p64) : (To(-1) < To(0) ? 0x1p31 : 0x1p32));
    if (whole != whole) return sizeof(To) == 8 ? To(0x8000000000000000ull) : To(0);
    if (whole >= limit) return To(~lowest<To>);
    if (whole < From(lowest<To>)) return lowest<To>;
    return To(whole);
}

// Converts an integer to a floating-point number, rounded down or up. The nearest floating-point number is computed
// first, and corrected by one step if necessary.
template <class To, class From> To rounded(From value, int direction) {
    To nearest = To(value);
    if (direction == 2) direction = value < From(0) ? 1 : -1;
    __int128 exact = (__int128)value, got = (__int128)nearest;
    if (direction < 0 && got > exact) return sizeof(To) == 4 ? To(nextafterf(float(nearest), -INFINITY)) : To(nextafter(double(nearest), -INFINITY));
    if (direction > 0 && got < exact) return sizeof(To) == 4 ? To(nextafterf(float(nearest), INFINITY)) : To(nextafter(double(nearest), INFINITY));
    return nearest;
}

}

#define PYGPU_CPU_TO_INTEGER(from, from_type, name, type)                                                                  \
    PYGPU_CPU_FUNCTION type __##from##2##name##_rn(from_type v) { return pygpu_cpu::saturated<type>(__builtin_rint(v)); }  \
    PYGPU_CPU_FUNCTION type __##from##2##name##_rz(from_type v) { return pygpu_cpu::saturated<type>(__builtin_trunc(v)); } \
    PYGPU_CPU_FUNCTION type __##from##2##name##_rd(from_type v) { return pygpu_cpu::saturated<type>(__builtin_floor(v)); } \
    PYGPU_CPU_FUNCTION type __##from##2##name##_ru(from_type v) { return pygpu_cpu::saturated<type>(__builtin_ceil(v)); }
#define PYGPU_CPU_FROM_INTEGER(name, type, to, to_type)                                                                    \
    PYGPU_CPU_FUNCTION to_type __##name##2##to##_rn(type v) { return to_type(v); }                                         \
    PYGPU_CPU_FUNCTION to_type __##name##2##to##_rz(type v) { return pygpu_cpu::rounded<to_type>(v, 2); }                  \
    PYGPU_CPU_FUNCTION to_type __##name##2##to##_rd(type v) { return pygpu_cpu::rounded<to_type>(v, -1); }                 \
    PYGPU_CPU_FUNCTION to_type __##name##2##to##_ru(type v) { return pygpu_cpu::rounded<to_type>(v, 1); }
#define PYGPU_CPU_BOTH_WAYS(name, type)             \
    PYGPU_CPU_TO_INTEGER(float, float, name, type)   \
    PYGPU_CPU_TO_INTEGER(double, double, name, type) \
    PYGPU_CPU_FROM_INTEGER(name, type, float, float) \
    PYGPU_CPU_FROM_INTEGER(name, type, double, double)
PYGPU_CPU_BOTH_WAYS(int, int)
PYGPU_CPU_BOTH_WAYS(uint, unsigned)
PYGPU_CPU_BOTH_WAYS(ll, long long)
PYGPU_CPU_BOTH_WAYS(ull, unsigned long long)
#undef PYGPU_CPU_BOTH_WAYS
#undef PYGPU_CPU_FROM_INTEGER
#undef PYGPU_CPU_TO_INTEGER
PYGPU_CPU_FUNCTION float __double2float_rn(double v) { return float(v); }

PYGPU_CPU_FUNCTION int __float_as_int(float v) { return pygpu_cpu::bits<int>(v); }
PYGPU_CPU_FUNCTION unsigned __float_as_uint(float v) { return pygpu_cpu::bits<unsigned>(v); }
PYGPU_CPU_FUNCTION float __int_as_float(int v) { return pygpu_cpu::bits<float>(v); }
PYGPU_CPU_FUNCTION float __uint_as_float(unsigned v) { return pygpu_cpu::bits<float>(v); }
PYGPU_CPU_FUNCTION long long __double_as_longlong(double v) { return pygpu_cpu::bits<long long>(v); }
PYGPU_CPU_FUNCTION double __longlong_as_double(long long v) { return pygpu_cpu::bits<double>(v); }
PYGPU_CPU_FUNCTION int __double2hiint(double v) { return int(pygpu_cpu::bits<unsigned long long>(v) >> 32); }
PYGPU_CPU_FUNCTION int __double2loint(double v) { return int(unsigned(pygpu_cpu::bits<unsigned long long>(v))); }
PYGPU_CPU_FUNCTION double __hiloint2double(int high, int low) {
    return pygpu_cpu::bits<double>((unsigned long long)unsigned(high) << 32 | unsigned(low));
}

#endif
