// A unit is an unsigned integer, or a structure of four 32-bit integers, with UNIT bytes. One load and one store copy a
// unit. This code includes no header and uses no warp size, so that NVRTC, hiprtc and the CPU's compiler accept it.
typedef unsigned int move_u32;
typedef unsigned long long move_u64;
typedef long long move_i64;
#if UNIT == 1
typedef unsigned char Unit;
#elif UNIT == 2
typedef unsigned short Unit;
#elif UNIT == 4
typedef unsigned int Unit;
#elif UNIT == 8
typedef unsigned long long Unit;
#else
struct alignas(16) Unit { unsigned int a, b, c, d; };
#endif

#define THREADS 256

// A fill (FILL is not 0) reads no memory: it repeats the array `units` of its parameter, which has a single unit, or
// all units of a period. `number` is the index of the target's unit along the last axis, and selects the unit of the
// period. A copy (FILL is 0) reads the unit at the address `from`.
#if FILL
struct Value {
    pygpu::divisor period;
    Unit units[FILL / UNIT];
    __device__ const Unit &at(move_u64 number) const {
#if FILL == UNIT
        return units[0];
#elif WIDE
        return units[number % period.length];
#else
        return units[(move_u32)number - period.quotient((move_u32)number) * period.length];
#endif
    }
};
#define VALUE Value value;
#define UNIT_FROM(move, number, from) ((move).value.at(number))
#else
#define VALUE
#define UNIT_FROM(move, number, from) (*(const Unit *)(from))
#endif

// In the array `step` of `Axes`, the first index selects the strides of the target (TO) or of the source (FROM).
enum { TO, FROM };

#if WIDE
typedef pygpu::wide_walk<DIMS, 2> Axes;
#else
typedef pygpu::far_walk<DIMS, 2> Axes;
#endif

// Moves both pointers to the unit with the linear index `number`.
__device__ inline void find(const Axes &axes, Axes::number number, char *&to, const char *&from) {
#pragma unroll
    for (int d = DIMS - 1; d >= 0; d--) {
        const move_i64 index = axes.index(number, d);
        to += index * axes.step[TO][d];
        from += index * axes.step[FROM][d];
    }
}
