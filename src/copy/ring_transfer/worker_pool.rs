//! Runs worker threads that help the calling thread with a copy.
//!
//! Workers are started on demand, live as long as the process, and sleep when idle. Any number of threads may run a
//! job; if no worker is free, the calling thread completes the job alone. Concurrent calls therefore share the workers
//! and never wait for each other.
//!
//! At process exit the workers sleep or are blocked at their next driver call (`backend::cuda_and_hip::exit_guard`);
//! the exiting thread must not use the workers any more (`device::shutdown::exiting`). A forked child has no workers,
//! and its GPU calls fail before they reach this module.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Condvar;
use std::thread;

use pygpu_base::fork_safe::{ForkSafeGuard, ForkSafeMutex};

/// The function that a job runs. It is borrowed from the caller, which waits until all workers have left the job.
#[derive(Clone, Copy)]
struct ParallelJob(*const (dyn Fn() + Sync));

// SAFETY: the pointer refers to a `Sync` function, and the caller of `run` keeps this function alive until the job is
// withdrawn.
unsafe impl Send for ParallelJob {}

struct PoolJob {
    number: u64,
    work: ParallelJob,
    /// Number of workers that may still join the job.
    free_slots: usize,
    /// Number of workers that are running the job.
    active: usize,
    panicked: bool,
}

struct WorkerPool {
    jobs: Vec<PoolJob>,
    threads: usize,
    latest: u64,
}

static CREW: ForkSafeMutex<WorkerPool> = ForkSafeMutex::new(WorkerPool { jobs: Vec::new(), threads: 0, latest: 0 });
/// Signals idle workers that a job was queued.
static CALL: Condvar = Condvar::new();
/// Signals callers of `run` that the last worker has left a job.
static LEFT: Condvar = Condvar::new();

fn crew() -> ForkSafeGuard<WorkerPool> {
    CREW.lock()
}

/// Runs `work` on this thread and concurrently on up to `helpers` workers. Returns when `work` has returned on all
/// these threads. The result is `false` if a worker panicked.
pub(super) fn run(helpers: usize, work: &(dyn Fn() + Sync)) -> bool {
    if helpers == 0 {
        work();
        return true;
    }
    let mut job = QueuedJob { number: post(helpers, work), panicked: false };
    work();
    job.withdraw();
    !job.panicked
}

/// Owner of a job in the list of queued jobs. It removes the job before the function that the job borrows becomes
/// invalid.
struct QueuedJob {
    number: u64,
    panicked: bool,
}

impl QueuedJob {
    /// Removes the job from the list, so that no more workers join it, and waits for the workers that run it.
    fn withdraw(&mut self) {
        let mut crew = crew();
        while let Some(place) = crew.jobs.iter().position(|job| job.number == self.number) {
            crew.jobs[place].free_slots = 0;
            if crew.jobs[place].active == 0 {
                self.panicked = crew.jobs.swap_remove(place).panicked;
                return;
            }
            crew = crew.wait(&LEFT);
        }
    }
}

impl Drop for QueuedJob {
    /// Withdraws the job when dropped, also if the caller's own part of the work panics.
    fn drop(&mut self) {
        self.withdraw();
    }
}

fn post(helpers: usize, work: &(dyn Fn() + Sync)) -> u64 {
    // SAFETY: only the lifetime changes; `QueuedJob` outlives every use of the pointer.
    let work = ParallelJob(unsafe { std::mem::transmute::<*const (dyn Fn() + Sync), *const (dyn Fn() + Sync)>(work) });
    let number = {
        let mut crew = crew();
        crew.start(helpers);
        crew.latest += 1;
        let number = crew.latest;
        crew.jobs.push(PoolJob { number, work, free_slots: helpers, active: 0, panicked: false });
        number
    };
    CALL.notify_all();
    number
}

/// Stack size of a worker in bytes.
const STACK: usize = 2 << 20;

impl WorkerPool {
    /// Starts worker threads until there are `count` of them. If the system cannot start a thread, there are fewer.
    fn start(&mut self, count: usize) {
        while self.threads < count {
            // The stack size is passed explicitly: otherwise the standard library would read an environment variable
            // for it, which is unsafe in this process.
            let builder = thread::Builder::new().name("pygpu-staging".to_owned()).stack_size(STACK);
            if builder.spawn(serve).is_err() {
                return;
            }
            self.threads += 1;
        }
    }

    /// Joins the queued job with the fewest workers, or returns `None` if no job needs a worker.
    fn join(&mut self) -> Option<(u64, ParallelJob)> {
        let job = self.jobs.iter_mut().filter(|job| job.free_slots > 0).min_by_key(|job| job.active)?;
        job.free_slots -= 1;
        job.active += 1;
        Some((job.number, job.work))
    }

    fn leave(&mut self, number: u64, panicked: bool) {
        if let Some(job) = self.jobs.iter_mut().find(|job| job.number == number) {
            job.active -= 1;
            job.panicked |= panicked;
            if job.active == 0 {
                LEFT.notify_all();
            }
        }
    }
}

/// Main loop of a worker thread.
fn serve() {
    block_signals();
    let mut state = crew();
    loop {
        let Some((number, work)) = state.join() else {
            state = state.wait(&CALL);
            continue;
        };
        drop(state);
        // SAFETY: the job's caller waits in `withdraw` until this worker has left the job, so the function is valid.
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| unsafe { (*work.0)() }));
        state = crew();
        state.leave(number, outcome.is_err());
    }
}

/// Blocks all signals in this thread. Signals must be delivered to the program's own threads, because Python's main
/// thread waits for signals.
fn block_signals() {
    #[cfg(unix)]
    // SAFETY: the signal set is a local variable, and `sigfillset` initializes it before its use.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, std::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::run;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn work_runs_on_caller_and_at_most_requested_helpers() {
        for helpers in [0, 1, 3] {
            let runs = AtomicUsize::new(0);
            assert!(run(helpers, &|| {
                runs.fetch_add(1, Ordering::Relaxed);
            }));
            assert!((1..=helpers + 1).contains(&runs.load(Ordering::Relaxed)));
        }
    }

    #[test]
    fn helpers_work_concurrently_with_caller() {
        let all = Barrier::new(3);
        assert!(run(2, &|| {
            all.wait();
        }));
    }

    #[test]
    fn concurrent_jobs_of_worker_pool_all_finish() {
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let left = AtomicUsize::new(20);
                        let take = |left: &AtomicUsize| {
                            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
                        };
                        assert!(run(3, &|| while take(&left).is_ok() {}));
                        assert_eq!(left.load(Ordering::Relaxed), 0);
                    }
                });
            }
        });
    }

    #[test]
    fn helper_panic_is_reported_and_later_work_has_helpers() {
        let caller = std::thread::current().id();
        let both = Barrier::new(2);
        let fine = run(1, &|| {
            both.wait();
            assert!(std::thread::current().id() == caller, "this panic is part of the test");
        });
        assert!(!fine);
        let both = Barrier::new(2);
        assert!(run(1, &|| {
            both.wait();
        }));
    }
}
