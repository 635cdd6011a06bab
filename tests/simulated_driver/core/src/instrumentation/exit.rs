//! Writes the final report, and makes calls fail at process exit and in a forked child.

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::driver::Driver;
use crate::error_codes::{DEINITIALIZED, NOT_INITIALIZED, Outcome};
use crate::finding::quoted;

static WATCH: Once = Once::new();
static FORKED: AtomicBool = AtomicBool::new(false);
static ENDED: AtomicBool = AtomicBool::new(false);

/// Registers the function that writes the report at process exit.
pub(crate) fn watch() {
    WATCH.call_once(|| {
        // If the registration fails, no report is written, and the tests detect the missing report.
        // SAFETY: both registered functions are static and do not unwind.
        unsafe {
            libc::atexit(at_exit);
            libc::pthread_atfork(None, None, Some(in_child));
        }
    });
}

extern "C" fn in_child() {
    FORKED.store(true, Ordering::Relaxed);
}

extern "C" fn at_exit() {
    if is_forked() {
        return;
    }
    ENDED.store(true, Ordering::SeqCst);
    // A panic must not reach C code, and cannot be reported at process exit.
    let _ = std::panic::catch_unwind(|| {
        if let Some(driver) = Driver::if_made() {
            driver.report();
        }
    });
}

/// Returns whether this process is a forked child of the process that opened the driver.
pub(crate) fn is_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// Returns an error for every call in a forked child, where the driver's threads are missing, and for every call after
/// the driver has ended at process exit.
///
/// # Errors
/// The error code that the vendor's driver returns for an invalid argument or state.
pub fn refuse() -> Outcome<()> {
    if is_forked() {
        return Err(NOT_INITIALIZED);
    }
    if ENDED.load(Ordering::Relaxed) { Err(DEINITIALIZED) } else { Ok(()) }
}

impl Driver {
    /// Writes the final report.
    fn report(&self) {
        let mut lines = {
            let state = self.lock();
            state.findings.lines()
        };
        if !lines.is_empty() {
            let text = lines.join("\n");
            let count = lines.len();
            // A failure to write to stderr cannot be reported, so it is ignored.
            let _ = writeln!(std::io::stderr(), "simulated driver: {count} findings\n{text}");
        }
        lines.extend(self.config.mistakes.iter().map(|mistake| {
            let _ = writeln!(std::io::stderr(), "simulated driver: {mistake}");
            format!(r#"{{"kind": "configuration", "call": "", "text": {}}}"#, quoted(mistake))
        }));
        let Some(path) = &self.config.report else { return };
        lines.push(format!(r#"{{"kind": "live_at_exit", "call": "", "live": {}}}"#, self.live()));
        let file = OpenOptions::new().create(true).append(true).open(path);
        if let Err(error) = file.and_then(|mut file| file.write_all((lines.join("\n") + "\n").as_bytes())) {
            let _ = writeln!(std::io::stderr(), "simulated driver: {}: {error}", path.display());
        }
    }
}
