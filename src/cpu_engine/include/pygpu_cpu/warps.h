// Warp operations. The last lane to arrive computes the results of all lanes. The scheduler (runtime.cpp) determines
// for which lanes an operation waits.
#ifndef PYGPU_CPU_WARPS_H
#define PYGPU_CPU_WARPS_H

constexpr int warpSize = PYGPU_CPU_WARP_SIZE;
static_assert(warpSize == 32 || warpSize == 64, "a warp has 32 lanes, or 64 as on some GPUs of AMD");

namespace pygpu_cpu {

using lane = pygpu_cpu_lane;
using lanes = unsigned long long;
template <int> struct lane_mask_of { using type = unsigned; };
template <> struct lane_mask_of<64> { using type = unsigned long long; };
using lane_mask = lane_mask_of<warpSize>::type;

inline bool has(lanes set, unsigned index) { return index < 64 && (set >> index & 1); }

template <class Work> void each(lanes present, Work work) {
    for (unsigned index = 0; index < unsigned(warpSize); index++)
        if (has(present, index)) work(index);
}

// Returns the lane from which a lane reads in a shuffle. If that lane is outside of the reader's part of the warp, the
// reader reads its own value.
struct from_index {
    static unsigned source(unsigned me, const lane &l) { return (me & ~(l.width - 1)) | (l.argument & (l.width - 1)); }
};
struct from_below {
    static unsigned source(unsigned me, const lane &l) { return (me & (l.width - 1)) >= l.argument ? me - l.argument : me; }
};
struct from_above {
    static unsigned source(unsigned me, const lane &l) {
        return (me & (l.width - 1)) + (unsigned long long)l.argument < l.width ? me + l.argument : me;
    }
};
struct from_other {
    static unsigned source(unsigned me, const lane &l) { return (me ^ l.argument) <= (me | (l.width - 1)) ? me ^ l.argument : me; }
};

// Shuffles values. If the lane to read from does not take part, the result is undefined on a GPU; here the reader gets
// its own value.
template <class T, class From> void shuffle(lane *l, lanes present) {
    each(present, [&](unsigned me) {
        unsigned source = From::source(me, l[me]);
        *static_cast<T *>(l[me].out) = *static_cast<const T *>(l[has(present, source) ? source : me].in);
    });
}

template <class T> const T &input(const lane *l, unsigned index) { return *static_cast<const T *>(l[index].in); }

inline void nothing(lane *, lanes) {}

inline void ballot(lane *l, lanes present) {
    lanes set = 0;
    each(present, [&](unsigned i) { set |= lanes(input<int>(l, i) != 0) << i; });
    each(present, [&](unsigned i) { *static_cast<lanes *>(l[i].out) = set; });
}

// Returns to each lane the set of lanes with the same value.
template <class T> void match(lane *l, lanes present) {
    each(present, [&](unsigned me) {
        lanes set = 0;
        each(present, [&](unsigned i) { set |= lanes(!__builtin_memcmp(l[i].in, l[me].in, sizeof(T))) << i; });
        *static_cast<lanes *>(l[me].out) = set;
    });
}

template <class T, class Operation> void reduce(lane *l, lanes present) {
    T value{};
    bool first = true;
    each(present, [&](unsigned i) {
        value = first ? input<T>(l, i) : Operation::of(value, input<T>(l, i));
        first = false;
    });
    each(present, [&](unsigned i) { *static_cast<T *>(l[i].out) = value; });
}

struct sum { template <class T> static T of(T a, T b) { return T(unsigned(a) + unsigned(b)); } };
struct least { template <class T> static T of(T a, T b) { return b < a ? b : a; } };
struct most { template <class T> static T of(T a, T b) { return a < b ? b : a; } };
struct conjunction { template <class T> static T of(T a, T b) { return a & b; } };
struct disjunction { template <class T> static T of(T a, T b) { return a | b; } };
struct exclusion { template <class T> static T of(T a, T b) { return a ^ b; } };

struct who {
    lanes mask;
    bool converged;
};
constexpr who whoever_arrives = {0, true};
constexpr who named(lanes mask) { return {mask, false}; }

template <class Out, class In>
Out together(const char *name, void (*complete)(lane *, lanes), who participants, In in, unsigned argument, unsigned width,
             const char *file, int line) {
    Out out{};
    pygpu_cpu_warp_call call = {name, file, line, participants.converged, participants.mask, complete, {&in, &out, argument, width}};
    pygpu_cpu_warp(&call);
    return out;
}

template <class T> void can_be_shuffled() {
    static_assert(__is_trivially_copyable(T), "a shuffle moves values that can be copied byte by byte");
}

}

#define PYGPU_CPU_SHUFFLE(name, from, argument_type)                                                                           \
    template <class T> T name##_sync(unsigned long long mask, T value, argument_type argument, int width = warpSize,            \
                                     PYGPU_CPU_PLACE) {                                                                         \
        pygpu_cpu::can_be_shuffled<T>();                                                                                        \
        return pygpu_cpu::together<T>(#name "_sync", pygpu_cpu::shuffle<T, from>, pygpu_cpu::named(mask), value,                \
                                      unsigned(argument), unsigned(width), file, line);                                         \
    }                                                                                                                           \
    template <class T> T name(T value, argument_type argument, int width = warpSize, PYGPU_CPU_PLACE) {                         \
        pygpu_cpu::can_be_shuffled<T>();                                                                                        \
        return pygpu_cpu::together<T>(#name, pygpu_cpu::shuffle<T, from>, pygpu_cpu::whoever_arrives, value, unsigned(argument), \
                                      unsigned(width), file, line);                                                             \
    }
