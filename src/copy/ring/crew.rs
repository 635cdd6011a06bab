//! Threads that help the calling thread with a copy.
//!
//! They start when first wanted, stay for the process and sleep when there is nothing to do. A piece of work may be run by
//! any number of threads at once, none of the helpers included: the caller does all of it if nobody comes, so that calls of
//! several threads share the helpers and never wait for one another.
//!
//! At the end of the process they sleep, or stay outside the closed door of the driver (`backend::exit`); who ends the process
//! must ask for no help any more (`lifetime::exiting`). A forked child has none of them, and its GPU calls are refused before
//! they come here.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Condvar;
use std::thread;

use pygpu_base::fork_safe::{Global, Guard};

/// What helpers run: lent by a caller who stays until all have left.
#[derive(Clone, Copy)]
struct Work(*const (dyn Fn() + Sync));

// SAFETY: what it points to is `Sync`, and lives until its job is withdrawn.
unsafe impl Send for Work {}

struct Job {
    number: u64,
    work: Work,
    /// Helpers that may still come.
    wanted: usize,
    /// Helpers at work.
    active: usize,
    panicked: bool,
}

struct Crew {
    jobs: Vec<Job>,
    threads: usize,
    latest: u64,
}

static CREW: Global<Crew> = Global::new(Crew { jobs: Vec::new(), threads: 0, latest: 0 });
/// There is work.
static CALL: Condvar = Condvar::new();
/// The last helper has left a job.
static LEFT: Condvar = Condvar::new();

fn crew() -> Guard<Crew> {
    CREW.lock()
}

/// Runs `work` on this thread and on up to `helpers` others at the same time, and returns when all have returned. `false` if one
/// of the others panicked.
pub(super) fn run(helpers: usize, work: &(dyn Fn() + Sync)) -> bool {
    if helpers == 0 {
        work();
        return true;
    }
    let mut job = Posted { number: post(helpers, work), panicked: false };
    work();
    job.withdraw();
    !job.panicked
}

/// A job that is in the list: it must leave it before what it points to ends.
struct Posted {
    number: u64,
    panicked: bool,
}

impl Posted {
    /// Lets nobody come any more and waits for those who are there.
    fn withdraw(&mut self) {
        let mut crew = crew();
        while let Some(place) = crew.jobs.iter().position(|job| job.number == self.number) {
            crew.jobs[place].wanted = 0;
            if crew.jobs[place].active == 0 {
                self.panicked = crew.jobs.swap_remove(place).panicked;
                return;
            }
            crew = crew.wait(&LEFT);
        }
    }
}

impl Drop for Posted {
    /// For a caller whose own part panics.
    fn drop(&mut self) {
        self.withdraw();
    }
}

fn post(helpers: usize, work: &(dyn Fn() + Sync)) -> u64 {
    // SAFETY: only the lifetime changes; `Posted` outlives every use of it.
    let work = Work(unsafe { std::mem::transmute::<*const (dyn Fn() + Sync), *const (dyn Fn() + Sync)>(work) });
    let number = {
        let mut crew = crew();
        crew.start(helpers);
        crew.latest += 1;
        let number = crew.latest;
        crew.jobs.push(Job { number, work, wanted: helpers, active: 0, panicked: false });
        number
    };
    CALL.notify_all();
    number
}

/// Bytes of a thread's stack.
const STACK: usize = 2 << 20;

impl Crew {
    /// Starts threads until there are `wanted`. Where the system refuses one, fewer help.
    fn start(&mut self, wanted: usize) {
        while self.threads < wanted {
            // A size that is named: else the standard library asks the environment for one.
            let builder = thread::Builder::new().name("pygpu-staging".to_owned()).stack_size(STACK);
            if builder.spawn(serve).is_err() {
                return;
            }
            self.threads += 1;
        }
    }

    /// Joins the job with the fewest helpers.
    fn join(&mut self) -> Option<(u64, Work)> {
        let job = self.jobs.iter_mut().filter(|job| job.wanted > 0).min_by_key(|job| job.active)?;
        job.wanted -= 1;
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

/// The life of a helper.
fn serve() {
    block_signals();
    let mut state = crew();
    loop {
        let Some((number, work)) = state.join() else {
            state = state.wait(&CALL);
            continue;
        };
        drop(state);
        // SAFETY: the caller waits in `withdraw` until this helper has left.
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| unsafe { (*work.0)() }));
        state = crew();
        state.leave(number, outcome.is_err());
    }
}

/// Signals are for the program's own threads: Python's main thread waits for them.
fn block_signals() {
    #[cfg(unix)]
    // SAFETY: the set is filled before it is used.
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
    fn work_is_run_by_the_caller_and_at_most_as_many_helpers_as_wanted() {
        for helpers in [0, 1, 3] {
            let runs = AtomicUsize::new(0);
            assert!(run(helpers, &|| {
                runs.fetch_add(1, Ordering::Relaxed);
            }));
            assert!((1..=helpers + 1).contains(&runs.load(Ordering::Relaxed)));
        }
    }

    #[test]
    fn helpers_work_at_the_same_time_as_the_caller() {
        let all = Barrier::new(3);
        assert!(run(2, &|| {
            all.wait();
        }));
    }

    #[test]
    fn several_callers_at_once_all_finish() {
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
    fn a_helper_that_panics_is_told_of_and_the_next_work_has_helpers() {
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
