// From xsf/cephes/kolmogorov.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
namespace pygpu_xsf {
constexpr double KOLMOG_CUTOVER = 0.82;
constexpr int MIN_EXPABLE = (-708 - 38);
struct ThreeProbs {
    double sf;
    double cdf;
    double pdf;
};
static __device__ __noinline__ ThreeProbs _kolmogorov(double x) {
    double P = 1.0;
    double D = 0;
    double sf, cdf, pdf;
    if (isnan(x)) {
        return {
            NAN, NAN,
            NAN
        };
    }
    if (x <= 0) {
        return {1.0, 0.0, 0};
    }
    if (x <= M_PI / ::sqrt(1.0 * -MIN_EXPABLE * 8)) {
        return {1.0, 0.0, 0};
    }
    P = 1.0;
    if (x <= KOLMOG_CUTOVER) {
        double w = ::sqrt(2 * M_PI) / x;
        double logu8 = -M_PI * M_PI / (x * x);
        double u = call_exp(logu8 / 8);
        if (u == 0) {
            double logP = logu8 / 8 + call_log(w);
            P = call_exp(logP);
        } else {
            double u8 = call_exp(logu8);
            double u8cub = call_pow(u8, 3);
            P = 1 + u8cub * P;
            D = 5 * 5 + u8cub * D;
            P = 1 + u8 * u8 * P;
            D = 3 * 3 + u8 * u8 * D;
            P = 1 + u8 * P;
            D = 1 * 1 + u8 * D;
            D = M_PI * M_PI / 4 / (x * x) * D - P;
            D *= w * u / x;
            P = w * u * P;
        }
        cdf = P;
        sf = 1 - P;
        pdf = D;
    } else {
        double logv = -2 * x * x;
        double v = call_exp(logv);
        double vsq = v * v;
        double v3 = call_pow(v, 3);
        double vpwr;
        vpwr = v3 * v3 * v;
        P = 1 - vpwr * P;
        D = 3 * 3 - vpwr * D;
        vpwr = v3 * vsq;
        P = 1 - vpwr * P;
        D = 2 * 2 - vpwr * D;
        vpwr = v3;
        P = 1 - vpwr * P;
        D = 1 * 1 - vpwr * D;
        P = 2 * v * P;
        D = 8 * v * x * D;
        sf = P;
        cdf = 1 - sf;
        pdf = D;
    }
    pdf = ::fmax(0.0, pdf);
    cdf = ::fmin(::fmax(cdf, 0.0), 1.0);
    sf = ::fmin(::fmax(sf, 0.0), 1.0);
    return {sf, cdf, pdf};
}
__device__ inline double kolmogorov(double x) {
    if (isnan(x)) {
        return NAN;
    }
    return _kolmogorov(x).sf;
}
}