PYGPU_CPU_SHUFFLE(__shfl, pygpu_cpu::from_index, int)
PYGPU_CPU_SHUFFLE(__shfl_up, pygpu_cpu::from_below, unsigned)
PYGPU_CPU_SHUFFLE(__shfl_down, pygpu_cpu::from_above, unsigned)
PYGPU_CPU_SHUFFLE(__shfl_xor, pygpu_cpu::from_other, int)
#undef PYGPU_CPU_SHUFFLE

#define PYGPU_CPU_VOTE(name, participants)                                                                              \
    pygpu_cpu::together<pygpu_cpu::lanes>(name, pygpu_cpu::ballot, participants, int(predicate != 0), 0, warpSize, file, line)

PYGPU_CPU_FUNCTION pygpu_cpu::lane_mask __ballot_sync(unsigned long long mask, int predicate, PYGPU_CPU_PLACE) {
    return pygpu_cpu::lane_mask(PYGPU_CPU_VOTE("__ballot_sync", pygpu_cpu::named(mask)));
}
PYGPU_CPU_FUNCTION int __any_sync(unsigned long long mask, int predicate, PYGPU_CPU_PLACE) {
    return PYGPU_CPU_VOTE("__any_sync", pygpu_cpu::named(mask)) != 0;
}
PYGPU_CPU_FUNCTION int __all_sync(unsigned long long mask, int condition, PYGPU_CPU_PLACE) {
    int predicate = !condition;
    return PYGPU_CPU_VOTE("__all_sync", pygpu_cpu::named(mask)) == 0;
}
PYGPU_CPU_FUNCTION pygpu_cpu::lane_mask __ballot(int predicate, PYGPU_CPU_PLACE) {
    return pygpu_cpu::lane_mask(PYGPU_CPU_VOTE("__ballot", pygpu_cpu::whoever_arrives));
}
PYGPU_CPU_FUNCTION int __any(int predicate, PYGPU_CPU_PLACE) {
    return PYGPU_CPU_VOTE("__any", pygpu_cpu::whoever_arrives) != 0;
}
PYGPU_CPU_FUNCTION int __all(int condition, PYGPU_CPU_PLACE) {
    int predicate = !condition;
    return PYGPU_CPU_VOTE("__all", pygpu_cpu::whoever_arrives) == 0;
}
PYGPU_CPU_FUNCTION pygpu_cpu::lane_mask __activemask(PYGPU_CPU_PLACE) {
    int predicate = 1;
    return pygpu_cpu::lane_mask(PYGPU_CPU_VOTE("__activemask", pygpu_cpu::whoever_arrives));
}
#undef PYGPU_CPU_VOTE

PYGPU_CPU_FUNCTION void __syncwarp(unsigned long long mask = ~0ull, PYGPU_CPU_PLACE) {
    // A mask of 32 ones, which is CUDA's default argument, means the whole warp even if a warp has 64 lanes.
    pygpu_cpu::together<int>("__syncwarp", pygpu_cpu::nothing, pygpu_cpu::named(mask == 0xffffffffu ? ~0ull : mask), 0, 0, 0, file, line);
}

template <class T> pygpu_cpu::lane_mask __match_any_sync(unsigned long long mask, T value, PYGPU_CPU_PLACE) {
    return pygpu_cpu::lane_mask(pygpu_cpu::together<pygpu_cpu::lanes>(
        "__match_any_sync", pygpu_cpu::match<T>, pygpu_cpu::named(mask), value, 0, warpSize, file, line));
}
// Returns the mask if all lanes in it have the same value, otherwise 0. The lanes that take part are assumed to be
// those in the mask.
template <class T> pygpu_cpu::lane_mask __match_all_sync(unsigned long long mask, T value, int *all, PYGPU_CPU_PLACE) {
    pygpu_cpu::lanes present = __ballot_sync(mask, 1, file, line);
    pygpu_cpu::lanes equal = pygpu_cpu::together<pygpu_cpu::lanes>(
        "__match_all_sync", pygpu_cpu::match<T>, pygpu_cpu::named(mask), value, 0, warpSize, file, line);
    *all = equal == present;
    return pygpu_cpu::lane_mask(*all ? present : 0);
}

#define PYGPU_CPU_REDUCE(name, operation, ...)                                                                        \
    template <class T> T name(unsigned long long mask, T value, PYGPU_CPU_PLACE) {                                    \
        static_assert(pygpu_cpu::one_of<T, __VA_ARGS__>, #name " takes int or unsigned, as on a GPU");                \
        return pygpu_cpu::together<T>(#name, pygpu_cpu::reduce<T, operation>, pygpu_cpu::named(mask), value, 0, warpSize, \
                                      file, line);                                                                    \
    }
PYGPU_CPU_REDUCE(__reduce_add_sync, pygpu_cpu::sum, int, unsigned)
PYGPU_CPU_REDUCE(__reduce_min_sync, pygpu_cpu::least, int, unsigned)
PYGPU_CPU_REDUCE(__reduce_max_sync, pygpu_cpu::most, int, unsigned)
PYGPU_CPU_REDUCE(__reduce_and_sync, pygpu_cpu::conjunction, int, unsigned)
PYGPU_CPU_REDUCE(__reduce_or_sync, pygpu_cpu::disjunction, int, unsigned)
PYGPU_CPU_REDUCE(__reduce_xor_sync, pygpu_cpu::exclusion, int, unsigned)
#undef PYGPU_CPU_REDUCE

PYGPU_CPU_FUNCTION unsigned __lane_id() { return pygpu_cpu_lane_id(); }

#endif
