/* Create and destroy FFT plans of several lengths without PyGPU, to show which memory cuFFT itself does not free.
 *
 *     nvcc -o cufft_leak tests/gpu/sanitizer/cufft_leak.c -lcufft
 *     compute-sanitizer --leak-check full ./cufft_leak
 *
 * `tests/gpu/sanitize.py --tool memcheck` reports leaked blocks of 72 bytes, in several processes that compute FFTs and in
 * two that do not. If this program leaks the same blocks, cuFFT is one cause. */
#include <cuda_runtime.h>
#include <cufft.h>
#include <stdio.h>

#define CHECK(call)                                                   \
    do {                                                              \
        int code = (int)(call);                                       \
        if (code) return fprintf(stderr, "%s: %d\n", #call, code), 1; \
    } while (0)

int main(void) {
    /* A power of two, a product of small primes, and two primes, the second of which needs Bluestein's algorithm. */
    int lengths[] = {64, 60, 97, 4099};
    CHECK(cudaFree(0));
    for (int at = 0; at < 4; at++) {
        cufftHandle plan;
        void *data;
        CHECK(cudaMalloc(&data, (size_t)lengths[at] * 16));
        CHECK(cudaMemset(data, 0, (size_t)lengths[at] * 16));
        CHECK(cufftPlanMany(&plan, 1, &lengths[at], 0, 1, 0, 0, 1, 0, CUFFT_Z2Z, 1));
        CHECK(cufftExecZ2Z(plan, data, data, CUFFT_FORWARD));
        CHECK(cudaDeviceSynchronize());
        CHECK(cufftDestroy(plan));
        CHECK(cudaFree(data));
    }
    CHECK(cudaDeviceReset());
    return 0;
}
