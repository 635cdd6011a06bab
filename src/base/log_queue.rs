//! What slow paths have to say: what was compiled, opened, not found, or done in a slower way. For Python's `logging`.
//!
//! Whoever tells may hold locks and lacks the GIL, so nothing is handed on here: a note is put down, and the bell that `python` has hung
//! up says that there are some. Nothing quick tells anything, so there is no switch; where no bell hangs, nothing is kept.

use crate::fork_safe::{Global, Once};

/// How much it matters, by Python's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// What the library did, in detail: caches, libraries that were opened.
    Debug = 10,
    /// What takes a while: compilations, detours, something that is absent and done without.
    Info = 20,
    /// What was asked for and cannot be.
    Warning = 30,
}

/// One sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// How much it matters.
    pub level: Level,
    /// What was done, to what.
    pub text: String,
}

/// Most that wait to be handed on; what is told beyond that is lost.
const MOST: usize = 1000;

static NOTES: Global<Vec<Note>> = Global::new(Vec::new());
static BELL: Once<fn()> = Once::new();

/// Says whom to tell that there are notes, in any state of any thread; the first one stays.
pub fn ring_with(bell: fn()) {
    BELL.set(bell);
}

/// Puts a note down.
#[cold]
pub fn tell(level: Level, text: impl FnOnce() -> String) {
    let Some(ring) = BELL.get() else { return };
    let note = Note { level, text: text() };
    let mut notes = NOTES.lock();
    if notes.len() < MOST {
        notes.push(note);
    }
    drop(notes);
    ring();
}

/// What was put down since the last time, in order.
pub fn take() -> Vec<Note> {
    std::mem::take(&mut *NOTES.lock())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_kept_in_order_once_somebody_listens_and_not_without_bound() {
        tell(Level::Info, || "lost".to_owned());
        assert!(take().is_empty());
        ring_with(|| {});
        for number in 0..MOST + 5 {
            tell(Level::Debug, || number.to_string());
        }
        let texts: Vec<_> = take().into_iter().map(|note| note.text).collect();
        // Other tests of the process may tell something meanwhile.
        assert!(texts.len() <= MOST && texts.contains(&"7".to_owned()));
        assert!(texts.iter().position(|text| text == "3") < texts.iter().position(|text| text == "9"));
    }
}
