// Refines the singular vectors of a stack of small matrices in shared memory, and computes their singular values. A thread
// block computes one matrix at a time. The preceding text defines the types `pygpu_type` of the elements and `pygpu_real`
// of their absolute values, PYGPU_LANES (a power of two, at least the number of rows and of columns), PYGPU_THREADS, and
// the macros PYGPU_CONJ (conjugate) and PYGPU_ABS (absolute value).

#define PYGPU_WIDTH (PYGPU_LANES + 1)
#define PYGPU_GROUPS (PYGPU_THREADS / PYGPU_LANES)
#define PYGPU_ROWS (PYGPU_LANES / PYGPU_GROUPS)

extern __shared__ double pygpu_room[];

// Computes elements of column `lane` of a product: rows `group`, `group + PYGPU_GROUPS` and so on. `count` is the number
// of columns of the left factor, which is conjugated and transposed if `is_adjoint`.
__device__ inline void pygpu_multiply(
    pygpu_type *sums, const pygpu_type *left, bool is_adjoint, const pygpu_type *right, int count, int group, int lane) {
#pragma unroll
    for (int t = 0; t < PYGPU_ROWS; t++) sums[t] = pygpu_type(0);
    for (int l = 0; l < count; l++) {
        const pygpu_type factor = right[l * PYGPU_WIDTH + lane];
#pragma unroll
        for (int t = 0; t < PYGPU_ROWS; t++) {
            const int i = group + t * PYGPU_GROUPS;
            if (is_adjoint)
                sums[t] += PYGPU_CONJ(left[l * PYGPU_WIDTH + i]) * factor;
            else
                sums[t] += left[i * PYGPU_WIDTH + l] * factor;
        }
    }
}

// `left` and `right` contain the vectors as rows, conjugated if `is_conjugated`. `new_left` receives left vectors as
// columns, `new_right` conjugated right vectors as rows. If `is_transposed`, row i of the memory is column i of the matrix.
extern "C" __global__ void __launch_bounds__(PYGPU_THREADS) pygpu_small_refinement(
    const pygpu_type *__restrict__ a, const pygpu_type *__restrict__ left, const pygpu_type *__restrict__ right,
    pygpu_type *__restrict__ new_left, pygpu_real *__restrict__ values, pygpu_type *__restrict__ new_right, long long batch,
    long long left_step, long long right_step, int m, int n, int left_count, int right_count, int is_transposed,
    int is_conjugated) {
    // Four matrices of equal size. Elements beyond the sizes of a matrix are 0.
    pygpu_type *own = (pygpu_type *)pygpu_room;
    pygpu_type *products = own + PYGPU_LANES * PYGPU_WIDTH;
    pygpu_type *lefts = products + PYGPU_LANES * PYGPU_WIDTH;
    pygpu_type *rights = lefts + PYGPU_LANES * PYGPU_WIDTH;
    const int thread = threadIdx.x, lane = thread % PYGPU_LANES, group = thread / PYGPU_LANES, few = m < n ? m : n;
    pygpu_type sums[PYGPU_ROWS];
    for (long long matrix = blockIdx.x; matrix < batch; matrix += gridDim.x) {
        for (int side = 0; side < 2; side++) {
            const pygpu_type *from = side ? right + matrix * right_step : left + matrix * left_step;
            const int length = side ? n : m, count = side ? right_count : left_count;
            pygpu_type *to = side ? rights : lefts;
#pragma unroll
            for (int t = 0; t < PYGPU_ROWS; t++) {
                const int j = group + t * PYGPU_GROUPS;
                pygpu_type value = pygpu_type(0);
                if (lane < length && j < count) value = from[j * length + lane];
                own[lane * PYGPU_WIDTH + j] = is_conjugated ? PYGPU_CONJ(value) : value;
            }
            __syncthreads();
            pygpu_multiply(sums, own, true, own, length, group, lane);
            // The Newton-Schulz step multiplies the vectors X by (3 - X^H X) / 2.
#pragma unroll
            for (int t = 0; t < PYGPU_ROWS; t++) {
                const int i = group + t * PYGPU_GROUPS;
                products[i * PYGPU_WIDTH + lane] =
                    pygpu_type(i == lane ? pygpu_real(1.5) : pygpu_real(0)) - pygpu_type(pygpu_real(0.5)) * sums[t];
            }
            __syncthreads();
            pygpu_multiply(sums, own, false, products, count, group, lane);
#pragma unroll
            for (int t = 0; t < PYGPU_ROWS; t++) to[(group + t * PYGPU_GROUPS) * PYGPU_WIDTH + lane] = sums[t];
            __syncthreads();
        }
        const pygpu_type *from = a + matrix * m * n;
#pragma unroll
        for (int t = 0; t < PYGPU_ROWS; t++) {
            const int j = group + t * PYGPU_GROUPS;
            pygpu_type value = pygpu_type(0);
            if (is_transposed) {
                if (lane < m && j < n) value = from[j * m + lane];
                own[lane * PYGPU_WIDTH + j] = value;
            } else {
                if (j < m && lane < n) value = from[j * n + lane];
                own[j * PYGPU_WIDTH + lane] = value;
            }
        }
        __syncthreads();
        pygpu_multiply(sums, own, false, rights, n, group, lane);
        pygpu_type total = pygpu_type(0);
#pragma unroll
        for (int t = 0; t < PYGPU_ROWS; t++)
            total += PYGPU_CONJ(lefts[(group + t * PYGPU_GROUPS) * PYGPU_WIDTH + lane]) * sums[t];
        products[group * PYGPU_WIDTH + lane] = total;
        for (int j = group; j < PYGPU_LANES; j += PYGPU_GROUPS) {
            if (j < m && lane < left_count)
                new_left[(matrix * m + j) * left_count + lane] = lefts[j * PYGPU_WIDTH + lane];
            if (j < right_count && lane < n)
                new_right[(matrix * right_count + j) * n + lane] = PYGPU_CONJ(rights[lane * PYGPU_WIDTH + j]);
        }
        __syncthreads();
        pygpu_real *magnitudes = (pygpu_real *)own;
        if (group == 0) {
            for (int other = 1; other < PYGPU_GROUPS; other++) total += products[other * PYGPU_WIDTH + lane];
            magnitudes[lane] = PYGPU_ABS(total);
        }
        __syncthreads();
        // Rounding may change the order of nearly equal values; the cumulative minimum makes them descending again.
        if (thread < few) {
            pygpu_real smallest = magnitudes[0];
            for (int j = 1; j <= thread; j++)
                if (smallest == smallest && !(magnitudes[j] >= smallest)) smallest = magnitudes[j];
            values[matrix * few + thread] = smallest;
        }
        __syncthreads();
    }
}
