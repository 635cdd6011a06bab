// The exponential integral E1 for float: by a fitted polynomial for x up to 1, otherwise by formula 5.1.56 of
// Abramowitz and Stegun.
namespace pygpu_special {

__device__ inline float exp1(float x) {
    if (x <= 1) {
        const float c[] = {-0.000148388033f, 0.00155354745f, -0.0103351101f, 0.0555238314f, -0.249993801f, 0.999999523f,
                           -0.577215672f};
        return polynomial(x, c) - log(x);
    }
    const float above[] = {0.2677737343f, 8.6347608925f, 18.0590169730f, 8.5733287401f, 1.0f};
    const float below[] = {3.9584969228f, 21.0996530827f, 25.6329561486f, 9.5733223454f, 1.0f};
    float r = 1 / x;
    return exp(-x) * r * (polynomial(r, above) / polynomial(r, below));
}

}
