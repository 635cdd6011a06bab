// Applies a function in place at positions that may occur repeatedly. Positions are sorted, equal positions keep their
// order, and one thread applies all values of a position. The result therefore has the same bits as that of a loop over
// the indices.
extern "C" __global__ void __launch_bounds__(PYGPU_THREADS) PYGPU_NAME(const long long *places, const long long *order,
                                                                       pygpu_kept *array, const pygpu_value *values,
                                                                       long long step, unsigned long long count) {
    const unsigned long long stride = (unsigned long long)gridDim.x * PYGPU_THREADS;
    for (unsigned long long at = (unsigned long long)blockIdx.x * PYGPU_THREADS + threadIdx.x; at < count; at += stride) {
        const long long place = places[at];
        if (at && places[at - 1] == place) continue;
        pygpu_kept kept = array[place];
        for (unsigned long long next = at; next < count && places[next] == place; next++) {
            PYGPU_APPLY
        }
        array[place] = kept;
    }
}
