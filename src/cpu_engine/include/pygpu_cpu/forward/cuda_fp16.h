// half: one sign bit, five exponent bits and ten fraction bits.
#ifndef PYGPU_CPU_FP16_H
#define PYGPU_CPU_FP16_H

#include "pygpu_cpu/small_floats.h"

extern "C++" {

namespace pygpu_cpu {

struct binary16 {
    static constexpr unsigned infinity = 0x7c00;

    static float widen(unsigned short h) {
        unsigned sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31, fraction = h & 1023;
        if (exponent == 31) return bits<float>(sign | 0x7f800000u | fraction << 13);
        if (exponent) return bits<float>(sign | (exponent + 112) << 23 | fraction << 13);
        float small = float(fraction) * 0x1p-24f;
        return sign ? -small : small;
    }

    static unsigned short narrow(float f) {
        unsigned all = bits<unsigned>(f), sign = all >> 16 & 0x8000u, size = all & 0x7fffffffu;
        if (size > 0x7f800000u) return 0x7fff;
        if (size >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);
        if (size < 0x38800000u) return (unsigned short)(sign | unsigned(rintf(bits<float>(size) * 0x1p24f)));
        size -= 0x38000000u;
        return (unsigned short)(sign | (size + 0xfff + (size >> 13 & 1)) >> 13);
    }
};

}

PYGPU_CPU_SMALL_FLOAT(binary16, __half, __half2, half, half2)
using half = __half;
using half2 = __half2;

}

#endif
