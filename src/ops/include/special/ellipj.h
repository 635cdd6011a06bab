// Jacobi's elliptic functions: PART selects sn, cn, dn or the amplitude. xsf computes all four in one call.
namespace pygpu_special {

template <int PART> __device__ inline double ellipj(double u, double m) {
    double values[4];
    pygpu_xsf::ellpj(u, m, values, values + 1, values + 2, values + 3);
    return values[PART];
}

}
