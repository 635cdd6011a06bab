// Polynomials.
namespace pygpu_special {

// Evaluates a polynomial. The first coefficient belongs to the highest power.
template <class T, int COUNT> __device__ inline T polynomial(T x, const T (&coefficients)[COUNT]) {
    T sum = coefficients[0];
#pragma unroll
    for (int place = 1; place < COUNT; place++) sum = pygpu_xsf::multiply_add(sum, x, coefficients[place]);
    return sum;
}

}
