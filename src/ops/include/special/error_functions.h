// Functions related to the error function. In exp(x * x), the square is rounded. A factor that contains the rounding
// error of the square corrects the exponential.
namespace pygpu_special {

__device__ inline double exp_of_square(double x) {
    double square = x * x;
    return exp(square) * (1 + fma(x, x, -square));
}
__device__ inline double erfi(double x) {
    return x * x > 720 ? x * INFINITY : exp_of_square(x) * pygpu_xsf::w_im(x);
}
__device__ inline double dawsn(double x) { return 0.88622692545275801365 * pygpu_xsf::w_im(x); }

}
