// Jacobi's elliptic functions, which xsf computes at once: sn, cn, dn and the amplitude.
namespace pygpu_special {

template <int PART> __device__ inline double ellipj(double u, double m) {
    double values[4];
    pygpu_xsf::ellpj(u, m, values, values + 1, values + 2, values + 3);
    return values[PART];
}

}
