// Functions for communication within a warp, and the words in global memory by which thread blocks publish their
// counts.
#if PYGPU_WARP == 64
typedef unsigned long long pygpu_lanes;
#define PYGPU_COUNT_LANES(lanes) ((unsigned)__popcll(lanes))
#define PYGPU_FIRST_LANE(lanes) (__ffsll((long long)(lanes)) - 1)
#else
typedef unsigned pygpu_lanes;
#define PYGPU_COUNT_LANES(lanes) ((unsigned)__popc(lanes))
#define PYGPU_FIRST_LANE(lanes) (__ffs((int)(lanes)) - 1)
#endif

// HIP code uses the warp functions without a mask of lanes, because every HIP compiler supports this form.
#if defined(__HIP__) && !defined(__PYGPU_CPU__)
#define PYGPU_BALLOT(bit) ((pygpu_lanes)__ballot(bit))
#define PYGPU_SHUFFLE(value, lane) __shfl(value, lane)
#define PYGPU_SHUFFLE_UP(value, by) __shfl_up(value, by)
#define PYGPU_SHUFFLE_XOR(value, by) __shfl_xor(value, by)
#define PYGPU_SYNC_WARP() (__builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront"), __builtin_amdgcn_wave_barrier())
#define PYGPU_PEEK(word) __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define PYGPU_SAY(word, value) __hip_atomic_store(word, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#else
#define PYGPU_BALLOT(bit) ((pygpu_lanes)__ballot_sync(~(pygpu_lanes)0, bit))
#define PYGPU_SHUFFLE(value, lane) __shfl_sync(~(pygpu_lanes)0, value, lane)
#define PYGPU_SHUFFLE_UP(value, by) __shfl_up_sync(~(pygpu_lanes)0, value, by)
#define PYGPU_SHUFFLE_XOR(value, by) __shfl_xor_sync(~(pygpu_lanes)0, value, by)
#define PYGPU_SYNC_WARP() __syncwarp()
#define PYGPU_PEEK(word) (*(volatile const pygpu_number *)(word))
#define PYGPU_SAY(word, value) (*(volatile pygpu_number *)(word) = (value))
#endif
// On the CPU backend, a thread that polls a word must let the other threads run, one of which writes the word.
#ifdef __PYGPU_CPU__
#define PYGPU_YIELD() __threadfence()
#else
#define PYGPU_YIELD() ((void)0)
#endif

// A word that a tile publishes: a count, and above it two bits that encode whether the count includes all earlier
// tiles.
#define PYGPU_SHIFT (8 * sizeof(pygpu_number) - 2)
#define PYGPU_OF_TILE ((pygpu_number)1 << PYGPU_SHIFT)
#define PYGPU_UP_TO_TILE ((pygpu_number)2 << PYGPU_SHIFT)
#define PYGPU_NUMBER_OF(word) ((word) & (((pygpu_number)1 << PYGPU_SHIFT) - 1))
