// Sorts rows that fit into the shared memory of one thread block: PYGPU_CAPACITY keys of one or several rows, each
// padded to `1 << log` keys with the greatest key. Uses Batcher's bitonic network (1968). Equal keys are ordered by
// their positions, so the sort is stable.
struct pygpu_row_item {
    pygpu_key key;
#if PYGPU_PLACES
    unsigned place;
#endif
};

static __device__ inline pygpu_row_item pygpu_item_at(const pygpu_key *keys, const unsigned *places, unsigned at) {
    pygpu_row_item item;
    item.key = keys[at];
#if PYGPU_PLACES
    item.place = places[at];
#endif
    return item;
}

static __device__ inline void pygpu_put_item(pygpu_key *keys, unsigned *places, unsigned at, const pygpu_row_item &item) {
    keys[at] = item.key;
#if PYGPU_PLACES
    places[at] = item.place;
#endif
}

static __device__ inline bool pygpu_stands_behind(const pygpu_row_item &a, const pygpu_row_item &b) {
#if PYGPU_PLACES
    return pygpu_less(b.key, a.key) || (!pygpu_less(a.key, b.key) && a.place > b.place);
#else
    return pygpu_less(b.key, a.key);
#endif
}

extern "C" __global__ void __launch_bounds__(PYGPU_THREADS)
    pygpu_sort_rows(const pygpu_element *from, pygpu_element *values, long long *order, size_t rows, unsigned count, unsigned log) {
    __shared__ pygpu_key keys[PYGPU_CAPACITY];
    __shared__ unsigned places[PYGPU_PLACES ? PYGPU_CAPACITY : 1];
    const unsigned tid = threadIdx.x, in_row = 1u << log, last = in_row - 1;
    const size_t first = (size_t)blockIdx.x * (PYGPU_CAPACITY >> log);
    for (unsigned at = tid; at < PYGPU_CAPACITY; at += PYGPU_THREADS) {
        const size_t row = first + (at >> log);
        const unsigned place = at & last;
        keys[at] = row < rows && place < count ? pygpu_encode(from[row * count + place]) : pygpu_greatest();
#if PYGPU_PLACES
        places[at] = place;
#endif
    }
    for (unsigned size = 1; size <= log; size++) {
        for (unsigned reach = size; reach-- > 0;) {
            __syncthreads();
            for (unsigned pair = tid; pair < PYGPU_CAPACITY / 2; pair += PYGPU_THREADS) {
                const unsigned low = pair & ((1u << reach) - 1), at = 2 * pair - low, other = at + (1u << reach);
                const pygpu_row_item a = pygpu_item_at(keys, places, at), b = pygpu_item_at(keys, places, other);
                // In the last stage of the bitonic network, all rows are sorted in ascending order; in earlier stages,
                // every second part is sorted in descending order.
                const bool is_up = size == log || !(at >> size & 1);
                if (is_up ? pygpu_stands_behind(a, b) : pygpu_stands_behind(b, a)) {
                    pygpu_put_item(keys, places, at, b);
                    pygpu_put_item(keys, places, other, a);
                }
            }
        }
    }
    __syncthreads();
    for (unsigned at = tid; at < PYGPU_CAPACITY; at += PYGPU_THREADS) {
        const size_t row = first + (at >> log);
        const unsigned place = at & last;
        if (row < rows && place < count) {
#if PYGPU_PLACES
            // Because 0 and -0 have the same key, an element is not decoded from its key, but read from the input
            // again.
            if (values) values[row * count + place] = from[row * count + places[at]];
            order[row * count + place] = places[at];
#else
            values[row * count + place] = pygpu_decode(keys[at]);
#endif
        }
    }
}
