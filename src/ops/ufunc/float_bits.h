// Functions on the representation of numbers: bits, exponents, neighbours. Like array_access.h, this header includes no
// other header.
namespace pygpu_op {

__device__ inline int count_bits(unsigned long long bits) {
    bits -= bits >> 1 & 0x5555555555555555ull;
    bits = (bits & 0x3333333333333333ull) + (bits >> 2 & 0x3333333333333333ull);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0full;
    return (int)(bits * 0x0101010101010101ull >> 56);
}

template <class T> __device__ inline T scaled(T a, long long power) {
    return ldexp(a, (int)(power < -5000 ? -5000 : power > 5000 ? 5000 : power));
}
template <class T> __device__ inline T mantissa(T a) {
    int power;
    return a - a == 0 ? frexp(a, &power) : a;
}
template <class T> __device__ inline int exponent(T a) {
    int power = 0;
    if (a - a == 0) (void)frexp(a, &power);
    return power;
}
template <class T> __device__ inline T fraction(T a) {
    T whole = trunc(a);
    return a == whole ? copysign((T)0, a) : copysign(a - whole, a);
}

template <class T> __device__ inline T spacing(T a) {
    if (a == 0) return nextafter((T)0, (T)1);
    return nextafter(a, a * 2 + copysign((T)1, a)) - a;
}
// Returns the next value of a 16-bit floating-point type from `a` towards `b`. The type computes in float. BITS is the
// number of fraction bits. LEAST is the exponent of the smallest power of 2 with full precision.
template <int BITS, int LEAST> __device__ inline float next_of_16_bits(float a, float b) {
    if (a != a || b != b) return a + b;
    if (a == b) return b;
    float least = ldexp(1.0f, LEAST - BITS), size = fabs(a);
    if (a == 0) return copysign(least, b);
    if (size - size != 0) return copysign(ldexp(2.0f - ldexp(1.0f, -BITS), 1 - LEAST), a);
    int power;
    float half = frexp(size, &power);
    if (size == ldexp(2.0f - ldexp(1.0f, -BITS), 1 - LEAST) && (a < b) == (a > 0)) return ldexp(a, 300);
    float step = power - 1 < LEAST ? least : ldexp(1.0f, power - 1 - BITS);
    if ((a < b) == (a > 0)) return copysign(size + step, a);
    return copysign(size - (half == 0.5f && power - 1 > LEAST ? step / 2 : step), a);
}

}
