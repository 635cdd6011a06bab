// Written by tools/random_kernels.py from standard_distributions.rs.
namespace pygpu_random {
PYGPU_FUNCTION double unit_of(u64 word);
PYGPU_FUNCTION double unit(Words & words);
PYGPU_FUNCTION double open_unit(u64 word);
PYGPU_FUNCTION double radius(u64 word);
PYGPU_FUNCTION double waiting_time(u64 word);
PYGPU_FUNCTION int interval_of(float number);
PYGPU_FUNCTION float polynomial(float number, int interval, float c0, float c1, float c2, float c3);
PYGPU_FUNCTION float negated_if(float x, float number);
PYGPU_FUNCTION double exponential(Words & words);
PYGPU_SHARED_DRAW double normal(Words & words);
PYGPU_FUNCTION double unit_of(u64 word) {
    return real(signed_(word >> 11)) * 1.1102230246251565e-16;
}
PYGPU_FUNCTION double unit(Words & words) {
    return unit_of(words.next());
}
PYGPU_FUNCTION double open_unit(u64 word) {
    return (real(signed_(word >> 12)) + 0.5) * 2.220446049250313e-16;
}
PYGPU_FUNCTION double radius(u64 word) {
    return root(-2.0 * ln_of_normal(open_unit(word), 0));
}
PYGPU_FUNCTION double waiting_time(u64 word) {
    return -ln_of_normal(open_unit(word), 0);
}
PYGPU_FUNCTION int interval_of(float number) {
    return bits32(number) & 0x7ff00000;
}
PYGPU_FUNCTION float polynomial(float number, int interval, float c0, float c1, float c2, float c3) {
    const float y = fabs32(number) - from_bits32(interval);
    return fma32(y, fma32(y, fma32(y, c3, c2), c1), c0);
}
PYGPU_FUNCTION float negated_if(float x, float number) {
    return from_bits32(bits32(x) ^ (bits32(number) & signed32(0x80000000u)));
}
PYGPU_FUNCTION double exponential(Words & words) {
    return waiting_time(words.next());
}
PYGPU_SHARED_DRAW double normal(Words & words) {
    const double length = radius(words.next());
    const Pair angle = turn(words.next());
    return length * choose(words.takes_sine(), angle.sine, angle.cosine);
}
}
