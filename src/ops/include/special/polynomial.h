// Polynomials of floats.
namespace pygpu_special {

// The first coefficient is that of the highest power.
template <int COUNT> __device__ inline float polynomial(float x, const float (&coefficients)[COUNT]) {
    float sum = coefficients[0];
#pragma unroll
    for (int place = 1; place < COUNT; place++) sum = pygpu_xsf::multiply_add(sum, x, coefficients[place]);
    return sum;
}

}
