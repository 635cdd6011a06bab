// Advances a position in the random stream by the random numbers that a launch has used: `count` numbers, or `count`
// halves of numbers.
extern "C" __global__ void pygpu_random_advance(pygpu_place *place, pygpu_keys keys, pygpu_u64 count, pygpu_u64 is_halves,
                                                pygpu_u64 is_even) {
    if (threadIdx.x || blockIdx.x || !count) return;
    pygpu_place now = *place;
    pygpu_u64 numbers = count;
    if (is_halves) {
        const pygpu_u64 own = count - now.has_half;
        numbers = own / 2 + own % 2;
        now.has_half = own % 2;
        if (now.has_half) {
            pygpu_u64 last[4];
            const pygpu_u64 at = now.number + numbers - 1;
            pygpu_later(last, now.counter, at / 4);
            pygpu_rounds(last, keys, 0);
            now.half = last[at % 4] >> 32;
        } else {
            now.half = 0;
        }
    }
    if (is_even) now.number += now.number % 2;
    now.number += numbers;
    pygpu_later(place->counter, now.counter, now.number / 4);
    place->number = now.number % 4;
    place->has_half = now.has_half;
    place->half = now.half;
}
