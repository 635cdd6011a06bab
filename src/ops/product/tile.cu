// Tiled matrix products: a thread block computes PYGPU_BM rows and PYGPU_BN columns of a result, and each of its
// threads computes PYGPU_TM by PYGPU_TN of these elements in registers. Shared memory contains PYGPU_BK elements of
// both operands along the inner axis, while threads load the next PYGPU_BK elements into registers. Operands may have
// any strides: threads together read contiguous elements, along the inner axis or across it.
#define PYGPU_THREADS ((PYGPU_BM / PYGPU_TM) * (PYGPU_BN / PYGPU_TN))
// PYGPU_QUAD is the number of elements that one load from shared memory reads. PYGPU_PAD is the number of elements in
// 16 bytes, by which each row in shared memory is padded. The padding keeps rows aligned and distributes them over the
// banks.
#define PYGPU_QUAD (16 / PYGPU_BYTES < 4 ? 16 / PYGPU_BYTES : 4)
#define PYGPU_PAD (16 / PYGPU_BYTES)
// Number of thread blocks that a multiprocessor's registers suffice to run concurrently.
#define PYGPU_AT_ONCE (PYGPU_THREADS == 256 ? 2 : 384 / PYGPU_THREADS)
// Number of rows of tiles in a band. Consecutive thread blocks process one band, so that its operands stay in the
// caches.
#define PYGPU_BAND 8

// The elements that one thread reads from an operand's tile with ROWS rows. For the second operand, *rows* means
// columns of the matrix. If ALONG is set, packs (the elements of one load) extend along the inner axis, and consecutive
// packs of a thread are APART rows apart. Otherwise packs extend across the inner axis, and are APART elements apart
// along this axis.
template <class Pack, int ROWS, int V, bool ALONG> struct pygpu_reader {
    enum { ACROSS = ALONG ? PYGPU_BK / V : ROWS / V, APART = PYGPU_THREADS / ACROSS, PACKS = ROWS * PYGPU_BK / V / PYGPU_THREADS };
    Pack held[PACKS];
    const char *next;
    long long apart, forth;
    int row, depth;
    unsigned inside, present;

    __device__ pygpu_reader(const char *first, long long rows, long long row_step, long long step, int tid) : inside(0), present(0) {
        row = ALONG ? tid / ACROSS : tid % ACROSS * V;
        depth = ALONG ? tid % ACROSS * V : tid / ACROSS;
        next = first + row * row_step + depth * step;
        apart = APART * (ALONG ? row_step : step);
        forth = PYGPU_BK * step;
#pragma unroll
        for (int turn = 0; turn < PACKS; turn++) inside |= (unsigned)(row + (ALONG ? turn * APART : 0) < rows) << turn;
    }

    // Reads the next packs of an operand. `left` is the number of elements that remain along the inner axis. Packs
    // outside the operand are not read.
    __device__ void read(int left) {
        present = inside;
#pragma unroll
        for (int turn = 0; turn < PACKS; turn++) {
            if (depth + (ALONG ? 0 : turn * APART) >= left) present &= ~(1u << turn);
            if (present >> turn & 1) held[turn] = *(const Pack *)(next + turn * apart);
        }
        next += forth;
    }

    template <class Convert> __device__ void write(pygpu_type (*to)[ROWS + PYGPU_PAD], Convert convert) const {
#pragma unroll
        for (int turn = 0; turn < PACKS; turn++) {
            const int r = row + (ALONG ? turn * APART : 0), l = depth + (ALONG ? 0 : turn * APART);
            const bool is_there = present >> turn & 1;
#pragma unroll
            for (int v = 0; v < V; v++)
                to[ALONG ? l + v : l][ALONG ? r : r + v] = is_there ? convert(held[turn].item[v]) : pygpu_type(0);
        }
    }
};

struct pygpu_convert_a {
    __device__ pygpu_type operator()(const pygpu_a &element) const { return pygpu_of_a(element); }
};
struct pygpu_convert_b {
    __device__ pygpu_type operator()(const pygpu_b &element) const { return pygpu_of_b(element); }
};

// Returns the index, within a row of the tile, of a thread's element `i`. PYGPU_QUAD elements of a thread are
// contiguous; its next PYGPU_QUAD elements follow after the elements of all other threads.
template <int OWN, int ALL> static __device__ inline int pygpu_place(int thread, int i) {
    return i / PYGPU_QUAD * (PYGPU_QUAD * (ALL / OWN)) + thread * PYGPU_QUAD + i % PYGPU_QUAD;
}

template <int OWN, int ALL> static __device__ inline void pygpu_fetch(pygpu_type *own, const pygpu_type *line, int thread) {
    typedef pygpu::pack<pygpu_type, PYGPU_QUAD> quad;
#pragma unroll
    for (int i = 0; i < OWN; i += PYGPU_QUAD) {
        const quad read = *(const quad *)(line + pygpu_place<OWN, ALL>(thread, i));
#pragma unroll
        for (int v = 0; v < PYGPU_QUAD; v++) own[i + v] = read.item[v];
    }
}

static __device__ inline int pygpu_at_most(long long left) { return left < PYGPU_BK ? (int)left : PYGPU_BK; }

