// OS threads that help the launching thread with the blocks of a launch, and the end of these threads. Part of
// runtime.cpp only, in the unnamed namespace of that file.

// Holds a lock. While an object exists, no signal handler may leave the current function of the thread.
class Held {
public:
    explicit Held(pthread_mutex_t &lock) : lock(lock) {
        if (here) here->busy = true;
        pthread_mutex_lock(&lock);
    }
    ~Held() {
        pthread_mutex_unlock(&lock);
        if (here) here->busy = false;
    }

private:
    pthread_mutex_t &lock;
};

void Launch::fail(int why, const char *text, unsigned long long place) {
    Held held(lock);
    if (failed()) return;
    if (shape->message && shape->message_bytes) snprintf(shape->message, shape->message_bytes, "%s", text);
    if (shape->place && place) *shape->place = place;
    __atomic_store_n(&code, why, __ATOMIC_RELEASE);
}

// Sends a signal to a thread, because its kernel may run forever without a check whether the launch has failed. The
// caller repeats the signal until the thread stops.
void nudge(const Launch &launch, pthread_t thread) {
    if (launch.shape->host) pthread_kill(thread, launch.shape->host->nudge);
}

void sleep_a_little() {
    timespec millisecond = {0, 1000000};
    nanosleep(&millisecond, nullptr);
}

void *help(void *argument) {
    Launch &launch = *static_cast<Launch *>(argument);
    sigset_t faults;
    sigemptyset(&faults);
    const int all[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (int number : all) sigaddset(&faults, number);
    if (launch.shape->host) sigaddset(&faults, launch.shape->host->nudge);
    pthread_sigmask(SIG_UNBLOCK, &faults, nullptr);
    {
        Processor processor(launch);
        Inside inside(launch.shape->host, processor);
        processor.work();
    }
    while (launch.failed() && launch.shape->host && __atomic_load_n(&launch.caller_at_work, __ATOMIC_ACQUIRE)) {
        nudge(launch, launch.caller);
        sleep_a_little();
    }
    pthread_mutex_lock(&launch.lock);
    launch.helpers_at_work--;
    pthread_cond_signal(&launch.ended);
    pthread_mutex_unlock(&launch.lock);
    return nullptr;
}

// Starts helper threads. Called when a launch has run longer than it takes to start threads, or when a block waits for
// another block.
void Launch::call_helpers() {
    Held held(lock);
    if (asked_for_helpers) return;
    asked_for_helpers = true;
    unsigned long long wanted = threads < blocks ? threads : blocks;
    while (helper_count + 1 < wanted && helper_count < 512 && !pthread_create(&helpers[helper_count], nullptr, help, this))
        helper_count++, helpers_at_work++;
}

// Waits for the helpers after the launching thread has no more blocks. Meanwhile handles Ctrl-C, and stops helpers that
// would run indefinitely after a failure.
void Launch::wait_for_helpers(Processor &processor) {
    __atomic_store_n(&caller_at_work, false, __ATOMIC_RELEASE);
    if (!helper_count) return;
    pthread_mutex_lock(&lock);
    while (helpers_at_work) {
        timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += failed() ? 1000000 : 20000000;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        pthread_cond_timedwait(&ended, &lock, &until);
        pthread_mutex_unlock(&lock);
        processor.ask();
        for (unsigned i = 0; failed() && i < helper_count; i++) nudge(*this, helpers[i]);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    for (unsigned i = 0; i < helper_count; i++) pthread_join(helpers[i], nullptr);
}
