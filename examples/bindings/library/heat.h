/* A library as strangers write them: a header and five functions, and nothing of Python in it.
 *
 * Memory is the device's: the host's where heat.c was compiled, a GPU's where heat.cu was. Strides are in elements, of any sign.
 * `stream` is a cudaStream_t. What returns an int returns 0, or the number of an error.
 */
#ifndef HEAT_H
#define HEAT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory for so many values, all zero; null if there is none. */
float *heat_new(int64_t count);

/* Gives back what heat_new gave. */
void heat_free(void *values);

/* Multiplies values that lie `stride` apart. */
int heat_scale(float *values, int64_t count, int64_t stride, float factor, void *stream);

/* One step of diffusion over shape[0] rows and shape[1] columns; the rim stays. */
int heat_step(const float *from, const int64_t *from_strides, float *to, const int64_t *to_strides, const int64_t *shape,
              void *stream);

/* The sum of all values. Waits for the stream. */
int heat_total(const float *values, const int64_t *strides, const int64_t *shape, double *total, void *stream);

#ifdef __cplusplus
}
#endif

#endif
