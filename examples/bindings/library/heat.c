#include "heat.h"

#include <stdlib.h>

float *heat_new(int64_t count) { return count > 0 ? calloc((size_t)count, sizeof(float)) : NULL; }

void heat_free(void *values) { free(values); }

int heat_scale(float *values, int64_t count, int64_t stride, float factor, void *stream) {
    (void)stream;
    for (int64_t i = 0; i < count; i++) values[i * stride] *= factor;
    return 0;
}

int heat_step(const float *from, const int64_t *from_strides, float *to, const int64_t *to_strides, const int64_t *shape,
              void *stream) {
    (void)stream;
    for (int64_t i = 0; i < shape[0]; i++)
        for (int64_t j = 0; j < shape[1]; j++) {
            const float *here = from + i * from_strides[0] + j * from_strides[1];
            int inside = i > 0 && j > 0 && i < shape[0] - 1 && j < shape[1] - 1;
            to[i * to_strides[0] + j * to_strides[1]] =
                inside ? 0.25f * (here[-from_strides[0]] + here[from_strides[0]] + here[-from_strides[1]] + here[from_strides[1]])
                       : *here;
        }
    return 0;
}

int heat_total(const float *values, const int64_t *strides, const int64_t *shape, double *total, void *stream) {
    (void)stream;
    *total = 0.0;
    for (int64_t i = 0; i < shape[0]; i++)
        for (int64_t j = 0; j < shape[1]; j++) *total += values[i * strides[0] + j * strides[1]];
    return 0;
}
