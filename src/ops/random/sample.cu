// Distributions other than those of fill.cu: element i of a call is computed from words that belong to number i after
// the stream's position. The macro PYGPU_DRAW calls a sampler with the arguments `words` and `parameters`.
struct pygpu_sample_task {
    pygpu_keys keys;
    double values[3];
    const double *arrays[3];
};

struct pygpu_parameters {
    double of[3];

    __device__ __forceinline__ pygpu_parameters(const pygpu_sample_task &task, pygpu_u64 i) {
        for (int j = 0; j < 3; j++) of[j] = PYGPU_HAS_ARRAYS && task.arrays[j] ? task.arrays[j][i] : task.values[j];
    }
};

#if PYGPU_FIRST
// Two elements take their first words from one block, and most elements need no further words. PYGPU_QUICK computes an
// element from its first words without loops and logarithms, or returns a number below 0. Elements that need further
// words wait in shared memory until each thread can compute one of them.

// Maximum number of waiting elements: all elements that the block computes in one pass, and those left over from
// earlier passes, which are fewer than the block's threads.
#define PYGPU_WAITING (3 * PYGPU_THREADS)

struct pygpu_pair {
    pygpu_u64 words[4];

    __device__ __forceinline__ pygpu_pair(const pygpu_place &place, pygpu_u64 pair, const pygpu_keys &keys) {
        const pygpu_words own(place, pair / 2, 12 + pair % 2, keys);
        for (int i = 0; i < 4; i++) words[i] = own.counter[i];
        pygpu_rounds(words, keys, 0);
    }
};

// The second argument of the launch bounds is the minimum number of thread blocks per multiprocessor. The compiler then
// moves some registers to memory, but the additional concurrent blocks save more time.
#if defined(__CUDA_ARCH__)
#define PYGPU_BOUNDS __launch_bounds__(PYGPU_THREADS, 4)
#else
#define PYGPU_BOUNDS __launch_bounds__(PYGPU_THREADS)
#endif

extern "C" __global__ void PYGPU_BOUNDS
    PYGPU_NAME(pygpu_out *out, pygpu_u64 count, const pygpu_place *kept, pygpu_place place, pygpu_sample_task task) {
    using namespace pygpu_random;
    __shared__ pygpu_u64 waiting[4][PYGPU_WAITING];
    __shared__ unsigned pushed;
    if (kept) place = *kept;
    if (threadIdx.x == 0) pushed = 0;
    __syncthreads();
    const pygpu_u64 begin = place.number / 2, pairs = (place.number + count + 1) / 2 - begin;
    const pygpu_u64 step = (pygpu_u64)gridDim.x * PYGPU_THREADS;
#if !PYGPU_HAS_ARRAYS
    const pygpu_parameters all(task, 0);
    const PYGPU_PREPARED_TYPE prepared = PYGPU_PREPARE(all.of);
#endif
    for (pygpu_u64 start = (pygpu_u64)blockIdx.x * PYGPU_THREADS;; start += step) {
        if (start + threadIdx.x < pairs) {
            const pygpu_u64 pair = begin + start + threadIdx.x;
            const pygpu_pair drawn(place, pair, task.keys);
#if PYGPU_FIRST == 2
            const double length = radius(drawn.words[0]);
            const Pair angle = turn(drawn.words[1]);
#endif
#pragma unroll
            for (int odd = 0; odd < 2; odd++) {
                const pygpu_u64 at = 2 * pair + odd, i = at - place.number;
                if (at < place.number || i >= count) continue;
#if PYGPU_HAS_ARRAYS
                const pygpu_parameters all(task, i);
                const PYGPU_PREPARED_TYPE prepared = PYGPU_PREPARE(all.of);
#endif
#if PYGPU_FIRST == 2
                const double x = length * (odd ? angle.sine : angle.cosine);
                const pygpu_u64 first[3] = {drawn.words[0], drawn.words[1], drawn.words[2 + odd]};
#else
                const double x = 0;
                const pygpu_u64 first[3] = {0, drawn.words[2 * odd], drawn.words[2 * odd + 1]};
#endif
                const double element = PYGPU_QUICK(prepared, all.of, x, first);
                if (element >= 0) {
                    out[i] = PYGPU_STORED(element);
                    continue;
                }
                const unsigned slot = atomicAdd(&pushed, 1u);
                for (int j = 0; j < 3; j++) waiting[j][slot] = first[j];
                waiting[3][slot] = i;
            }
        }
        __syncthreads();
        const bool is_last = start + step >= pairs;
#pragma unroll 1
        for (;;) {
            const unsigned left = pushed;
            if (left < PYGPU_THREADS && !(is_last && left)) break;
            const unsigned taken = left < PYGPU_THREADS ? left : PYGPU_THREADS;
            if (threadIdx.x < taken) {
                const unsigned slot = left - taken + threadIdx.x;
                const pygpu_u64 i = waiting[3][slot], at = place.number + i;
                pygpu_words words(place, at / 4, 8 + at % 4, task.keys);
                for (int j = 0; j < 3; j++) words.words[j + 1] = waiting[j][slot];
                words.used = PYGPU_FIRST == 2 ? 1 : 2;
                words.is_sine = PYGPU_FIRST == 2 && at % 2;
                const pygpu_parameters own(task, i);
                const double *const parameters = own.of;
                out[i] = (pygpu_out)(PYGPU_DRAW);
            }
            __syncthreads();
            if (threadIdx.x == 0) pushed = left - taken;
            __syncthreads();
        }
        if (is_last) break;
        __syncthreads();
    }
}
#else
extern "C" __global__ void PYGPU_NAME(pygpu_out *out, pygpu_u64 count, const pygpu_place *kept, pygpu_place place,
                                      pygpu_sample_task task) {
    if (kept) place = *kept;
    const pygpu_u64 step = (pygpu_u64)gridDim.x * PYGPU_THREADS;
    for (pygpu_u64 i = (pygpu_u64)blockIdx.x * PYGPU_THREADS + threadIdx.x; i < count; i += step) {
        const pygpu_u64 at = place.number + i;
        pygpu_words words(place, at / 4, 8 + at % 4, task.keys);
        const pygpu_parameters all(task, i);
        const double *const parameters = all.of;
        out[i] = (pygpu_out)(PYGPU_DRAW);
    }
}
#endif
