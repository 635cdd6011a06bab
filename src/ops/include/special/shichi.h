// The hyperbolic sine and cosine integral, which xsf computes at once.
namespace pygpu_special {

template <int PART> __device__ inline double shichi(double x) {
    double sine, cosine;
    pygpu_xsf::shichi(x, sine, cosine);
    return PART ? cosine : sine;
}

}
