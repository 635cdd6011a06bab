// From xsf/cephes/polevl.h, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.
// Translated into C++ by SciPy developers in 2024.
// Copyright 1984, 1987, 1988 by Stephen L. Moshier
namespace pygpu_xsf {
__device__ inline double polevl(double x, const double coef[], int N) {
    double ans;
    int i;
    const double *p;
    p = coef;
    ans = *p++;
    i = N;
    do {
        ans = multiply_add(ans, x, *p++);
    } while (--i);
    return (ans);
}
__device__ inline double p1evl(double x, const double coef[], int N) {
    double ans;
    const double *p;
    int i;
    p = coef;
    ans = x + *p++;
    i = N - 1;
    do
        ans = multiply_add(ans, x, *p++);
    while (--i);
    return (ans);
}
static __device__ __noinline__ double ratevl(double x, const double num[], int M, const double denom[], int N) {
        int i, dir;
        double y, num_ans, denom_ans;
        double absx = ::fabs(x);
        const double *p;
        if (absx > 1) {
            dir = -1;
            p = num + M;
            y = 1 / x;
        } else {
            dir = 1;
            p = num;
            y = x;
        }
        num_ans = *p;
        p += dir;
#pragma unroll 1
        for (i = 1; i <= M; i++) {
            num_ans = multiply_add(num_ans, y, *p);
            p += dir;
        }
        if (absx > 1) {
            p = denom + N;
        } else {
            p = denom;
        }
        denom_ans = *p;
        p += dir;
#pragma unroll 1
        for (i = 1; i <= N; i++) {
            denom_ans = multiply_add(denom_ans, y, *p);
            p += dir;
        }
        if (absx > 1) {
            i = M - N;
            return call_pow(x, i) * num_ans / denom_ans;
        } else {
            return num_ans / denom_ans;
        }
    }
}
