// Functions of C that are compiled once for all their callers; written by tools/trim_xsf.py.
namespace pygpu_xsf {
static __device__ __noinline__ double call_exp(double x) { return ::exp(x); }
static __device__ __noinline__ double call_log(double x) { return ::log(x); }
static __device__ __noinline__ double call_lgamma(double x) { return ::lgamma(x); }
static __device__ __noinline__ double call_tgamma(double x) { return ::tgamma(x); }
static __device__ __noinline__ double call_log1p(double x) { return ::log1p(x); }
static __device__ __noinline__ double call_expm1(double x) { return ::expm1(x); }
static __device__ __noinline__ double call_erfc(double x) { return ::erfc(x); }
static __device__ __noinline__ double call_sin(double x) { return ::sin(x); }
static __device__ __noinline__ double call_cos(double x) { return ::cos(x); }
static __device__ __noinline__ double call_sinh(double x) { return ::sinh(x); }
static __device__ __noinline__ double call_cosh(double x) { return ::cosh(x); }
static __device__ __noinline__ double call_sqrt(double x) { return ::sqrt(x); }
static __device__ __noinline__ double call_pow(double x, double y) { return ::pow(x, y); }
}
