/* Loops over functions of the driver; driver_calls.py looks up the functions and prepares their arguments.
 *
 * Every called function takes only integers and pointers and returns an int. With the calling conventions of x86-64 and
 * aarch64, functions with fewer than six parameters can therefore be called by one prototype with six words. The result is
 * the time of one iteration in nanoseconds, or the negated error code of the driver. */

#include <stdint.h>
#include <time.h>

typedef uint64_t word;
typedef int (*function)(word, word, word, word, word, word);
typedef int (*allocate_function)(word *, word, word, word);
typedef int (*free_function)(word, word);
typedef int (*launch_function)(
    word, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, word, void **, void **);

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

double repeat(long turns, function call, const word *with) {
    double start = now();
    for (long turn = 0; turn < turns; turn++) {
        int code = call(with[0], with[1], with[2], with[3], with[4], with[5]);
        if (code != 0) return -(double)code;
    }
    return (now() - start) / (double)turns;
}

double repeat_allocation(long turns, allocate_function allocate, free_function release, word size, word pool, word stream) {
    double start = now();
    for (long turn = 0; turn < turns; turn++) {
        word address = 0;
        int code = allocate(&address, size, pool, stream);
        if (code == 0) code = release(address, stream);
        if (code != 0) return -(double)code;
    }
    return (now() - start) / (double)turns;
}

/* The queue of a stream holds about a thousand launches; if it is full, the caller waits for the device. The loop therefore
 * waits for the stream after every 256 launches, outside the timing. */
double repeat_launch(long turns, launch_function launch, function synchronize, word kernel, word stream, void **arguments) {
    double sum = 0;
    for (long done = 0; done < turns;) {
        long run = turns - done < 256 ? turns - done : 256;
        double start = now();
        for (long turn = 0; turn < run; turn++) {
            int code = launch(kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, 0);
            if (code != 0) return -(double)code;
        }
        sum += now() - start;
        int code = synchronize(stream, 0, 0, 0, 0, 0);
        if (code != 0) return -(double)code;
        done += run;
    }
    return sum / (double)turns;
}
