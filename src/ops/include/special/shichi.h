// The hyperbolic sine integral and the hyperbolic cosine integral, which xsf computes in one call.
namespace pygpu_special {

template <int PART> __device__ inline double shichi(double x) {
    double sine, cosine;
    pygpu_xsf::shichi(x, sine, cosine);
    return PART ? cosine : sine;
}

}
