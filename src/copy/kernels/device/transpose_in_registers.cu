// Transposes planes in registers, in units of up to 16 bytes: a thread reads V vectors of V units along y, and writes V
// vectors of V units along x. Threads adjacent along y read whole sectors, and threads adjacent along x write whole
// sectors, so no shared memory is needed. A thread transposes TURNS squares, so that enough reads are in flight.
// Requires units that are contiguous along y in the source and along x in the target, addresses and strides that are
// multiples of VECTOR, and lengths that V divides.
#define V (VECTOR / UNIT)
#define WORDS (VECTOR / 4)
#define LANES_X (32 / LANES_Y)      // on a device with warps, 32 threads access memory together
#define TILE_Y (16 * V)
#define TILE_X (16 * V * TURNS)

struct alignas(VECTOR) Vector { move_u32 word[WORDS]; };

struct Move {
    char *to;                  // a pointer, so that compilers infer that the address is in global memory
    const char *from;
    move_u64 length_x, length_y;
    move_i64 to_step, from_step; // stride of the target along y, stride of the source along x
    move_u64 tiles_x, tiles_y, blocks;
    pygpu::divisor tiles;      // number of tiles in a plane
    pygpu::divisor strip;      // number of tiles in a strip, which has GROUP rows of tiles
    Axes axes;                 // the axes along which planes repeat
};

// Returns word `w` in row `j` of the transposed square. Both indices are known at compile time, so the words stay in
// registers.
__device__ inline move_u32 turned(const Vector *read, int j, int w) {
#if UNIT >= 4
    return read[w / (UNIT / 4)].word[j * (UNIT / 4) + w % (UNIT / 4)];
#else
    const int per = 4 / UNIT;
    const move_u32 mask = UNIT == 1 ? 0xffu : 0xffffu;
    move_u32 made = 0;
#pragma unroll
    for (int p = 0; p < per; p++)
        made |= ((read[w * per + p].word[j / per] >> (8 * UNIT * (j % per))) & mask) << (8 * UNIT * p);
    return made;
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS) move_squares(Move move) {
    const int lane_y = threadIdx.x % LANES_Y, lane_x = threadIdx.x / LANES_Y % LANES_X;
    const int part_y = threadIdx.x / 32 % (16 / LANES_Y), part_x = threadIdx.x / 32 / (16 / LANES_Y);
    for (move_u32 block = blockIdx.x; block < move.blocks; block += gridDim.x) {
        move_u32 plane = move.tiles.quotient(block);
        move_u32 tile = block - plane * move.tiles.length;
        // Thread blocks that run at the same time process a square of tiles, and thus access long contiguous ranges of
        // source and target.
        move_u32 strip = move.strip.quotient(tile), place = tile - strip * move.strip.length;
        move_u32 left = (move_u32)move.tiles_y - strip * GROUP, rows = left < GROUP ? left : GROUP;
        move_u32 tile_y = strip * GROUP + place % rows, tile_x = place / rows;
        char *to = move.to;
        const char *from = move.from;
        find(move.axes, plane, to, from);
        const move_u64 y = (move_u64)tile_y * TILE_Y + (part_y * LANES_Y + lane_y) * V;
        const move_u64 x = (move_u64)tile_x * TILE_X + (part_x * LANES_X + lane_x) * V;
        Vector read[TURNS][V];
#pragma unroll
        for (int t = 0; t < TURNS; t++)
            if (y < move.length_y && x + t * 16 * V < move.length_x) {
                const char *start = from + (move_i64)(x + t * 16 * V) * move.from_step + (move_i64)y * UNIT;
#pragma unroll
                for (int i = 0; i < V; i++) read[t][i] = *(const Vector *)(start + i * move.from_step);
            }
#pragma unroll
        for (int t = 0; t < TURNS; t++)
            if (y < move.length_y && x + t * 16 * V < move.length_x) {
                char *start = to + (move_i64)y * move.to_step + (move_i64)(x + t * 16 * V) * UNIT;
#pragma unroll
                for (int j = 0; j < V; j++) {
                    Vector made;
#pragma unroll
                    for (int w = 0; w < WORDS; w++) made.word[w] = turned(read[t], j, w);
                    *(Vector *)(start + j * move.to_step) = made;
                }
            }
    }
}