extern "C" __global__ void __launch_bounds__(PYGPU_THREADS, PYGPU_AT_ONCE) pygpu_product_of_tiles(PYGPU_PARAMETERS) {
    typedef pygpu_type line_a[PYGPU_BM + PYGPU_PAD];
    typedef pygpu_type line_b[PYGPU_BN + PYGPU_PAD];
    __shared__ pygpu::bytes raw_a[2 * PYGPU_BK * sizeof(line_a) / 16];
    __shared__ pygpu::bytes raw_b[2 * PYGPU_BK * sizeof(line_b) / 16];
    line_a *held_a = (line_a *)raw_a;
    line_b *held_b = (line_b *)raw_b;
    const int tid = (int)threadIdx.x, tx = tid % (PYGPU_BN / PYGPU_TN), ty = tid / (PYGPU_BN / PYGPU_TN);
    // In a band, consecutive thread blocks first process one column of tiles, and then the next column to the right.
    const long long high = (m + PYGPU_BM - 1) / PYGPU_BM, wide = (n + PYGPU_BN - 1) / PYGPU_BN;
    const long long batch = blockIdx.x / (high * wide), tile = blockIdx.x - batch * (high * wide);
    const long long band = tile / (PYGPU_BAND * wide), within = tile - band * (PYGPU_BAND * wide);
    const long long rows = high - band * PYGPU_BAND < PYGPU_BAND ? high - band * PYGPU_BAND : PYGPU_BAND;
    const long long i0 = (band * PYGPU_BAND + within % rows) * PYGPU_BM, j0 = within / rows * PYGPU_BN;
    const long long begin = blockIdx.y * chunk, end = begin + chunk < k ? begin + chunk : k;
    pygpu_reader<pygpu_pack_a, PYGPU_BM, PYGPU_VECTOR_A, PYGPU_ALONG_A>
        of_a(a + PYGPU_BATCH(0) + i0 * a_row + begin * a_step, m - i0, a_row, a_step, tid);
    pygpu_reader<pygpu_pack_b, PYGPU_BN, PYGPU_VECTOR_B, PYGPU_ALONG_B>
        of_b(b + PYGPU_BATCH(1) + j0 * b_row + begin * b_step, n - j0, b_row, b_step, tid);

    pygpu_type sum[PYGPU_TM][PYGPU_TN];
#pragma unroll
    for (int i = 0; i < PYGPU_TM; i++)
#pragma unroll
        for (int j = 0; j < PYGPU_TN; j++) sum[i][j] = pygpu_type(0);

    long long left = end - begin;
    of_a.read(pygpu_at_most(left));
    of_b.read(pygpu_at_most(left));
    of_a.write(held_a, pygpu_convert_a());
    of_b.write(held_b, pygpu_convert_b());
    __syncthreads();
    int half = 0;
    for (; left > 0; left -= PYGPU_BK) {
        const bool has_more = left > PYGPU_BK;
        if (has_more) {
            of_a.read(pygpu_at_most(left - PYGPU_BK));
            of_b.read(pygpu_at_most(left - PYGPU_BK));
        }
#pragma unroll
        for (int l = 0; l < PYGPU_BK; l++) {
            pygpu_type x[PYGPU_TM], y[PYGPU_TN];
            pygpu_fetch<PYGPU_TM, PYGPU_BM>(x, held_a[half * PYGPU_BK + l], ty);
            pygpu_fetch<PYGPU_TN, PYGPU_BN>(y, held_b[half * PYGPU_BK + l], tx);
#pragma unroll
            for (int i = 0; i < PYGPU_TM; i++)
#pragma unroll
                for (int j = 0; j < PYGPU_TN; j++) pygpu_add_product(sum[i][j], x[i], y[j]);
        }
        // Every thread finished reading the other half of shared memory before the preceding barrier, so that half may
        // be overwritten now.
        half ^= 1;
        if (has_more) {
            of_a.write(held_a + half * PYGPU_BK, pygpu_convert_a());
            of_b.write(held_b + half * PYGPU_BK, pygpu_convert_b());
        }
        __syncthreads();
    }

    char *to = out + PYGPU_BATCH(2);
#pragma unroll
    for (int i = 0; i < PYGPU_TM; i++) {
        const long long row = i0 + pygpu_place<PYGPU_TM, PYGPU_BM>(ty, i);
        if (row >= m) continue;
#pragma unroll
        for (int j = 0; j < PYGPU_TN; j += PYGPU_QUAD) {
            const long long column = j0 + pygpu_place<PYGPU_TN, PYGPU_BN>(tx, j);
#if PYGPU_OUT_PACKED
            typedef pygpu::pack<pygpu_result, PYGPU_QUAD> results;
            if (!parts && column < n) {
                results made;
#pragma unroll
                for (int v = 0; v < PYGPU_QUAD; v++) made.item[v] = pygpu_finish(sum[i][j + v]);
                *(results *)(to + row * out_row + column * out_column) = made;
                continue;
            }
#endif
#pragma unroll
            for (int v = 0; v < PYGPU_QUAD; v++) {
                if (column + v >= n) continue;
                if (parts) parts[((blockIdx.y * batches + batch) * m + row) * n + column + v] = sum[i][j + v];
                else *(pygpu_result *)(to + row * out_row + (column + v) * out_column) = pygpu_finish(sum[i][j + v]);
            }
        }
    }
}
