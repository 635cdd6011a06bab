// The same functions for a GPU, with nvcc, or with hipcc and a header that renames the four calls.
#include "heat.h"

float *heat_new(int64_t count) {
    void *values = nullptr;
    if (count <= 0 || cudaMalloc(&values, count * sizeof(float)) != cudaSuccess) return nullptr;
    cudaMemset(values, 0, count * sizeof(float));
    return static_cast<float *>(values);
}

void heat_free(void *values) { cudaFree(values); }

static __global__ void scale(float *values, int64_t count, int64_t stride, float factor) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < count) values[i * stride] *= factor;
}

int heat_scale(float *values, int64_t count, int64_t stride, float factor, void *stream) {
    if (count > 0) scale<<<(count + 255) / 256, 256, 0, cudaStream_t(stream)>>>(values, count, stride, factor);
    return cudaGetLastError();
}

static __global__ void step(const float *from, int64_t from_down, int64_t from_right, float *to, int64_t to_down,
                            int64_t to_right, int64_t rows, int64_t columns) {
    int64_t place = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (place >= rows * columns) return;
    int64_t i = place / columns, j = place % columns;
    const float *here = from + i * from_down + j * from_right;
    bool inside = i > 0 && j > 0 && i < rows - 1 && j < columns - 1;
    to[i * to_down + j * to_right] =
        inside ? 0.25f * (here[-from_down] + here[from_down] + here[-from_right] + here[from_right]) : *here;
}

int heat_step(const float *from, const int64_t *from_strides, float *to, const int64_t *to_strides, const int64_t *shape,
              void *stream) {
    int64_t size = shape[0] * shape[1];
    if (size > 0)
        step<<<(size + 255) / 256, 256, 0, cudaStream_t(stream)>>>(from, from_strides[0], from_strides[1], to, to_strides[0],
                                                                   to_strides[1], shape[0], shape[1]);
    return cudaGetLastError();
}

static __global__ void add_up(const float *values, int64_t down, int64_t right, int64_t rows, int64_t columns, double *total) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) atomicAdd(total, double(values[i * down + j * right]));
}

int heat_total(const float *values, const int64_t *strides, const int64_t *shape, double *total, void *stream) {
    double *sum = nullptr;
    cudaError_t error = cudaMalloc(&sum, sizeof(double));
    if (error != cudaSuccess) return error;
    cudaMemsetAsync(sum, 0, sizeof(double), cudaStream_t(stream));
    add_up<<<1, 256, 0, cudaStream_t(stream)>>>(values, strides[0], strides[1], shape[0], shape[1], sum);
    cudaMemcpyAsync(total, sum, sizeof(double), cudaMemcpyDeviceToHost, cudaStream_t(stream));
    error = cudaStreamSynchronize(cudaStream_t(stream));
    cudaFree(sum);
    return error;
}
