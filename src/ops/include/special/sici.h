// The sine integral and the cosine integral, which xsf computes in one call.
namespace pygpu_special {

template <int PART> __device__ inline double sici(double x) {
    double sine, cosine;
    pygpu_xsf::sici(x, sine, cosine);
    return PART ? cosine : sine;
}

}
