// The reciprocal of the gamma function of doubles.
namespace pygpu_special {

__device__ __noinline__ double rgamma_of_any(double x) { return x <= 0 && x == floor(x) ? 0 : 1 / tgamma(x); }

// Returns 1 / gamma(x). Numbers below 30 are the sum of an integer n and a t from -1/2 to 1/2. The result is the
// polynomial for 1 / gamma(1 + t), divided by (1 + t) ... (n - 1 + t), or multiplied by (n + t) ... t if n is not
// positive. tgamma would compute the reciprocal of this polynomial, and have more branches.
__device__ inline double rgamma(double x) {
    if (!(fabs(x) < 30)) return rgamma_of_any(x);
    const double c[] = {4.939580133523849e-09,  -2.0057089361510917e-07, 1.1335045480626792e-06, -1.2525583573659133e-06,
                        -2.01349556850396e-05,  0.00012805072001014693,  -0.00021524166229467653, -0.0011651676431973738,
                        0.007218943245911072,   -0.009621971524607897,   -0.04219773455552084,   0.16653861138218928,
                        -0.042002635034095515,  -0.6558780715202527,     0.5772156649015329,     1.0};
    int n = (int)rint(x);
    double t = x - n, of_fraction = polynomial(t, c), product = 1;
    if (n <= 0) {
        // One factor may be close to 0, so each of them is exact. A product of zero has a positive sign.
#pragma unroll 1
        for (int k = n; k <= 0; k++) product *= t + k;
        return of_fraction * product + 0.0;
    }
    double factor = t + 1;
#pragma unroll 1
    for (; n > 4; n -= 4) {
        double u = factor * (factor + 3);
        product *= u * (u + 2); // the product of the four factors from `factor` on
        factor += 4;
    }
    product *= (n > 1 ? factor : 1) * (n > 2 ? factor + 1 : 1) * (n > 3 ? factor + 2 : 1);
    return quotient(of_fraction, product);
}

}
