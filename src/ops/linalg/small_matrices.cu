// Factorizes a stack of small matrices in shared memory. A thread block computes one matrix at a time. The preceding text
// defines the types `pygpu_type` of the elements and `pygpu_real` of their absolute values, `PYGPU_THREADS`, and the macros
// PYGPU_CONJ (conjugate), PYGPU_REAL (real part) and PYGPU_SIZE (sum of the absolute values of both parts).
//
// A stack is contiguous. If `is_transposed`, row i of the memory is column i of the matrix. `info` receives the number of
// the failed column of each matrix, counted from 1, or 0.

extern __shared__ double pygpu_room[];

// Subtracts `factors[i * step] * value` from `target[i * step]` for every `stride`-th i from `first` to `end` - 1. Four
// elements are read before the first is written, because a thread otherwise waits for each element separately.
__device__ inline void pygpu_subtract_column(
    pygpu_type *target, const pygpu_type *factors, pygpu_type value, int step, int first, int end, int stride) {
    int i = first;
    for (; i + 3 * stride < end; i += 4 * stride) {
        const int at[4] = {i * step, (i + stride) * step, (i + 2 * stride) * step, (i + 3 * stride) * step};
        const pygpu_type others[4] = {factors[at[0]], factors[at[1]], factors[at[2]], factors[at[3]]};
        const pygpu_type own[4] = {target[at[0]], target[at[1]], target[at[2]], target[at[3]]};
        target[at[0]] = own[0] - others[0] * value;
        target[at[1]] = own[1] - others[1] * value;
        target[at[2]] = own[2] - others[2] * value;
        target[at[3]] = own[3] - others[3] * value;
    }
    for (; i < end; i += stride) target[i * step] -= factors[i * step] * value;
}

#if PYGPU_CHOLESKY
// Computes triangular factors. PYGPU_UPPER reads and writes the upper triangle: its conjugate transpose is a lower one.
extern "C" __global__ void __launch_bounds__(PYGPU_THREADS) pygpu_small_cholesky(
    const pygpu_type *__restrict__ a, pygpu_type *__restrict__ out, int *info, long long batch, int n, int is_transposed) {
    pygpu_type *own = (pygpu_type *)pygpu_room;
    // Rows of odd length, so that the elements of a column are in different banks.
    const int width = n | 1, is_exchanged = is_transposed != PYGPU_UPPER;
    const int lane = threadIdx.x % 32, group = threadIdx.x / 32, groups = PYGPU_THREADS / 32;
    for (long long matrix = blockIdx.x; matrix < batch; matrix += gridDim.x) {
        const pygpu_type *from = a + matrix * n * n;
        pygpu_type *to = out + matrix * n * n;
#pragma unroll 4
        for (int at = threadIdx.x; at < n * n; at += PYGPU_THREADS) {
            const int row = at / n, column = at - row * n;
            const int i = is_exchanged ? column : row, j = is_exchanged ? row : column;
            // The subtraction below also reads and writes the other triangle, whose values are not used.
            own[i * width + j] = i < j ? pygpu_type(0) : PYGPU_UPPER ? PYGPU_CONJ(from[at]) : from[at];
        }
        __syncthreads();
        int failed = 0;
        for (int k = 0; k < n; k++) {
            const pygpu_real pivot = PYGPU_REAL(own[k * width + k]);
            if (!(pivot > 0)) {
                failed = k + 1;
                break;
            }
            const pygpu_real root = sqrt(pivot);
            __syncthreads();
            for (int i = k + threadIdx.x; i < n; i += PYGPU_THREADS)
                own[i * width + k] = i == k ? pygpu_type(root) : own[i * width + k] / root;
            __syncthreads();
            for (int j = k + 1 + lane; j < n; j += 32)
                pygpu_subtract_column(
                    own + j, own + k, PYGPU_CONJ(own[j * width + k]), width, k + 1 + group, n, groups);
            __syncthreads();
        }
        for (int at = threadIdx.x; at < n * n; at += PYGPU_THREADS) {
            const int row = at / n, column = at - row * n;
            const int i = PYGPU_UPPER ? column : row, j = PYGPU_UPPER ? row : column;
            to[at] = i < j ? pygpu_type(0) : PYGPU_UPPER ? PYGPU_CONJ(own[i * width + j]) : own[i * width + j];
        }
        if (threadIdx.x == 0) info[matrix] = failed;
        __syncthreads();
    }
}
#else
// Number of parts of a column, each of which one thread searches for the pivot.
#define PYGPU_PARTS 8

