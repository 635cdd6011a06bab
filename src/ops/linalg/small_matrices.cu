// Factorizes a stack of small matrices in shared memory. A thread block computes one matrix at a time. The preceding text
// defines the types `pygpu_type` of the elements and `pygpu_real` of their absolute values, `PYGPU_THREADS`, and the macros
// PYGPU_CONJ (conjugate), PYGPU_REAL (real part) and PYGPU_SIZE (sum of the absolute values of both parts).
//
// A stack is contiguous. If `is_transposed`, row i of the memory is column i of the matrix. `info` receives the number of
// the failed column of each matrix, counted from 1, or 0.

extern __shared__ double pygpu_room[];

#if PYGPU_CHOLESKY
// Computes triangular factors. PYGPU_UPPER reads and writes the upper triangle: its conjugate transpose is a lower one.
extern "C" __global__ void __launch_bounds__(PYGPU_THREADS) pygpu_small_cholesky(
    const pygpu_type *a, pygpu_type *out, int *info, long long batch, int n, int is_transposed) {
    pygpu_type *own = (pygpu_type *)pygpu_room;
    // Rows of odd length, so that the elements of a column are in different banks.
    const int width = n | 1, is_exchanged = is_transposed != PYGPU_UPPER;
    for (long long matrix = blockIdx.x; matrix < batch; matrix += gridDim.x) {
        const pygpu_type *from = a + matrix * n * n;
        pygpu_type *to = out + matrix * n * n;
        for (int at = threadIdx.x; at < n * n; at += PYGPU_THREADS) {
            const int row = at / n, column = at - row * n;
            const int i = is_exchanged ? column : row, j = is_exchanged ? row : column;
            if (i >= j) own[i * width + j] = PYGPU_UPPER ? PYGPU_CONJ(from[at]) : from[at];
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
            for (int i = k + 1 + threadIdx.x; i < n; i += PYGPU_THREADS) {
                const pygpu_type factor = own[i * width + k];
                for (int j = k + 1; j <= i; j++) own[i * width + j] -= factor * PYGPU_CONJ(own[j * width + k]);
            }
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
// Solves linear systems by LU factors with partial pivoting, and overwrites the right sides by the solutions. PYGPU_INVERSE
// takes the columns of the identity as right sides. A matrix with a zero pivot has a solution that is not finite.
extern "C" __global__ void __launch_bounds__(PYGPU_THREADS) pygpu_small_solve(
    const pygpu_type *a, pygpu_type *b, int *info, long long batch, int n, int columns, int is_transposed) {
    __shared__ pygpu_real sizes[PYGPU_SIDE];
    __shared__ int rows[PYGPU_SIDE];
    pygpu_type *own = (pygpu_type *)pygpu_room;
    const int all = n + columns, width = all | 1;
    int span = 1;  // The smallest power of two that is at least n.
    while (span < n) span *= 2;
    for (long long matrix = blockIdx.x; matrix < batch; matrix += gridDim.x) {
        const pygpu_type *from = a + matrix * n * n;
        pygpu_type *right = b + matrix * n * columns;
        for (int at = threadIdx.x; at < n * n; at += PYGPU_THREADS) {
            const int row = at / n, column = at - row * n;
            own[is_transposed ? column * width + row : row * width + column] = from[at];
        }
        for (int at = threadIdx.x; at < n * columns; at += PYGPU_THREADS) {
            const int row = at / columns, column = at - row * columns;
            own[row * width + n + column] = PYGPU_INVERSE ? pygpu_type(row == column) : right[at];
        }
        __syncthreads();
        int failed = 0;
        for (int k = 0; k < n; k++) {
            for (int i = threadIdx.x; i < span; i += PYGPU_THREADS) {
                sizes[i] = i < k || i >= n ? pygpu_real(-1) : pygpu_real(PYGPU_SIZE(own[i * width + k]));
                rows[i] = i < n ? i : k;
            }
            __syncthreads();
            // Of equal sizes the first row is taken, as LAPACK does.
            for (int half = span / 2; half; half /= 2) {
                for (int i = threadIdx.x; i < half; i += PYGPU_THREADS) {
                    const bool is_larger = sizes[i + half] > sizes[i];
                    if (is_larger || (sizes[i + half] == sizes[i] && rows[i + half] < rows[i])) {
                        sizes[i] = sizes[i + half];
                        rows[i] = rows[i + half];
                    }
                }
                __syncthreads();
            }
            const int chosen = rows[0] < k ? k : rows[0];
            if (chosen != k)
                for (int j = k + threadIdx.x; j < all; j += PYGPU_THREADS) {
                    const pygpu_type kept = own[k * width + j];
                    own[k * width + j] = own[chosen * width + j];
                    own[chosen * width + j] = kept;
                }
            __syncthreads();
            const pygpu_type pivot = own[k * width + k];
            if (PYGPU_SIZE(pivot) == 0 && !failed) failed = k + 1;
            for (int i = k + 1 + threadIdx.x; i < n; i += PYGPU_THREADS) own[i * width + k] = own[i * width + k] / pivot;
            __syncthreads();
            for (int j = k + 1 + threadIdx.x; j < all; j += PYGPU_THREADS) {
                const pygpu_type value = own[k * width + j];
                for (int i = k + 1; i < n; i++) own[i * width + j] -= own[i * width + k] * value;
            }
            __syncthreads();
        }
        for (int k = n - 1; k >= 0; k--) {
            const pygpu_type pivot = own[k * width + k];
            for (int j = n + threadIdx.x; j < all; j += PYGPU_THREADS) own[k * width + j] = own[k * width + j] / pivot;
            __syncthreads();
            for (int at = threadIdx.x; at < k * columns; at += PYGPU_THREADS) {
                const int i = at / columns, j = n + at - i * columns;
                own[i * width + j] -= own[i * width + k] * own[k * width + j];
            }
            __syncthreads();
        }
        for (int at = threadIdx.x; at < n * columns; at += PYGPU_THREADS) {
            const int row = at / columns, column = at - row * columns;
            right[at] = own[row * width + n + column];
        }
        if (threadIdx.x == 0) info[matrix] = failed;
        __syncthreads();
    }
}
#endif
