//! Whether a thread's operations are put off.

use std::cell::Cell;

use crate::global::Once;
use crate::settings::{self, Variable};

/// Whether operations are put off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Mode {
    /// Over memory that nobody else reaches.
    Auto,
    /// Never: each operation is launched by its line.
    Off,
    /// Also over memory that others reach: the user promises that nobody writes it meanwhile.
    Trust,
}

impl Mode {
    /// By its name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Self::Auto),
            "off" => Some(Self::Off),
            "trust" => Some(Self::Trust),
            _ => None,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Off => "off",
            Self::Trust => "trust",
        }
    }
}

thread_local! {
    static MODE: Cell<Option<Mode>> = const { Cell::new(None) };
}

fn usual() -> Mode {
    static USUAL: Once<Mode> = Once::new();
    let named = || settings::get().text(Variable::FUSION).and_then(|name| Mode::named(&name));
    *USUAL.get_or_init(|| named().unwrap_or(Mode::Auto))
}

/// The calling thread's mode.
#[inline]
pub fn current() -> Mode {
    MODE.try_with(Cell::get).ok().flatten().unwrap_or_else(usual)
}

/// Sets the calling thread's mode, and gives the one that it had.
pub fn enter(mode: Mode) -> Mode {
    let before = current();
    MODE.with(|own| own.set(Some(mode)));
    before
}
