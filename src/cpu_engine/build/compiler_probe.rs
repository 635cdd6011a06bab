//! Runs compiler probes: runs of the compiler whose output depends on the compiler and its options, but not on a
//! source. Each probe runs at most once per process.

use std::fs;
use std::process::{Child, Stdio};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::compiler_process::{CompilerRun, OF_SCHEDULER, SCHEDULER};
use super::precompiled;
use super::{Failure, machine};
use crate::find_compiler::CxxCompiler;

/// The kinds of compiler probes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Probe {
    /// Compiles the scheduler, which runs the threads of a block. The output is its object file.
    Scheduler,
    /// Lists the folders in which the compiler searches for headers. A folder that an option names explicitly is left
    /// out, unless another option can change which folders are searched.
    Folders,
}

/// A cached output, with the values that identify it: the probe, the compiler and the options.
struct ProbeAnswer {
    question: Probe,
    compiler: String,
    options: Vec<String>,
    answer: Vec<u8>,
    next: *const ProbeAnswer,
}

/// Head of the list of cached outputs. The list needs no lock, because its few entries are never changed or freed.
static LATEST: AtomicPtr<ProbeAnswer> = AtomicPtr::new(ptr::null_mut());

fn named(compiler: &CxxCompiler) -> String {
    format!("{} {}", compiler.path.display(), compiler.version)
}

fn find(question: Probe, compiler: &CxxCompiler, options: &[String]) -> Option<&'static [u8]> {
    let name = named(compiler);
    let mut next = LATEST.load(Ordering::Acquire).cast_const();
    // SAFETY: an entry is complete before it is added to the list, and is never changed or freed afterwards.
    while let Some(known) = unsafe { next.as_ref() } {
        if known.question == question && known.compiler == name && known.options == options {
            return Some(&known.answer);
        }
        next = known.next;
    }
    None
}

fn cache(question: Probe, compiler: &CxxCompiler, options: &[String], answer: Vec<u8>) {
    let known =
        ProbeAnswer { question, compiler: named(compiler), options: options.to_vec(), answer, next: ptr::null() };
    let known = Box::leak(Box::new(known));
    let mut next = LATEST.load(Ordering::Acquire);
    loop {
        known.next = next;
        match LATEST.compare_exchange_weak(next, known, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return,
            Err(other) => next = other,
        }
    }
}

/// Returns whether the output of a probe may be cached. It must not be cached if options name folders in a form for
/// which a folder created later changes the output.
fn is_cacheable(question: Probe, run: &CompilerRun<'_>) -> bool {
    question == Probe::Scheduler || precompiled::are_plain(run.options)
}

/// The cached output of a probe, or the running compiler process of a probe whose output is not cached yet.
pub struct CachedProbe {
    question: Probe,
    options: Vec<String>,
    state: ProbeState,
}

enum ProbeState {
    Known(&'static [u8]),
    Running(Child),
}

/// Starts a probe, unless its output is already cached.
pub fn probe(question: Probe, run: &CompilerRun<'_>) -> Result<CachedProbe, Failure> {
    let options = match question {
        Probe::Scheduler => run.options.to_vec(),
        Probe::Folders => precompiled::without_named_folders(run.options),
    };
    let state = match find(question, run.compiler, &options).filter(|_| is_cacheable(question, run)) {
        Some(known) => ProbeState::Known(known),
        None => {
            let run = CompilerRun { options: &options, ..*run };
            let mut command = match question {
                Probe::Scheduler => run.command(&OF_SCHEDULER),
                Probe::Folders => run.command(&["-E", "-v", "-x", "c++", "/dev/null"]),
            };
            let child = command.stdout(Stdio::null()).spawn();
            ProbeState::Running(child.map_err(machine("the compiler cannot be run"))?)
        }
    };
    Ok(CachedProbe { question, options, state })
}

impl CachedProbe {
    /// Waits for the output of the probe. If the compiler fails, the inner error is the compiler's message.
    pub fn answer(self, run: &CompilerRun<'_>) -> Result<Result<Vec<u8>, String>, Failure> {
        let child = match self.state {
            ProbeState::Known(known) => return Ok(Ok(known.to_vec())),
            ProbeState::Running(child) => child,
        };
        let output = child.wait_with_output().map_err(machine("the compiler cannot be run"))?;
        if !output.status.success() {
            return Ok(Err(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let answer = match self.question {
            Probe::Scheduler => fs::read(run.place.join(SCHEDULER)).map_err(machine("the scheduler cannot be read"))?,
            Probe::Folders => output.stderr,
        };
        if is_cacheable(self.question, run) {
            cache(self.question, run.compiler, &self.options, answer.clone());
        }
        Ok(Ok(answer))
    }
}
