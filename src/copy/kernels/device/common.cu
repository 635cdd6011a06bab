// One unit that is moved: UNIT bytes as an unsigned integer, or four of them. No header, no width of a warp: NVRTC, hiprtc
// and the CPU's compiler take it.
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

// Divides numbers below 2^31: a product and a shift, since an integer division costs as much as a copied element.
struct Divisor {
    move_u64 length, factor, shift;
    __device__ move_u32 quotient(move_u32 number) const {
        return (move_u32)((move_u64)number * (move_u32)factor >> (int)shift);
    }
};

// FILL are the bytes of a fill's value: of one unit, or of room for a period of several. Nothing is read then, and `number`, that
// of a unit along the last axis, says which one of the period it is. A copy reads its unit at `from`.
#if FILL
struct Value {
    Divisor period;
    Unit units[FILL / UNIT];
    __device__ const Unit &at(move_u64 number) const {
#if FILL == UNIT
        return units[0];
#elif WIDE
        return units[number % period.length];
#else
        return units[(move_u32)number - period.quotient((move_u32)number) * (move_u32)period.length];
#endif
    }
};
#define VALUE Value value;
#define UNIT_FROM(move, number, from) ((move).value.at(number))
#else
#define VALUE
#define UNIT_FROM(move, number, from) (*(const Unit *)(from))
#endif

// Distances are in bytes.
struct Axis {
    Divisor length;
    move_i64 to, from;
};
