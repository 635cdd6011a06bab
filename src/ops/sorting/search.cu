// Finds the positions of values among sorted elements, and counts the values of each bin.
typedef unsigned long long pygpu_number;

#if PYGPU_SEARCHES
// PYGPU_HELD is the maximum number of keys for which all keys are copied to shared memory. If there are more keys, they
// are read from global memory.
#if PYGPU_HELD
#define PYGPU_KEY_AT(place) held[place]
#define PYGPU_SORTED const pygpu_key *held
#define PYGPU_HOLD()                                                                                                            \
    __shared__ pygpu_key held[PYGPU_HELD];                                                                                     \
    for (unsigned at = threadIdx.x; at < length; at += PYGPU_THREADS) held[at] = pygpu_encode(sorted[at]);                     \
    __syncthreads()
#define PYGPU_HAND held
#else
#define PYGPU_KEY_AT(place) pygpu_encode(sorted[place])
#define PYGPU_SORTED const pygpu_element *sorted
#define PYGPU_HOLD()
#define PYGPU_HAND sorted
#endif

// Returns the number of sorted elements before a value; if `right` is set, including the elements that are equal to the
// value.
static __device__ inline pygpu_number pygpu_place(PYGPU_SORTED, pygpu_number length, pygpu_key key, int right) {
    pygpu_number first = 0;
    while (length) {
        const pygpu_number half = length / 2;
        const pygpu_key other = PYGPU_KEY_AT(first + half);
        const bool is_before = right ? !pygpu_less(key, other) : pygpu_less(other, key);
        first = is_before ? first + half + 1 : first;
        length = is_before ? length - half - 1 : half;
    }
    return first;
}
#endif

#if !PYGPU_COUNTS
extern "C" __global__ void __launch_bounds__(PYGPU_THREADS)
    pygpu_search_sorted(const pygpu_element *sorted, pygpu_number length, const pygpu_element *values, pygpu_number count,
                        long long *places, int right) {
    PYGPU_HOLD();
    const pygpu_number stride = (pygpu_number)gridDim.x * PYGPU_THREADS;
    for (pygpu_number at = (pygpu_number)blockIdx.x * PYGPU_THREADS + threadIdx.x; at < count; at += stride)
        places[at] = (long long)pygpu_place(PYGPU_HAND, length, pygpu_encode(values[at]), right);
}
#else
// Returns the bin of a value, or the number of bins if no bin contains the value. The last bin includes both of its
// edges.
#if PYGPU_SEARCHES
static __device__ inline pygpu_number pygpu_bin(PYGPU_SORTED, pygpu_number length, pygpu_element value) {
    const pygpu_key key = pygpu_encode(value);
    const pygpu_number place = pygpu_place(PYGPU_HAND, length, key, 1);
    if (place == 0) return length - 1;
    return place == length && !pygpu_differ(key, PYGPU_KEY_AT(length - 1)) ? length - 2 : place - 1;
}
#define PYGPU_BIN(value) pygpu_bin(PYGPU_HAND, length, value)
#else
#define PYGPU_HOLD()
#define PYGPU_BIN(value) ((pygpu_number)(long long)(value))
#endif

extern "C" __global__ void __launch_bounds__(PYGPU_THREADS)
    pygpu_count_places(const pygpu_element *sorted, pygpu_number length, const pygpu_element *values, pygpu_number count,
                       pygpu_number *counts, pygpu_number bins) {
    PYGPU_HOLD();
#if PYGPU_FEW
    __shared__ unsigned own[PYGPU_FEW];
    for (unsigned bin = threadIdx.x; bin < bins; bin += PYGPU_THREADS) own[bin] = 0;
    __syncthreads();
#endif
    const pygpu_number stride = (pygpu_number)gridDim.x * PYGPU_THREADS;
    for (pygpu_number at = (pygpu_number)blockIdx.x * PYGPU_THREADS + threadIdx.x; at < count; at += stride) {
        const pygpu_number bin = PYGPU_BIN(values[at]);
#if PYGPU_FEW
        if (bin < bins) atomicAdd(&own[bin], 1u);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < bins; bin += PYGPU_THREADS) {
        if (own[bin]) atomicAdd(&counts[bin], (pygpu_number)own[bin]);
#else
        if (bin < bins) atomicAdd(&counts[bin], (pygpu_number)1);
#endif
    }
}
#endif
