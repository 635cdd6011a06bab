// Joins dense arrays along an axis: copies a row of each array into each row of the result, in units (words that a
// thread copies at once) of up to 16 bytes.
struct pygpu_part {
    const char *from;
    unsigned long long units, at; // size of a row, and the row's offset within a row of the result, in copy units
};
struct pygpu_parts {
    pygpu_part part[PYGPU_PARTS];
};

extern "C" __global__ void __launch_bounds__(PYGPU_THREADS)
    pygpu_join_parts(pygpu_parts parts, pygpu_unit *to, unsigned long long rows, unsigned long long units) {
    const pygpu_part &part = parts.part[blockIdx.y];
    const pygpu_unit *from = (const pygpu_unit *)part.from;
    const unsigned long long step = (unsigned long long)gridDim.x * PYGPU_THREADS;
    for (unsigned long long i = (unsigned long long)blockIdx.x * PYGPU_THREADS + threadIdx.x; i < rows * part.units; i += step) {
        const unsigned long long row = i / part.units;
        to[row * units + part.at + (i - row * part.units)] = from[i];
    }
}
