// Complex numbers in device code under PyCUDA's names. This header includes no other header, so that NVRTC, hiprtc and the
// CPU engine accept it without changes.
//
// Products and quotients follow the usual formulas. In a quotient the divisor is scaled, so that its square neither overflows
// nor underflows to 0. Unlike Annex G of the C standard, these functions do not treat infinities separately.
#ifndef PYCUDA_COMPLEX_HPP_SEEN
#define PYCUDA_COMPLEX_HPP_SEEN

// SourceModule encloses a source in extern "C", in which templates are not allowed.
extern "C++" {
namespace pycuda {

template <class T> struct alignas(2 * sizeof(T)) complex {
    typedef T value_type;
    T _M_re, _M_im;

    complex() = default;
    __device__ complex(T re, T im = T(0)) : _M_re(re), _M_im(im) {}
    template <class U> __device__ complex(const complex<U> &z) : _M_re((T)z.real()), _M_im((T)z.imag()) {}

    __device__ T real() const { return _M_re; }
    __device__ T imag() const { return _M_im; }

    __device__ complex &operator=(T x) { _M_re = x; _M_im = T(0); return *this; }
    template <class U> __device__ complex &operator=(const complex<U> &z) {
        _M_re = (T)z.real(); _M_im = (T)z.imag(); return *this;
    }
    __device__ complex &operator+=(T x) { _M_re += x; return *this; }
    __device__ complex &operator-=(T x) { _M_re -= x; return *this; }
    __device__ complex &operator*=(T x) { _M_re *= x; _M_im *= x; return *this; }
    __device__ complex &operator/=(T x) { _M_re /= x; _M_im /= x; return *this; }
    template <class U> __device__ complex &operator+=(const complex<U> &z) { return *this = *this + complex(z); }
    template <class U> __device__ complex &operator-=(const complex<U> &z) { return *this = *this - complex(z); }
    template <class U> __device__ complex &operator*=(const complex<U> &z) { return *this = *this * complex(z); }
    template <class U> __device__ complex &operator/=(const complex<U> &z) { return *this = *this / complex(z); }

    // The operators are friends and no templates, so that a number of another type as the other operand is converted to T.
    __device__ friend complex operator+(const complex &a, const complex &b) { return complex(a._M_re + b._M_re, a._M_im + b._M_im); }
    __device__ friend complex operator-(const complex &a, const complex &b) { return complex(a._M_re - b._M_re, a._M_im - b._M_im); }
    __device__ friend complex operator*(const complex &a, const complex &b) {
        return complex(a._M_re * b._M_re - a._M_im * b._M_im, a._M_re * b._M_im + a._M_im * b._M_re);
    }
    __device__ friend complex operator/(const complex &a, const complex &b) {
        T re = b._M_re < T(0) ? -b._M_re : b._M_re, im = b._M_im < T(0) ? -b._M_im : b._M_im;
        if (re >= im) {
            if (re == T(0)) return complex(a._M_re / re, a._M_im / re);
            T ratio = b._M_im / b._M_re, scale = T(1) / (b._M_re + b._M_im * ratio);
            return complex((a._M_re + a._M_im * ratio) * scale, (a._M_im - a._M_re * ratio) * scale);
        }
        T ratio = b._M_re / b._M_im, scale = T(1) / (b._M_im + b._M_re * ratio);
        return complex((a._M_re * ratio + a._M_im) * scale, (a._M_im * ratio - a._M_re) * scale);
    }
    __device__ friend complex operator+(const complex &a, T b) { return complex(a._M_re + b, a._M_im); }
    __device__ friend complex operator-(const complex &a, T b) { return complex(a._M_re - b, a._M_im); }
    __device__ friend complex operator*(const complex &a, T b) { return complex(a._M_re * b, a._M_im * b); }
    __device__ friend complex operator/(const complex &a, T b) { return complex(a._M_re / b, a._M_im / b); }
    __device__ friend complex operator+(T a, const complex &b) { return complex(a + b._M_re, b._M_im); }
    __device__ friend complex operator-(T a, const complex &b) { return complex(a - b._M_re, -b._M_im); }
    __device__ friend complex operator*(T a, const complex &b) { return complex(a * b._M_re, a * b._M_im); }
    __device__ friend complex operator/(T a, const complex &b) { return complex(a, T(0)) / b; }
    __device__ friend complex operator+(const complex &a) { return a; }
    __device__ friend complex operator-(const complex &a) { return complex(-a._M_re, -a._M_im); }
    __device__ friend bool operator==(const complex &a, const complex &b) { return a._M_re == b._M_re && a._M_im == b._M_im; }
    __device__ friend bool operator==(const complex &a, T b) { return a._M_re == b && a._M_im == T(0); }
    __device__ friend bool operator==(T a, const complex &b) { return b == a; }
    __device__ friend bool operator!=(const complex &a, const complex &b) { return !(a == b); }
    __device__ friend bool operator!=(const complex &a, T b) { return !(a == b); }
    __device__ friend bool operator!=(T a, const complex &b) { return !(b == a); }
};

// Real functions, overloaded by precision. They have other names, because an unqualified `sin` would find the complex function
// below first.
namespace real_functions {
#define PYCUDA_REAL(name)                                            \
    __device__ inline float name##_(float x) { return ::name##f(x); } \
    __device__ inline double name##_(double x) { return ::name(x); }
PYCUDA_REAL(sqrt) PYCUDA_REAL(exp) PYCUDA_REAL(log) PYCUDA_REAL(sin) PYCUDA_REAL(cos)
PYCUDA_REAL(sinh) PYCUDA_REAL(cosh) PYCUDA_REAL(tanh) PYCUDA_REAL(tan) PYCUDA_REAL(fabs)
#undef PYCUDA_REAL
__device__ inline float hypot_(float x, float y) { return ::hypotf(x, y); }
__device__ inline double hypot_(double x, double y) { return ::hypot(x, y); }
__device__ inline float atan2_(float y, float x) { return ::atan2f(y, x); }
__device__ inline double atan2_(double y, double x) { return ::atan2(y, x); }
__device__ inline float copysign_(float x, float y) { return ::copysignf(x, y); }
__device__ inline double copysign_(double x, double y) { return ::copysign(x, y); }
}

template <class T> __device__ inline T real(const complex<T> &z) { return z.real(); }
template <class T> __device__ inline T imag(const complex<T> &z) { return z.imag(); }
template <class T> __device__ inline T abs(const complex<T> &z) { return real_functions::hypot_(z.real(), z.imag()); }
template <class T> __device__ inline T arg(const complex<T> &z) { return real_functions::atan2_(z.imag(), z.real()); }
template <class T> __device__ inline T norm(const complex<T> &z) { return z.real() * z.real() + z.imag() * z.imag(); }
template <class T> __device__ inline complex<T> conj(const complex<T> &z) { return complex<T>(z.real(), -z.imag()); }
template <class T> __device__ inline complex<T> polar(const T &radius, const T &angle = T(0)) {
    return complex<T>(radius * real_functions::cos_(angle), radius * real_functions::sin_(angle));
}

template <class T> __device__ inline complex<T> sqrt(const complex<T> &z) {
    using namespace real_functions;
    T x = fabs_(z.real()), size = abs(z);
    if (size == T(0)) return complex<T>(T(0), z.imag());
    // The larger part of the root is computed first, because the smaller part follows from it without cancellation.
    T large = sqrt_(T(0.5) * (size + x)), small = fabs_(z.imag()) / (T(2) * large);
    return z.real() >= T(0) ? complex<T>(large, copysign_(small, z.imag())) : complex<T>(small, copysign_(large, z.imag()));
}
template <class T> __device__ inline complex<T> exp(const complex<T> &z) {
    return polar<T>(real_functions::exp_(z.real()), z.imag());
}
template <class T> __device__ inline complex<T> log(const complex<T> &z) {
    return complex<T>(real_functions::log_(abs(z)), arg(z));
}
template <class T> __device__ inline complex<T> log10(const complex<T> &z) { return log(z) * T(0.434294481903251827651); }
template <class T> __device__ inline complex<T> pow(const complex<T> &z, const complex<T> &w) {
    if (z.real() == T(0) && z.imag() == T(0)) return w == T(0) ? complex<T>(T(1)) : complex<T>(T(0));
    return exp(w * log(z));
}
template <class T> __device__ inline complex<T> pow(const complex<T> &z, const T &w) { return pow(z, complex<T>(w)); }
template <class T> __device__ inline complex<T> pow(const T &z, const complex<T> &w) { return pow(complex<T>(z), w); }
template <class T> __device__ inline complex<T> pow(const complex<T> &z, int power) {
    unsigned left = power < 0 ? 0u - (unsigned)power : (unsigned)power;
    complex<T> square = z, result(T(1));
    for (; left; left >>= 1, square = square * square)
        if (left & 1) result = result * square;
    return power < 0 ? T(1) / result : result;
}
template <class T> __device__ inline complex<T> sin(const complex<T> &z) {
    using namespace real_functions;
    return complex<T>(sin_(z.real()) * cosh_(z.imag()), cos_(z.real()) * sinh_(z.imag()));
}
template <class T> __device__ inline complex<T> cos(const complex<T> &z) {
    using namespace real_functions;
    return complex<T>(cos_(z.real()) * cosh_(z.imag()), -sin_(z.real()) * sinh_(z.imag()));
}
template <class T> __device__ inline complex<T> sinh(const complex<T> &z) {
    using namespace real_functions;
    return complex<T>(sinh_(z.real()) * cos_(z.imag()), cosh_(z.real()) * sin_(z.imag()));
}
template <class T> __device__ inline complex<T> cosh(const complex<T> &z) {
    using namespace real_functions;
    return complex<T>(cosh_(z.real()) * cos_(z.imag()), sinh_(z.real()) * sin_(z.imag()));
}
// tanh is computed from the real functions tan and tanh, because sinh and cosh overflow for large arguments.
template <class T> __device__ inline complex<T> tanh(const complex<T> &z) {
    using namespace real_functions;
    T t = tan_(z.imag()), h = tanh_(z.real());
    return complex<T>(h, t) / complex<T>(T(1), h * t);
}
template <class T> __device__ inline complex<T> tan(const complex<T> &z) {
    complex<T> turned = tanh(complex<T>(-z.imag(), z.real()));
    return complex<T>(turned.imag(), -turned.real());
}

}
}

#endif
