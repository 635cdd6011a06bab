// Divisions in long functions. On a GPU a division has 30 instructions; a call compiles them once.
namespace pygpu_xsf {
static __device__ __noinline__ double divide(double x, double y) { return x / y; }
template <class X, class Y> __device__ inline double call_divide(X x, Y y) { return divide(x, y); }
__device__ inline int call_divide(int x, int y) { return x / y; }
}
