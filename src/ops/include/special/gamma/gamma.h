// The sign of the gamma function, and the incomplete beta function with SciPy's values for parameters that are zero or
// infinite.
namespace pygpu_special {

__device__ inline double gammasgn(double x) {
    if (x != x || x > 0) return x != x ? x : 1.0;
    if (x == 0) return copysign(1.0, x);
    if (x - x != 0 || x == floor(x)) return NAN;
    return floor(x) != 2 * floor(0.5 * floor(x)) ? -1.0 : 1.0;
}

}
