struct pygpu_tile {
    // Shared memory is declared as raw bytes, because the type of the elements may have constructors, which shared
    // variables must not have.
    scan_type *item, *sum;

    // One unused element follows every 32 elements in shared memory. It avoids bank conflicts between threads that read
    // distant elements.
    static __device__ unsigned place(unsigned at) { return at + at / 32; }
    __device__ scan_type &at(unsigned place_of) { return item[place(place_of)]; }
};

#define PYGPU_SCAN_SHARED                                                                                      \
    __shared__ pygpu::bytes pygpu_items[((PYGPU_THREADS * PYGPU_EACH + PYGPU_THREADS * PYGPU_EACH / 32 + 1) * sizeof(scan_type) + 15) / 16]; \
    __shared__ pygpu::bytes pygpu_sums[(PYGPU_THREADS * sizeof(scan_type) + 15) / 16];                                    \
    pygpu_tile tile = {(scan_type *)pygpu_items, (scan_type *)pygpu_sums};                                     \
    unsigned tid = threadIdx.x;

// Scans the elements of a tile in place: each element is replaced by the combination of all elements up to and
// including itself. Every thread of the block must call this function.
static __device__ inline void pygpu_scan_tile(pygpu_tile tile, unsigned count) {
    unsigned tid = threadIdx.x, first = tid * PYGPU_EACH;
    unsigned own = first < count ? (count - first < PYGPU_EACH ? count - first : PYGPU_EACH) : 0;
    for (unsigned k = 1; k < own; k++) tile.at(first + k) = pygpu_joined(tile.at(first + k - 1), tile.at(first + k));
    if (own) tile.sum[tid] = tile.at(first + own - 1);
    __syncthreads();
    unsigned filled = (count + PYGPU_EACH - 1) / PYGPU_EACH;
    for (unsigned reach = 1; reach < filled; reach *= 2) {
        bool joins = tid >= reach && tid < filled;
        scan_type joined = tile.sum[joins ? tid - reach : 0];
        if (joins) joined = pygpu_joined(joined, tile.sum[tid]);
        __syncthreads();
        if (joins) tile.sum[tid] = joined;
        __syncthreads();
    }
    if (tid > 0)
        for (unsigned k = 0; k < own; k++) tile.at(first + k) = pygpu_joined(tile.sum[tid - 1], tile.at(first + k));
    __syncthreads();
}

static __device__ inline unsigned pygpu_load(pygpu_tile tile, const char *from, long long stride, size_t start, size_t end) {
    size_t left = end - start;
    unsigned count = left < PYGPU_THREADS * PYGPU_EACH ? (unsigned)left : PYGPU_THREADS * PYGPU_EACH;
    for (unsigned k = threadIdx.x; k < count; k += PYGPU_THREADS)
        tile.at(k) = *(const scan_type *)(from + (long long)(start + k) * stride);
    __syncthreads();
    return count;
}

extern "C" __global__ void PYGPU_NAME_join(const char *from, long long stride, size_t n, size_t part, scan_type *parts) {
    PYGPU_SCAN_SHARED
    size_t start = part * blockIdx.x, end = start + part < n ? start + part : n;
    if (start >= n) return;
    for (size_t at = start; at < end; at += PYGPU_THREADS * PYGPU_EACH) {
        unsigned count = pygpu_load(tile, from, stride, at, end);
        pygpu_scan_tile(tile, count);
        if (tid == 0) parts[blockIdx.x] = at == start ? tile.at(count - 1) : pygpu_joined(parts[blockIdx.x], tile.at(count - 1));
        __syncthreads();
    }
}

extern "C" __global__ void PYGPU_NAME_middle(scan_type *parts, size_t n) {
    PYGPU_SCAN_SHARED
    for (size_t at = 0; at < n; at += PYGPU_THREADS * PYGPU_EACH) {
        unsigned count = pygpu_load(tile, (const char *)parts, sizeof(scan_type), at, n);
        pygpu_scan_tile(tile, count);
        for (unsigned k = tid; k < count; k += PYGPU_THREADS)
            parts[at + k] = at ? pygpu_joined(parts[at - 1], tile.at(k)) : tile.at(k);
        __syncthreads();
    }
}

extern "C" __global__ void PYGPU_NAME_final(const char *from, long long stride, char *to, long long to_stride, size_t n, size_t part,
                                      const scan_type *parts) {
    PYGPU_SCAN_SHARED
    __shared__ pygpu::bytes pygpu_before[(2 * sizeof(scan_type) + 15) / 16];
    scan_type *before = (scan_type *)pygpu_before;
    size_t start = part * blockIdx.x, end = start + part < n ? start + part : n;
    if (start >= n) return;
    if (tid == 0 && start) before[0] = parts[blockIdx.x - 1];
    bool is_first = start == 0;
    unsigned turn = 0;
    for (size_t at = start; at < end; at += PYGPU_THREADS * PYGPU_EACH) {
        unsigned count = pygpu_load(tile, from, stride, at, end);
        pygpu_scan_tile(tile, count);
        for (unsigned k = tid; k < count; k += PYGPU_THREADS) {
            scan_type *place = (scan_type *)(to + (long long)(at + k) * to_stride);
#if PYGPU_EXCLUSIVE
            if (k == 0)
                *place = is_first ? pygpu_neutral() : before[turn];
            else
                *place = is_first ? tile.at(k - 1) : pygpu_joined(before[turn], tile.at(k - 1));
#else
            *place = is_first ? tile.at(k) : pygpu_joined(before[turn], tile.at(k));
#endif
        }
        // `before` has two elements: other threads still read the one at index `turn`, so the new value is stored in
        // the other one.
        if (tid == 0) before[1 - turn] = is_first ? tile.at(count - 1) : pygpu_joined(before[turn], tile.at(count - 1));
        turn = 1 - turn;
        is_first = false;
        __syncthreads();
    }
}
