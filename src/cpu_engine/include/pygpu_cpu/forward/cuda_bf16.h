// bfloat16: a 16-bit number, the upper half of a float.
#ifndef PYGPU_CPU_BF16_H
#define PYGPU_CPU_BF16_H

#include "pygpu_cpu/small_floats.h"

extern "C++" {

namespace pygpu_cpu {

struct upper_half {
    static constexpr unsigned infinity = 0x7f80;

    static float widen(unsigned short h) { return bits<float>(unsigned(h) << 16); }

    static unsigned short narrow(float f) {
        unsigned all = bits<unsigned>(f);
        if ((all & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
        return (unsigned short)((all + 0x7fff + (all >> 16 & 1)) >> 16);
    }
};

}

PYGPU_CPU_SMALL_FLOAT(upper_half, __nv_bfloat16, __nv_bfloat162, bfloat16, bfloat162)
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

}

#endif
