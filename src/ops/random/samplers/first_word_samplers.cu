// Written by tools/random_kernels.py from first_word_samplers.rs.
namespace pygpu_random {
PYGPU_FUNCTION double quick_gamma(Cube cube, double shape, double scale, double x, u64 word);
PYGPU_FUNCTION double quick_count(Hat hat, u64 first, u64 second);
PYGPU_FUNCTION Hat binomial_hat(double n, double p);
PYGPU_FUNCTION double quick_binomial(Hat hat, double n, double p, u64 first, u64 second);
PYGPU_FUNCTION double quick_gamma(Cube cube, double shape, double scale, double x, u64 word) {
    const double drawn = gamma_proposed(cube, x, open_unit(word));
    return choose(shape >= 1.0 && shape < infinity() && drawn >= 0.0, scale * drawn, -1.0);
}
PYGPU_FUNCTION double quick_count(Hat hat, u64 first, u64 second) {
    const double u = unit_of(first) - 0.5;
    return choose(is_accepted(hat, u, open_unit(second)), candidate(hat, u), -1.0);
}
PYGPU_FUNCTION Hat binomial_hat(double n, double p) {
    return few_binomial_hat(n, choose(p > 0.5, 1.0 - p, p));
}
PYGPU_FUNCTION double quick_binomial(Hat hat, double n, double p, u64 first, u64 second) {
    const double count = quick_count(hat, first, second);
    return choose(p > 0.5 && count >= 0.0, n - count, count);
}
}
