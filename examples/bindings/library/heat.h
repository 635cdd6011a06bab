/* A library without Python: a header and five functions.
 *
 * Memory belongs to the device: the host with heat.c, a GPU with heat.cu. Strides are in elements, of any sign.
 * `stream` is a cudaStream_t. Functions that return an int return 0 or an error number.
 */
#ifndef HEAT_H
#define HEAT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Allocates memory for `count` values, all zero; returns null on failure. */
float *heat_new(int64_t count);

/* Frees memory of heat_new. */
void heat_free(void *values);

/* Multiplies values at distance `stride`. */
int heat_scale(float *values, int64_t count, int64_t stride, float factor, void *stream);

/* Computes one step of diffusion over shape[0] rows and shape[1] columns; the boundary is unchanged. */
int heat_step(const float *from, const int64_t *from_strides, float *to, const int64_t *to_strides, const int64_t *shape,
              void *stream);

/* Sums all values, and waits for the stream. */
int heat_total(const float *values, const int64_t *strides, const int64_t *shape, double *total, void *stream);

#ifdef __cplusplus
}
#endif

#endif
