// Copies one triangle of each matrix of a stack and sets all other elements to 0. A thread processes units (words that
// are loaded at once) of a row, and does not load a unit that becomes 0. A unit consists of items: elements, or parts of
// elements that are larger than a unit.
struct alignas(PYGPU_ITEMS * sizeof(pygpu_item)) pygpu_unit {
    pygpu_item item[PYGPU_ITEMS];
};

extern "C" __global__ void __launch_bounds__(PYGPU_THREADS)
    pygpu_triangle(const char *from, pygpu_unit *to, long long matrix_stride, long long row_stride, unsigned rows,
                   unsigned all_rows, unsigned columns, unsigned units, long long diagonal) {
    const unsigned first = blockIdx.x * (blockDim.x * PYGPU_EACH) + threadIdx.x;
    for (unsigned row = blockIdx.y * blockDim.y + threadIdx.y; row < all_rows; row += gridDim.y * blockDim.y) {
        const unsigned matrix = rows == all_rows ? 0 : row / rows, own_row = row - matrix * rows;
        const pygpu_unit *source = (const pygpu_unit *)(from + (matrix * matrix_stride + own_row * row_stride));
        pygpu_unit *target = to + (unsigned long long)row * units;
        // The items before the edge belong to the lower triangle, the other items to the upper triangle.
        const long long column = own_row + diagonal;
        const unsigned edge = (column < 0 ? 0u : column > columns ? columns : (unsigned)column) * PYGPU_SPLIT;
        // All loads precede the stores, so that they overlap.
        pygpu_unit loaded[PYGPU_EACH];
#pragma unroll
        for (int turn = 0; turn < PYGPU_EACH; turn++) {
            const unsigned place = first + turn * blockDim.x, begin = place * PYGPU_ITEMS;
            loaded[turn] = pygpu_unit{};
            if (place < units && (PYGPU_UPPER ? begin + PYGPU_ITEMS > edge : begin < edge)) loaded[turn] = source[place];
        }
#pragma unroll
        for (int turn = 0; turn < PYGPU_EACH; turn++) {
            const unsigned place = first + turn * blockDim.x, begin = place * PYGPU_ITEMS;
            if (place >= units) continue;
            if (begin < edge && begin + PYGPU_ITEMS > edge) {
#pragma unroll
                for (unsigned item = 0; item < PYGPU_ITEMS; item++)
                    if ((begin + item < edge) == PYGPU_UPPER) loaded[turn].item[item] = 0;
            }
            target[place] = loaded[turn];
        }
    }
}
