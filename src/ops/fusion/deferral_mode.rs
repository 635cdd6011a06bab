//! Defines the mode that determines whether a thread's operations are deferred.

use std::cell::Cell;

use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::ForkSafeOnce;
use pygpu_base::settings::{self, Settings, Variable};

/// Whether elementwise operations and reductions are deferred.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum FusionMode {
    /// Defer operations on private memory, i.e. memory from PyGPU's pool that no other code can access.
    Auto,
    /// Launch every operation eagerly.
    Off,
}

impl FusionMode {
    /// Returns the fusion mode that has the given name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Self::Auto),
            "off" => Some(Self::Off),
            _ => None,
        }
    }

    /// Returns the mode's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Off => "off",
        }
    }
}

/// Settings from environment variables.
struct DefaultMode {
    mode: FusionMode,
    /// Number of uses at which a structure of several operations is compiled.
    compile_threshold: u64,
}

/// Default compile threshold. It is two, so that code that runs once never waits for a compiler.
const COMPILE_THRESHOLD: u64 = 2;

impl DefaultMode {
    fn of(settings: &Settings) -> Result<Self> {
        let mode = match settings.text(Variable::FUSION).as_deref() {
            None => FusionMode::Auto,
            Some("0") => FusionMode::Off,
            Some(name) => FusionMode::named(name).ok_or_else(|| {
                Error::value(format!("{} must be 'auto' or 'off', and is '{name}'", Variable::FUSION.name()))
            })?,
        };
        let compile_threshold = match settings.text(Variable::FUSION_COMPILE).as_deref() {
            None | Some("second") => COMPILE_THRESHOLD,
            Some("first") => 1,
            Some(other) => {
                let name = Variable::FUSION_COMPILE.name();
                return Err(Error::value(format!("{name} must be 'first' or 'second', and is '{other}'")));
            }
        };
        Ok(Self { mode, compile_threshold })
    }
}

thread_local! {
    static MODE: Cell<Option<FusionMode>> = const { Cell::new(None) };
}

#[cold]
fn usual() -> Result<&'static DefaultMode> {
    static USUAL: ForkSafeOnce<Result<DefaultMode>> = ForkSafeOnce::new();
    let settings = settings::get();
    USUAL.get_or_init(|| DefaultMode::of(settings)).as_ref().map_err(Clone::clone)
}

/// Returns the calling thread's mode.
///
/// # Errors
/// `ValueError` for an invalid environment variable, on every call.
#[inline]
pub fn current() -> Result<FusionMode> {
    match MODE.try_with(Cell::get).ok().flatten() {
        Some(mode) => Ok(mode),
        None => {
            let mode = usual()?.mode;
            enter(mode);
            Ok(mode)
        }
    }
}

/// Sets the calling thread's mode. Has no effect in a thread that is ending.
pub fn enter(mode: FusionMode) {
    let _ = MODE.try_with(|own| own.set(Some(mode)));
}

/// Returns the compile threshold, i.e. the number of uses at which a structure of operations is compiled.
pub(super) fn compile_threshold() -> u64 {
    usual().map_or(COMPILE_THRESHOLD, |usual| usual.compile_threshold)
}
