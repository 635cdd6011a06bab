// Kernels that are converted to loops over the threads of a block, and one that must not be converted.
constexpr int SIDE = 8;

// Stores the address of a local variable of each thread. These addresses are far from each other if each thread has a
// separate stack.
extern "C" __global__ void addresses(unsigned long long *out) {
    out[threadIdx.x] = 0;
    __syncthreads();
    out[threadIdx.x] = (unsigned long long)__builtin_frame_address(0);
}

extern "C" __global__ void tree(const float *x, float *out, int n) {
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    __shared__ float s[256];
    s[t] = i < n ? x[i] : 0.f;
    __syncthreads();
    for (unsigned h = blockDim.x / 2; h > 0; h >>= 1) {
        if (t < h) s[t] += s[t + h];
        __syncthreads();
    }
    if (t != 0) return;
    out[blockIdx.x] = s[0];
}

extern "C" __global__ void product(const float *a, const float *b, float *c, int n) {
    __shared__ float left[SIDE][SIDE], right[SIDE][SIDE];
    const int row = blockIdx.y * SIDE + threadIdx.y;
    const int column = blockIdx.x * SIDE + threadIdx.x;
    float sum = 0;
    int tiles = (n + SIDE - 1) / SIDE;
#pragma unroll
    for (int k = 0; k < tiles; ++k) {
        int x = k * SIDE + threadIdx.x, y = k * SIDE + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < n && x < n ? a[row * n + x] : 0;
        right[threadIdx.y][threadIdx.x] = y < n && column < n ? b[y * n + column] : 0;
        __syncthreads();
        for (int j = 0; j < SIDE; j++) sum += left[threadIdx.y][j] * right[j][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}

struct Pair {
    int first;
    double second;
};

// Uses variables of all kinds after barriers, in two nested loops, with names that hide other names.
extern "C" __global__ void kept(int *out, int rounds) {
    extern __shared__ int exchange[];
    int numbers[3] = {1, 2, 3}, *place = out + threadIdx.x, bare;
    const int me = threadIdx.x;
    Pair pair = {me, 0.5};
    const unsigned size = blockDim.x;
    bare = me % 2 ? 10 : 20;
    for (int outer = 0; outer < rounds; outer++) {
        int me = numbers[outer % 3] + pair.first;
        exchange[threadIdx.x] = me;
        __syncthreads();
        for (int inner = 0; inner <= outer; ++inner) {
            int from = (threadIdx.x + inner) % size;
            int value = exchange[from];
            __syncthreads();
            exchange[threadIdx.x] = value + 1;
            __syncthreads();
            bare += value;
        }
        numbers[outer % 3] += exchange[threadIdx.x];
        pair.second *= 2;
        __syncthreads();
    }
    *place = numbers[0] + numbers[1] * 3 + numbers[2] * 7 + bare + me + int(pair.second);
}

// Changes parameters, which are private to each thread, and lets threads return early, which must not end the other
// threads.
extern "C" __global__ void own_parameter(int *out, int n, struct Pair pair) {
    n -= threadIdx.x;
    out += threadIdx.x;
    if (n % 2) return;
    pair.first += n;
    *out = pair.first;
}

__device__ int who() { return threadIdx.x + 100 * threadIdx.y; }
extern "C" __global__ void asked(int *out) { out[threadIdx.y * blockDim.x + threadIdx.x] = who(); }

extern "C" __global__ void histogram(const int *x, int *out, int n) {
    __shared__ int bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&bins[x[i] & 15], 1);
    __syncthreads();
    if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];
}

template <class T, int STEPS> __global__ void doubled(T *x) {
    __shared__ T s[64];
    T value = x[threadIdx.x];
    for (int i = 0; i < STEPS; i++) {
        s[threadIdx.x] = value;
        __syncthreads();
        value += s[blockDim.x - 1 - threadIdx.x];
        __syncthreads();
    }
    x[threadIdx.x] = value;
}

// Each thread leaves the loop after a different number of rounds. The remaining threads must not wait for threads that
// have left the loop.
extern "C" __global__ void uneven(int *out) {
    int rounds = threadIdx.x;
    for (int i = 0; i < rounds; i++) {
        out[threadIdx.x] += 1;
        __syncthreads();
    }
}
