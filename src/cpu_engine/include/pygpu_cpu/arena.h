// Memory for the variables of all threads of a block. The memory is freed in the reverse order of its allocation. Part
// of runtime.cpp only.

class Rooms {
public:
    Rooms() = default;
    Rooms(const Rooms &) = delete;
    ~Rooms() {
        while (last) drop();
    }

    // Allocates a block of memory. Returns null if memory is exhausted.
    void *take(size_t bytes) {
        bytes = (bytes + 63) / 64 * 64;
        if (!last || last->bytes - last->used < bytes) {
            size_t wanted = bytes < (64 << 10) ? 64 << 10 : bytes;
            void *memory = nullptr;
            if (posix_memalign(&memory, 64, wanted + sizeof(Chunk))) return nullptr;
            last = new (memory) Chunk{last, wanted, 0};
        }
        char *place = last->memory() + last->used;
        last->used += bytes;
        return place;
    }
    // Frees the memory block at `place`, which must be the most recently allocated one.
    void give(void *place) {
        last->used = size_t(static_cast<char *>(place) - last->memory());
        if (!last->used && last->before) drop();
    }
    // Frees the memory blocks that a failed launch has not freed.
    void reset() {
        if (!last) return;
        while (last->before) drop();
        last->used = 0;
    }

private:
    struct alignas(64) Chunk {
        Chunk *before;
        size_t bytes, used;
        char *memory() { return reinterpret_cast<char *>(this + 1); }
    };
    void drop() {
        Chunk *gone = last;
        last = gone->before;
        free(gone);
    }
    Chunk *last = nullptr;
};
