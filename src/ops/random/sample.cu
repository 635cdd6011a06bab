// Other distributions: element i of a call is computed from words that belong to number i after the stream's position.
// PYGPU_DRAW is the call of a sampler, with `words` and `parameters`.
struct pygpu_sample_task {
    pygpu_keys keys;
    double values[3];
    const double *arrays[3];
};

extern "C" __global__ void PYGPU_NAME(pygpu_out *out, pygpu_u64 count, const pygpu_place *kept, pygpu_place place,
                                      pygpu_sample_task task) {
    if (kept) place = *kept;
    const pygpu_u64 step = (pygpu_u64)gridDim.x * PYGPU_THREADS;
    for (pygpu_u64 i = (pygpu_u64)blockIdx.x * PYGPU_THREADS + threadIdx.x; i < count; i += step) {
        const pygpu_u64 at = place.number + i;
        pygpu_words words(place, at / 4, 8 + at % 4, task.keys);
        double parameters[3];
        for (int j = 0; j < 3; j++) parameters[j] = task.arrays[j] ? task.arrays[j][i] : task.values[j];
        out[i] = (pygpu_out)(PYGPU_DRAW);
    }
}
