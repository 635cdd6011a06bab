// Written by tools/random_kernels.py from continuous.rs.
namespace pygpu_random {
PYGPU_FUNCTION Cube gamma_cube(double shape);
PYGPU_FUNCTION double gamma_proposed(Cube cube, double x, double u);
PYGPU_SHARED_DRAW double standard_gamma(Words & words, double shape);
PYGPU_FUNCTION double gamma(Words & words, double shape, double scale);
PYGPU_FUNCTION double beta(Words & words, double a, double b);
PYGPU_FUNCTION double chisquare(Words & words, double df);
PYGPU_FUNCTION double f(Words & words, double dfnum, double dfden);
PYGPU_FUNCTION double standard_t(Words & words, double df);
PYGPU_FUNCTION double standard_cauchy(Words & words);
PYGPU_FUNCTION double gumbel(Words & words, double loc, double scale);
PYGPU_FUNCTION double laplace(Words & words, double loc, double scale);
PYGPU_FUNCTION double logistic(Words & words, double loc, double scale);
PYGPU_FUNCTION double lognormal(Words & words, double mean, double sigma);
PYGPU_FUNCTION double pareto(Words & words, double a);
PYGPU_FUNCTION double power_distribution(Words & words, double a);
PYGPU_FUNCTION double rayleigh(Words & words, double scale);
PYGPU_FUNCTION double weibull(Words & words, double a);
PYGPU_FUNCTION double triangular(Words & words, double left, double mode, double right);
PYGPU_FUNCTION double wald(Words & words, double mean, double scale);
PYGPU_FUNCTION double wrapped(double angle);
PYGPU_FUNCTION double vonmises(Words & words, double mu, double kappa);
static __constant__ double numbers_of_continuous[] = {
    0.0331,
    3e-103,
    3.141592653589793,
    6.283185307179586,
    1e-8,
    1e-5,
};
PYGPU_FUNCTION Cube gamma_cube(double shape) {
    const double d = choose(shape < 1.0, shape + 1.0, shape) - 1.0 / 3.0;
    return cube(1.0 / sqrt(9.0 * d), d);
}
PYGPU_FUNCTION double gamma_proposed(Cube cube, double x, double u) {
    const double root = fma(cube.c, x, 1.0);
    const double square = x * x;
    return choose(u < 1.0 - numbers_of_continuous[0] * square * square, cube.d * (root * root * root), -1.0);
}
PYGPU_SHARED_DRAW double standard_gamma(Words & words, double shape) {
    if (!(shape > 0.0) || !(shape < infinity())) {
        return shape;
    }
    const Cube cube = gamma_cube(shape);
    double drawn = -1.0;
    while (drawn < 0.0) {
        const double x = normal(words);
        const double u = open_unit(words.next());
        drawn = gamma_proposed(cube, x, u);
        const double root = fma(cube.c, x, 1.0);
        if (drawn < 0.0 && root > 0.0) {
            const double v = root * root * root;
            if (ln(u) < 0.5 * x * x + cube.d * (1.0 - v + ln(v))) {
                drawn = cube.d * v;
            }
        }
    }
    if (shape < 1.0) {
        drawn = exponential_function(-exponential(words) / shape) * drawn;
    }
    return drawn;
}
PYGPU_FUNCTION double gamma(Words & words, double shape, double scale) {
    return scale * standard_gamma(words, shape);
}
PYGPU_FUNCTION double beta(Words & words, double a, double b) {
    if (!(a > 0.0) || !(b > 0.0)) {
        return not_a_number();
    }
    if (a > 1.0 || b > 1.0) {
        const double x = standard_gamma(words, a);
        const double y = standard_gamma(words, b);
        return x / (x + y);
    }
    if (a < numbers_of_continuous[1] && b < numbers_of_continuous[1]) {
        return choose((a + b) * unit(words) < a, 1.0, 0.0);
    }
    for (;;) {
        const double u = open_unit(words.next());
        const double v = open_unit(words.next());
        const double ln_x = ln(u) / a;
        const double ln_y = ln(v) / b;
        const double x = exponential_function(ln_x);
        const double y = exponential_function(ln_y);
        if (x + y > 1.0) {
            continue;
        }
        if (x + y > 0.0) {
            return x / (x + y);
        }
        const double most = fmax(ln_x, ln_y);
        const double sum = exponential_function(ln_x - most) + exponential_function(ln_y - most);
        return exponential_function(ln_x - most - ln(sum));
    }
}
PYGPU_FUNCTION double chisquare(Words & words, double df) {
    return 2.0 * standard_gamma(words, 0.5 * df);
}
PYGPU_FUNCTION double f(Words & words, double dfnum, double dfden) {
    const double x = chisquare(words, dfnum);
    const double y = chisquare(words, dfden);
    return (x * dfden) / (y * dfnum);
}
PYGPU_FUNCTION double standard_t(Words & words, double df) {
    const double x = normal(words);
    if (df == infinity()) {
        return x;
    }
    return sqrt(0.5 * df) * x / sqrt(standard_gamma(words, 0.5 * df));
}
PYGPU_FUNCTION double standard_cauchy(Words & words) {
    const Pair angle = turn(words.next());
    return angle.sine / angle.cosine;
}
PYGPU_FUNCTION double gumbel(Words & words, double loc, double scale) {
    return loc - scale * ln(exponential(words));
}
PYGPU_FUNCTION double laplace(Words & words, double loc, double scale) {
    const double u = open_unit(words.next());
    if (u >= 0.5) {
        return loc - scale * ln(2.0 - u - u);
    }
    return loc + scale * ln(u + u);
}
PYGPU_FUNCTION double logistic(Words & words, double loc, double scale) {
    const double u = open_unit(words.next());
    return loc + scale * ln(u / (1.0 - u));
}
PYGPU_FUNCTION double lognormal(Words & words, double mean, double sigma) {
    return exponential_function(fma(sigma, normal(words), mean));
}
PYGPU_FUNCTION double pareto(Words & words, double a) {
    return exponential_minus_1(exponential(words) / a);
}
PYGPU_FUNCTION double power_distribution(Words & words, double a) {
    return exponential_function(-exponential(words) / a);
}
PYGPU_FUNCTION double rayleigh(Words & words, double scale) {
    return scale * radius(words.next());
}
PYGPU_FUNCTION double weibull(Words & words, double a) {
    if (a == 0.0) {
        return 0.0;
    }
    return power(exponential(words), 1.0 / a);
}
PYGPU_FUNCTION double triangular(Words & words, double left, double mode, double right) {
    const double base = right - left;
    const double left_base = mode - left;
    const double ratio = left_base / base;
    const double u = unit(words);
    if (u <= ratio) {
        return left + sqrt(u * (left_base * base));
    }
    return right - sqrt((1.0 - u) * ((right - mode) * base));
}
PYGPU_FUNCTION double wald(Words & words, double mean, double scale) {
    const double x = normal(words);
    const double u = unit(words);
    const double y = mean * (x * x);
    const double larger = mean + mean * ((y + sqrt(y * y + 4.0 * scale * y)) / (2.0 * scale));
    const double smaller = mean * (mean / larger);
    return choose(u * (mean + smaller) <= mean, smaller, larger);
}
PYGPU_FUNCTION double wrapped(double angle) {
    const double size = remainder_of(fabs(angle) + numbers_of_continuous[2], numbers_of_continuous[3]) - numbers_of_continuous[2];
    return choose(angle < 0.0, -size, size);
}
PYGPU_FUNCTION double vonmises(Words & words, double mu, double kappa) {
    if (!(kappa >= 0.0)) {
        return not_a_number();
    }
    if (kappa < numbers_of_continuous[4]) {
        return numbers_of_continuous[2] * (2.0 * unit(words) - 1.0);
    }
    if (kappa > 1e6) {
        return wrapped(mu + sqrt(1.0 / kappa) * normal(words));
    }
    double s = 1.0 / kappa + kappa;
    if (kappa >= numbers_of_continuous[5]) {
        const double r = 1.0 + sqrt(1.0 + 4.0 * kappa * kappa);
        const double rho = (r - sqrt(2.0 * r)) / (2.0 * kappa);
        s = (1.0 + rho * rho) / (2.0 * rho);
    }
    for (;;) {
        const double z = turn(words.next()).cosine;
        const double w = (1.0 + s * z) / (s + z);
        const double y = kappa * (s - w);
        const double v = open_unit(words.next());
        if (y * (2.0 - y) - v >= 0.0 || ln(y / v) + 1.0 - y >= 0.0) {
            const double angle = arc_cosine(w);
            return wrapped(mu + choose(words.next() >> 63 == 1, -angle, angle));
        }
    }
}
}
