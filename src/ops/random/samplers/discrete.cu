// Written by tools/random_kernels.py from discrete.rs.
namespace pygpu_random {
PYGPU_FUNCTION i64 bounded(Words & words, double base, double range);
PYGPU_FUNCTION double candidate(Hat hat, double u);
PYGPU_FUNCTION bool is_accepted(Hat hat, double u, double v);
PYGPU_FUNCTION Hat poisson_hat(double mean);
PYGPU_SHARED_DRAW i64 poisson(Words & words, double mean);
PYGPU_FUNCTION i64 negative_binomial(Words & words, double n, double p);
PYGPU_FUNCTION Hat few_binomial_hat(double n, double p);
PYGPU_FUNCTION double few_binomial(Words & words, double n, double p);
PYGPU_FUNCTION i64 binomial(Words & words, double n, double p);
PYGPU_FUNCTION i64 geometric(Words & words, double p);
PYGPU_FUNCTION i64 logseries(Words & words, double p);
PYGPU_FUNCTION i64 zipf(Words & words, double a);
PYGPU_FUNCTION double ln_factorial(double k);
PYGPU_FUNCTION double hypergeometric_one_by_one(Words & words, double good, double bad, double sample);
PYGPU_FUNCTION double hypergeometric_ratio(Words & words, double good, double bad, double sample);
PYGPU_FUNCTION i64 hypergeometric(Words & words, double good, double bad, double sample);
PYGPU_FUNCTION double noncentral_chisquare(Words & words, double df, double nonc);
PYGPU_FUNCTION double noncentral_f(Words & words, double dfnum, double dfden, double nonc);
static __constant__ double numbers_of_discrete[] = {
    0.07,
    0.931,
    2.53,
    0.9277,
    3.6224,
    0.059,
    0.02483,
    0.43,
    9.2e18,
    1.1239,
    1.1328,
    3.4,
    0.013,
    1.15,
    0.92,
    4.2,
    0.0873,
    0.0248,
    0.01,
    2.83,
    5.1,
    1.7155277699214135,
    0.8989161620588988,
};
PYGPU_FUNCTION i64 bounded(Words & words, double base, double range) {
    const u64 count = bits(range);
    u64 x = words.next();
    if (count != 0) {
        const u64 threshold = less(0, count) % count;
        while (low_product(x, count) < threshold) {
            x = words.next();
        }
        x = high_product(x, count);
    }
    return signed_(plus(bits(base), x));
}
PYGPU_FUNCTION double candidate(Hat hat, double u) {
    return floor((quotient(2.0 * hat.a, 0.5 - fabs(u)) + hat.b) * u + hat.center);
}
PYGPU_FUNCTION bool is_accepted(Hat hat, double u, double v) {
    return 0.5 - fabs(u) >= numbers_of_discrete[0] && v <= hat.least;
}
PYGPU_FUNCTION Hat poisson_hat(double mean) {
    const double b = numbers_of_discrete[1] + numbers_of_discrete[2] * sqrt(mean);
    const double least = choose(mean >= 10.0 && mean <= 1099511627776.0, numbers_of_discrete[3] - numbers_of_discrete[4] / (b - 2.0), -1.0);
    return hat(-numbers_of_discrete[5] + numbers_of_discrete[6] * b, b, mean + numbers_of_discrete[7], least);
}
PYGPU_SHARED_DRAW i64 poisson(Words & words, double mean) {
    if (!(mean > 0.0)) {
        return 0;
    }
    if (mean < 10.0) {
        const double u = unit(words);
        double count = 0.0;
        double p = exponential_function(-mean);
        double sum = p;
        while (u > sum && count < 200.0) {
            count += 1.0;
            p = p * (mean / count);
            sum += p;
        }
        return whole(count);
    }
    if (mean > 1099511627776.0) {
        return whole(fmax(floor(fmin(mean, numbers_of_discrete[8]) + sqrt(fmin(mean, numbers_of_discrete[8])) * normal(words) + 0.5), 0.0));
    }
    const Hat hat = poisson_hat(mean);
    const double logarithm = ln(mean);
    const double inverse = numbers_of_discrete[9] + numbers_of_discrete[10] / (hat.b - numbers_of_discrete[11]);
    for (;;) {
        const double u = unit(words) - 0.5;
        const double v = open_unit(words.next());
        const double us = 0.5 - fabs(u);
        const double count = candidate(hat, u);
        if (is_accepted(hat, u, v)) {
            return whole(count);
        }
        if (count < 0.0 || (us < numbers_of_discrete[12] && v > us)) {
            continue;
        }
        if (ln(v * inverse / (hat.a / (us * us) + hat.b)) <= count * logarithm - mean - ln_gamma(count + 1.0)) {
            return whole(count);
        }
    }
}
PYGPU_FUNCTION i64 negative_binomial(Words & words, double n, double p) {
    const double mean = (1.0 - p) / p * standard_gamma(words, n);
    return poisson(words, mean);
}
PYGPU_FUNCTION Hat few_binomial_hat(double n, double p) {
    const double mean = n * p;
    const double b = numbers_of_discrete[13] + numbers_of_discrete[2] * sqrt(mean * (1.0 - p));
    const double least = choose(mean >= 10.0 && n <= 1099511627776.0, numbers_of_discrete[14] - numbers_of_discrete[15] / b, -1.0);
    return hat(-numbers_of_discrete[16] + numbers_of_discrete[17] * b + numbers_of_discrete[18] * p, b, mean + 0.5, least);
}
PYGPU_FUNCTION double few_binomial(Words & words, double n, double p) {
    const double q = 1.0 - p;
    const double mean = n * p;
    if (mean < 10.0) {
        const double start = exponential_function(n * ln_1p(-p));
        const double most = fmin(n, floor(mean + 10.0 * sqrt(mean * q + 1.0)));
        for (;;) {
            double u = unit(words);
            double count = 0.0;
            double chance = start;
            while (u > chance && count <= most) {
                count += 1.0;
                u = u - chance;
                chance = ((n - count + 1.0) * p * chance) / (count * q);
            }
            if (count <= most) {
                return count;
            }
        }
    }
    const double deviation = sqrt(mean * q);
    if (n > 1099511627776.0) {
        return fmin(fmax(floor(mean + deviation * normal(words) + 0.5), 0.0), n);
    }
    const Hat hat = few_binomial_hat(n, p);
    const double ratio = p / q;
    const double alpha = (numbers_of_discrete[19] + numbers_of_discrete[20] / hat.b) * deviation;
    const double m = floor((n + 1.0) * p);
    const double errors = stirling_error(m) + stirling_error(n - m);
    for (;;) {
        const double u = unit(words) - 0.5;
        const double v = open_unit(words.next());
        const double us = 0.5 - fabs(u);
        const double k = candidate(hat, u);
        if (is_accepted(hat, u, v)) {
            return k;
        }
        if (k < 0.0 || k > n) {
            continue;
        }
        const double height = ln(v * alpha / (hat.a / (us * us) + hat.b));
        const double at_m = (m + 0.5) * ln((m + 1.0) / (ratio * (n - m + 1.0)));
        const double at_k = (k + 0.5) * ln(ratio * (n - k + 1.0) / (k + 1.0));
        const double both = (n + 1.0) * ln((n - m + 1.0) / (n - k + 1.0));
        if (height <= at_m + both + at_k + errors - stirling_error(k) - stirling_error(n - k)) {
            return k;
        }
    }
}
PYGPU_FUNCTION i64 binomial(Words & words, double n, double p) {
    if (!(n > 0.0) || !(p > 0.0) || p > 1.0) {
        return 0;
    }
    const bool is_many = p > 0.5;
    const double count = few_binomial(words, n, choose(is_many, 1.0 - p, p));
    return whole(choose(is_many, n - count, count));
}
PYGPU_FUNCTION i64 geometric(Words & words, double p) {
    const double time = exponential(words);
    if (!(p > 0.0) || p >= 1.0) {
        return 1;
    }
    return whole(fmax(-floor(time / ln_1p(-p)), 1.0));
}
PYGPU_FUNCTION i64 logseries(Words & words, double p) {
    if (!(p > 0.0) || p >= 1.0) {
        return 1;
    }
    const double r = ln_1p(-p);
    for (;;) {
        const double v = open_unit(words.next());
        if (v >= p) {
            return 1;
        }
        const double q = -exponential_minus_1(r * open_unit(words.next()));
        if (v <= q * q) {
            const double count = floor(1.0 + ln(v) / ln(q));
            if (count >= 1.0) {
                return whole(count);
            }
            continue;
        }
        if (v >= q) {
            return 1;
        }
        return 2;
    }
}
PYGPU_FUNCTION i64 zipf(Words & words, double a) {
    if (!(a > 1.0) || a >= 1025.0) {
        return 1;
    }
    const double rest = a - 1.0;
    const double b = power(2.0, rest);
    const double least = power(9223372036854775807.0, -rest);
    for (;;) {
        const double u = open_unit(words.next());
        const double v = unit(words);
        const double x = floor(power(u * least + (1.0 - u), -1.0 / rest));
        if (!(x >= 1.0) || x >= 9223372036854775807.0) {
            continue;
        }
        const double t = power(1.0 + 1.0 / x, rest);
        if (v * x * (t - 1.0) / (b - 1.0) <= t / b) {
            return whole(x);
        }
    }
}
PYGPU_FUNCTION double ln_factorial(double k) {
    return ln_gamma(k + 1.0);
}
PYGPU_FUNCTION double hypergeometric_one_by_one(Words & words, double good, double bad, double sample) {
    double left = sample;
    double total = good + bad;
    double good_left = good;
    while (left > 0.0 && good_left > 0.0 && total > good_left) {
        if (real(signed_(high_product(words.next(), unsigned_(whole(total))))) < good_left) {
            good_left = good_left - 1.0;
        }
        total = total - 1.0;
        left = left - 1.0;
    }
    if (total == good_left) {
        good_left = good_left - left;
    }
    return good - good_left;
}
PYGPU_FUNCTION double hypergeometric_ratio(Words & words, double good, double bad, double sample) {
    const double total = good + bad;
    const double fewer = fmin(good, bad);
    const double more = fmax(good, bad);
    const double p = fewer / total;
    const double q = more / total;
    const double a = sample * p + 0.5;
    const double deviation = sqrt((total - sample) * sample * p * q / (total - 1.0) + 0.5);
    const double h = numbers_of_discrete[21] * deviation + numbers_of_discrete[22];
    const double m = floor((sample + 1.0) * (fewer + 1.0) / (total + 2.0));
    const double g = ln_factorial(m) + ln_factorial(fewer - m) + ln_factorial(sample - m) + ln_factorial(more - sample + m);
    const double b = fmin(fmin(sample, fewer) + 1.0, floor(a + 16.0 * deviation));
    for (;;) {
        const double u = open_unit(words.next());
        const double v = unit(words);
        const double x = a + h * (v - 0.5) / u;
        if (x < 0.0 || x >= b) {
            continue;
        }
        const double k = floor(x);
        const double terms = ln_factorial(k) + ln_factorial(fewer - k) + ln_factorial(sample - k);
        const double t = g - (terms + ln_factorial(more - sample + k));
        if (u * (4.0 - u) - 3.0 <= t) {
            return choose(good > bad, sample - k, k);
        }
        if (u * (u - t) >= 1.0) {
            continue;
        }
        if (2.0 * ln(u) <= t) {
            return choose(good > bad, sample - k, k);
        }
    }
}
PYGPU_FUNCTION i64 hypergeometric(Words & words, double good, double bad, double sample) {
    const double total = good + bad;
    if (!(good > 0.0) || !(sample > 0.0) || !(bad >= 0.0) || sample > total) {
        return 0;
    }
    const bool is_many = sample > total - sample;
    const double fewer = choose(is_many, total - sample, sample);
    if (fewer < 10.0) {
        const double few = hypergeometric_one_by_one(words, good, bad, fewer);
        return whole(choose(is_many, good - few, few));
    }
    const double count = hypergeometric_ratio(words, good, bad, fewer);
    return whole(choose(is_many, good - count, count));
}
PYGPU_FUNCTION double noncentral_chisquare(Words & words, double df, double nonc) {
    if (nonc == 0.0) {
        return chisquare(words, df);
    }
    if (df > 1.0) {
        const double x = chisquare(words, df - 1.0);
        const double y = normal(words) + sqrt(nonc);
        return x + y * y;
    }
    if (!(nonc > 0.0)) {
        return not_a_number();
    }
    const double count = real(poisson(words, 0.5 * nonc));
    return chisquare(words, df + 2.0 * count);
}
PYGPU_FUNCTION double noncentral_f(Words & words, double dfnum, double dfden, double nonc) {
    const double x = noncentral_chisquare(words, dfnum, nonc);
    const double y = chisquare(words, dfden);
    return (x * dfden) / (y * dfnum);
}
}
