// Written by tools/random_kernels.py from units.rs.
namespace pygpu_random {
PYGPU_FUNCTION double unit(Words & words);
PYGPU_FUNCTION double open_unit(u64 word);
PYGPU_FUNCTION double radius(u64 word);
PYGPU_FUNCTION double waiting_time(u64 word);
PYGPU_FUNCTION float open_unit32(unsigned word);
PYGPU_FUNCTION float radius32(unsigned word, unsigned angle);
PYGPU_FUNCTION float waiting_time32(unsigned word);
PYGPU_FUNCTION double exponential(Words & words);
PYGPU_SHARED double normal(Words & words);
PYGPU_FUNCTION double unit(Words & words) {
    return real(signed_(words.next() >> 11)) * 1.1102230246251565e-16;
}
PYGPU_FUNCTION double open_unit(u64 word) {
    return (real(signed_(word >> 12)) + 0.5) * 2.220446049250313e-16;
}
PYGPU_FUNCTION double radius(u64 word) {
    return sqrt(-2.0 * ln(open_unit(word)));
}
PYGPU_FUNCTION double waiting_time(u64 word) {
    return -ln(open_unit(word));
}
PYGPU_FUNCTION float open_unit32(unsigned word) {
    return fma32(real_of_word32(word), 2.3283064365386963e-10f, 1.1641532182693481e-10f);
}
PYGPU_FUNCTION float radius32(unsigned word, unsigned angle) {
    const float rest = open_unit32(word);
    const float length = root32(minus_2_ln32(open_unit32(less32(0xffffffffu, word)), rest));
    return from_bits32(bits32(length) ^ (signed32(angle) & signed32(0x80000000u)));
}
PYGPU_FUNCTION float waiting_time32(unsigned word) {
    return 0.5f * minus_2_ln32(open_unit32(word), open_unit32(less32(0xffffffffu, word)));
}
PYGPU_FUNCTION double exponential(Words & words) {
    return waiting_time(words.next());
}
PYGPU_SHARED double normal(Words & words) {
    const double length = radius(words.next());
    return length * turn(words.next()).cosine;
}
}
