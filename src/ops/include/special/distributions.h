// Distribution functions of discrete distributions. As in SciPy, a number of trials that is not an integer is
// truncated.
namespace pygpu_special {

__device__ inline double bdtr(double k, double n, double p) { return n - n != 0 ? NAN : pygpu_xsf::bdtr(k, (int)n, p); }
__device__ inline double bdtrc(double k, double n, double p) { return n - n != 0 ? NAN : pygpu_xsf::bdtrc(k, (int)n, p); }
__device__ inline double nbdtr(double k, double n, double p) {
    return k - k != 0 || n - n != 0 ? NAN : pygpu_xsf::nbdtr((int)k, (int)n, p);
}
__device__ inline double nbdtrc(double k, double n, double p) {
    return k - k != 0 || n - n != 0 ? NAN : pygpu_xsf::nbdtrc((int)k, (int)n, p);
}
__device__ inline double bdtri(double k, double n, double y) { return n - n != 0 ? NAN : pygpu_xsf::bdtri(k, (int)n, y); }
__device__ inline double nbdtri(double k, double n, double y) {
    return k - k != 0 || n - n != 0 ? NAN : pygpu_xsf::nbdtri((int)k, (int)n, y);
}

}
