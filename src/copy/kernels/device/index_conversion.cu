// Converts an element of an index array to a position on the indexed axis. An index out of range is wrapped if BOUNDS
// is 1, and clipped if BOUNDS is 2. For any other value of BOUNDS, the position is 0 and `is_refused` is set to report
// the error. The function writes no memory, so that many indices are read concurrently.
#if INDEX_SIGNED
#define INDEX_SIGN signed
#else
#define INDEX_SIGN unsigned
#endif
#if INDEX_SIZE == 1
typedef INDEX_SIGN char Index;
#elif INDEX_SIZE == 2
typedef INDEX_SIGN short Index;
#elif INDEX_SIZE == 4
typedef INDEX_SIGN int Index;
#else
typedef INDEX_SIGN long long Index;
#endif

__device__ inline move_i64 move_place(Index index, move_i64 length, bool &is_refused) {
    move_i64 place = (move_i64)index;
#if BOUNDS == 1
    place %= length;
    if (place < 0) place += length;
#elif BOUNDS == 2
    place = place < 0 ? 0 : place < length ? place : length - 1;
#else
#if INDEX_SIGNED
    if (place < 0) place += length;
#endif
    if (place < 0 || place >= length) {
        is_refused = true;
        place = 0;
    }
#endif
    return place;
}