// Solves linear systems by LU factors with partial pivoting, and overwrites the right sides by the solutions. PYGPU_INVERSE
// takes the columns of the identity as right sides. A matrix with a zero pivot has a solution that is not finite.
//
// The threads form rows of `lanes`, a power of two: a lane computes columns, and each row of threads a part of the rows.
extern "C" __global__ void __launch_bounds__(PYGPU_THREADS) pygpu_small_solve(
    const pygpu_type *__restrict__ a, pygpu_type *__restrict__ b, int *info, long long batch, int n, int columns,
    int is_transposed) {
    __shared__ pygpu_real sizes[PYGPU_PARTS];
    __shared__ int rows[PYGPU_PARTS];
    __shared__ double pivot_room[2 * PYGPU_PARTS];
    pygpu_type *pivots = (pygpu_type *)pivot_room;
    pygpu_type *own = (pygpu_type *)pygpu_room;
    const int all = n + columns, width = all | 1, thread = threadIdx.x;
    const int lane = thread % 32, group = thread / 32, groups = PYGPU_THREADS / 32;
    int right_lanes = 1;
    while (right_lanes < 32 && right_lanes < columns) right_lanes *= 2;
    const int right_lane = thread & (right_lanes - 1), right_group = thread / right_lanes;
    const int right_groups = PYGPU_THREADS / right_lanes;
    for (long long matrix = blockIdx.x; matrix < batch; matrix += gridDim.x) {
        const pygpu_type *from = a + matrix * n * n;
        pygpu_type *right = b + matrix * n * columns;
#pragma unroll 4
        for (int at = thread; at < n * n; at += PYGPU_THREADS) {
            const int row = at / n, column = at - row * n;
            own[is_transposed ? column * width + row : row * width + column] = from[at];
        }
#pragma unroll 4
        for (int at = thread; at < n * columns; at += PYGPU_THREADS) {
            const int row = at / columns, column = at - row * columns;
            own[row * width + n + column] = PYGPU_INVERSE ? pygpu_type(row == column) : right[at];
        }
        __syncthreads();
        int failed = 0;
        for (int k = 0; k < n; k++) {
            if (thread < PYGPU_PARTS) {
                pygpu_real largest = -1;
                int chosen = k;
                for (int i = k + thread; i < n; i += PYGPU_PARTS) {
                    const pygpu_real size = PYGPU_SIZE(own[i * width + k]);
                    if (size > largest) {
                        largest = size;
                        chosen = i;
                    }
                }
                sizes[thread] = largest;
                rows[thread] = chosen;
                pivots[thread] = own[chosen * width + k];
            }
            __syncthreads();
            // Of equal sizes the first row is taken, as LAPACK does.
            pygpu_real largest = sizes[0];
            int chosen = rows[0];
            pygpu_type pivot = pivots[0];
            for (int part = 1; part < PYGPU_PARTS; part++)
                if (sizes[part] > largest || (sizes[part] == largest && rows[part] < chosen)) {
                    largest = sizes[part];
                    chosen = rows[part];
                    pivot = pivots[part];
                }
            if (PYGPU_SIZE(pivot) == 0 && !failed) failed = k + 1;
            // Rows k and `chosen` are exchanged, and column k is divided by the pivot.
            if (chosen != k)
                for (int j = k + 1 + thread; j < all; j += PYGPU_THREADS) {
                    const pygpu_type kept = own[k * width + j];
                    own[k * width + j] = own[chosen * width + j];
                    own[chosen * width + j] = kept;
                }
            for (int i = k + thread; i < n; i += PYGPU_THREADS) {
                if (i == k) {
                    if (chosen != k) own[chosen * width + k] = own[k * width + k] / pivot;
                    own[k * width + k] = pivot;
                } else if (i != chosen) {
                    own[i * width + k] = own[i * width + k] / pivot;
                }
            }
            __syncthreads();
            for (int j = k + 1 + lane; j < all; j += 32)
                pygpu_subtract_column(own + j, own + k, own[k * width + j], width, k + 1 + group, n, groups);
            __syncthreads();
        }
        // A row of the right sides is divided by its pivot wherever it is read, so that no thread waits for the quotient.
        for (int k = n - 1; k > 0; k--) {
            const pygpu_type pivot = own[k * width + k];
            for (int j = n + right_lane; j < all; j += right_lanes)
                pygpu_subtract_column(own + j, own + k, own[k * width + j] / pivot, width, right_group, k, right_groups);
            __syncthreads();
        }
        for (int at = thread; at < n * columns; at += PYGPU_THREADS) {
            const int row = at / columns, column = at - row * columns;
            right[at] = own[row * width + n + column] / own[row * width + row];
        }
        if (thread == 0) info[matrix] = failed;
        __syncthreads();
    }
}
#endif
