//! Marks named ranges in a profiler's timeline. NVTX marks them for Nsight, and roctx for AMD's profiler. Ranges are
//! off unless `PYGPU_PROFILE` or a call enables them.
//!
//! Both libraries have the same two functions under different names. While ranges are off, each range costs one load
//! from memory.

use std::ffi::{CStr, CString, c_char, c_int};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};

use super::{LibrarySpec, SearchPaths, places_of};
use crate::{BackendKind, Library};
use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::ForkSafeMutex;
use pygpu_base::log_queue::{self, LogLevel};
use pygpu_base::settings::{self, Variable};

const NOUN: LibrarySpec = LibrarySpec {
    names: ["NVTX", "roctx"],
    // CUDA 13 no longer has libnvToolsExt; libnvtx3interop has the same functions.
    cuda: &[(12, "libnvToolsExt.so.1"), (12, "libnvtx3interop.so.1"), (12, "libnvtx3interop.so")],
    hip: &["libroctx64.so.4", "libroctx64.so", "librocprofiler-sdk-roctx.so.1"],
    package: "roctracer",
};

type Push = unsafe extern "C" fn(*const c_char) -> c_int;
type Pop = unsafe extern "C" fn() -> c_int;

#[derive(Clone, Copy)]
struct RangeFunctions {
    push: Push,
    pop: Pop,
}

/// State before `PYGPU_PROFILE` has been read.
const UNKNOWN: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
static CALLS: ForkSafeMutex<Option<RangeFunctions>> = ForkSafeMutex::new(None);

/// A profiler range that was begun on this thread. Dropping the value ends the range.
pub struct ProfilerRange(Pop);

impl Drop for ProfilerRange {
    fn drop(&mut self) {
        // SAFETY: the function belongs to an open library, which is never closed; it pops the range that `begin` pushed
        // on this thread's stack.
        unsafe { (self.0)() };
    }
}

/// Begins a profiler range, if ranges are enabled. The name is computed only if they are.
#[inline]
pub fn range<S: AsRef<str>>(name: impl FnOnce() -> S) -> Option<ProfilerRange> {
    if STATE.load(Ordering::Relaxed) == OFF { None } else { begin(name().as_ref()) }
}

#[cold]
fn begin(name: &str) -> Option<ProfilerRange> {
    if STATE.load(Ordering::Relaxed) == UNKNOWN {
        first();
    }
    let RangeFunctions { push, pop } = (STATE.load(Ordering::Relaxed) == ON).then(|| *CALLS.lock()).flatten()?;
    let name = CString::new(name.replace('\0', " ")).ok()?;
    push_range(push, &name);
    Some(ProfilerRange(pop))
}

fn push_range(push: Push, name: &CStr) {
    // SAFETY: the function belongs to a library that is never closed, and copies the text during the call.
    unsafe { push(name.as_ptr()) };
}

/// Enables ranges according to `PYGPU_PROFILE`, at the first range of the process.
#[cold]
fn first() {
    let setting = settings::get().text(Variable::PROFILE).filter(|text| text != "0" && text != "off");
    let done = match &setting {
        Some(which) => switch_on(which).map(drop),
        None => {
            switch_off();
            Ok(())
        }
    };
    if let Err(error) = done {
        switch_off();
        log_queue::log(LogLevel::Warning, || format!("{} asks for ranges: {error}", Variable::PROFILE.name()));
    }
}

/// Enables ranges. `which` is `nvtx`, `roctx`, or the path of a library with the functions of NVTX or of roctx. Returns
/// the path of the opened library.
///
/// # Errors
/// `Unavailable` with the names that were tried; `Value` for an unknown word.
pub fn switch_on(which: &str) -> Result<String> {
    let (kind, places) = match which {
        "nvtx" => (BackendKind::Cuda, places_of("nvtx")),
        "roctx" => (BackendKind::Hip, SearchPaths::default()),
        path if path.contains(['/', '\\']) => {
            (BackendKind::Cuda, SearchPaths { named: Some(PathBuf::from(path)), ..SearchPaths::default() })
        }
        other => {
            return Err(Error::value(format!(
                "'{other}' is no kind of ranges: 'nvtx', 'roctx', or the path of a library"
            )));
        }
    };
    let library = NOUN.find(kind, 0, &places).map_err(|attempts| {
        let searched: Vec<_> = attempts.iter().map(|attempt| format!("\n  {}: {}", attempt.name, attempt.error)).collect();
        let name = NOUN.name(kind);
        Error::Unavailable(format!(
            "{name} was not found: it comes with Nsight and CUDA 12 (pip install nvidia-nvtx-cu12), roctx with ROCm; the path of a \
             library is taken as well; searched:{}",
            searched.concat()
        ))
    })?;
    let calls = calls_of(&library).ok_or_else(|| {
        Error::Unavailable(format!("{} has neither nvtxRangePushA nor roctxRangePushA", library.name()))
    })?;
    *CALLS.lock() = Some(calls);
    STATE.store(ON, Ordering::Relaxed);
    Ok(library.name().to_owned())
}

/// Ends the range that was begun last on this thread, for callers that leaked the [`ProfilerRange`].
pub fn end() {
    let calls = *CALLS.lock();
    if let Some(RangeFunctions { pop, .. }) = calls {
        drop(ProfilerRange(pop));
    }
}

/// Disables ranges. Ranges that have already begun still end.
pub fn switch_off() {
    STATE.store(OFF, Ordering::Relaxed);
}

/// Returns whether ranges are enabled.
pub fn are_on() -> bool {
    if STATE.load(Ordering::Relaxed) == UNKNOWN {
        first();
    }
    STATE.load(Ordering::Relaxed) == ON
}

fn calls_of(library: &Library) -> Option<RangeFunctions> {
    [("nvtxRangePushA", "nvtxRangePop"), ("roctxRangePushA", "roctxRangePop")].into_iter().find_map(|(push, pop)| {
        // SAFETY: the signatures match both vendors' headers.
        unsafe { Some(RangeFunctions { push: library.get(push)?, pop: library.get(pop)? }) }
    })
}
