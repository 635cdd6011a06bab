// Incomplete beta functions with SciPy's values for parameters that are zero or infinite. If a caller passes the
// complement of the argument, the complement is used exactly.
namespace pygpu_special {

static __device__ __noinline__ double betainc_of_any(double a, double b, double x, double complement) {
    if (!(a >= 0 && b >= 0 && x >= 0 && complement >= 0)) return NAN;
    if ((a == 0 && b == 0) || (isinf(a) && isinf(b))) return NAN;
    if (a == 0 || isinf(b)) return x > 0 ? 1 : 0;
    if (b == 0 || isinf(a)) return complement > 0 ? 0 : 1;
    return pygpu_xsf::incbet_of(a, b, x, complement);
}
__device__ inline double betaincinv(double a, double b, double y) {
    if (!(a > 0 && b > 0 && y >= 0 && y <= 1)) return NAN;
    if (y == 0) return 0;
    if (isinf(a) || isinf(b)) return NAN;
    return pygpu_xsf::incbi(a, b, y);
}
__device__ inline double betainccinv(double a, double b, double y) {
    if (!(a > 0 && b > 0 && y >= 0 && y <= 1)) return NAN;
    if (y == 0) return 1;
    if (isinf(a) || isinf(b)) return NAN;
    double complement = pygpu_xsf::incbi(b, a, y);
    return complement > 0.5 ? pygpu_xsf::incbi(a, b, 1 - y) : 1 - complement;
}
// Student's t distribution.
static __device__ __noinline__ double stdtr(double df, double t) {
    if (!(df > 0) || t != t) return NAN;
    if (isinf(df)) return normcdf(t);
    if (isinf(t)) return t > 0 ? 1 : 0;
    double square = t * t, sum = df + square;
    double tail = isinf(sum) ? 0.0 : 0.5 * pygpu_xsf::incbet_of(0.5 * df, 0.5, df / sum, square / sum);
    return t > 0 ? 1 - tail : tail;
}
__device__ inline double stdtrit(double df, double p) {
    if (!(df > 0) || !(p >= 0 && p <= 1)) return NAN;
    if (p == 0 || p == 1) return p == 0 ? -INFINITY : INFINITY;
    if (isinf(df)) return pygpu_xsf::ndtri(p);
    if (p > 0.25 && p < 0.75) {
        if (p == 0.5) return 0;
        double z = pygpu_xsf::incbi(0.5, 0.5 * df, fabs(1 - 2 * p)), t = sqrt(df * z / (1 - z));
        if (z < 0.5) return p < 0.5 ? -t : t;  // For larger z, 1 - z has few correct digits.
    }
    double tail = 2 * (p >= 0.5 ? 1 - p : p), z = pygpu_xsf::incbi(0.5 * df, 0.5, tail), t = sqrt(df / z - df);
    // For very small z, which a double cannot represent, the first term of the series in z is used.
    if (z < 1e-280) t = sqrt(df) * pow(0.5 * tail * df * pygpu_xsf::beta(0.5 * df, 0.5), -1 / df);
    return p >= 0.5 ? t : -t;
}

}
