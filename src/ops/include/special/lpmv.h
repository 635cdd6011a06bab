// The associated Legendre function. Its loops run up to the order and the degree, and always end, because only finite
// orders and degrees reach the loops.
namespace pygpu_special {

__device__ inline double lpmv(double m, double v, double x) {
    if (m != floor(m) || fabs(m) > 2147483646.0 || !(fabs(v) < 2147483646.0)) return NAN;
    double value = pygpu_xsf::lpmv(x, (int)m, v);
    return value == 1e300 ? INFINITY : value == -1e300 ? -(double)INFINITY : value;
}

}
