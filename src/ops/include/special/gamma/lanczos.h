// The Lanczos sum for the gamma function, as a quotient of two polynomials: gamma(x) is (top / bottom) * pow(base / e,
// x - 0.5). The polynomials are inlined, without function calls.
namespace pygpu_special {

struct lanczos_sum {
    double top, bottom, base;
};
__device__ inline lanczos_sum lanczos_sum_of(double x) {
    double top = pygpu_xsf::lanczos_sum_expg_scaled_num[0], bottom = pygpu_xsf::lanczos_sum_expg_scaled_denom[0];
#pragma unroll
    for (int place = 1; place < 13; place++) {
        top = pygpu_xsf::multiply_add(top, x, pygpu_xsf::lanczos_sum_expg_scaled_num[place]);
        bottom = pygpu_xsf::multiply_add(bottom, x, pygpu_xsf::lanczos_sum_expg_scaled_denom[place]);
    }
    return {top, bottom, x + pygpu_xsf::lanczos_g - 0.5};
}

}
