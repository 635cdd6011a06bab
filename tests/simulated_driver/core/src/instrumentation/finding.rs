//! Records the mistakes that the driver detects in the use of its functions by the tested program.

use std::fmt::Write;

/// Kind of a detected mistake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Two uses of the same bytes that are not ordered by streams or events, of which at least one is a write.
    Race,
    /// A use of freed memory, or a free that is not ordered after a use of the memory.
    UseAfterFree,
    /// An access to bytes outside of an allocation.
    OutOfBounds,
    /// An address that the driver never returned.
    BadAddress,
    /// A second free of the same memory.
    DoubleFree,
    /// A copy whose source and target overlap, for which the result is undefined.
    Overlap,
    /// A handle that was destroyed or that the driver never returned.
    BadHandle,
    /// A captured copy from pageable host memory. Each launch of the graph reads the content that the memory has at the
    /// launch, which is usually unintended.
    CapturedPageable,
}

impl Kind {
    /// Returns the name of the kind that reports contain.
    pub fn name(self) -> &'static str {
        match self {
            Self::Race => "race",
            Self::UseAfterFree => "use_after_free",
            Self::OutOfBounds => "out_of_bounds",
            Self::BadAddress => "bad_address",
            Self::DoubleFree => "double_free",
            Self::Overlap => "overlap",
            Self::BadHandle => "bad_handle",
            Self::CapturedPageable => "captured_pageable",
        }
    }
}

/// A mistake that the driver detected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Kind of the mistake.
    pub kind: Kind,
    /// Name of the driver function during whose call the mistake was detected.
    pub call: &'static str,
    /// Description of the mistake.
    pub text: String,
}

/// Maximum number of stored findings; further findings are only counted.
const MOST: usize = 1000;

/// All findings so far.
#[derive(Default)]
pub struct Findings {
    kept: Vec<Finding>,
    more: u64,
}

impl Findings {
    /// Adds a finding.
    pub fn note(&mut self, kind: Kind, call: &'static str, text: String) {
        if self.kept.len() < MOST {
            self.kept.push(Finding { kind, call, text });
        } else {
            self.more += 1;
        }
    }

    /// Returns the stored findings.
    pub fn all(&self) -> &[Finding] {
        &self.kept
    }

    /// Removes all findings.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Formats each finding as a JSON object.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self
            .kept
            .iter()
            .map(|finding| {
                let (kind, call, text) = (finding.kind.name(), finding.call, quoted(&finding.text));
                format!(r#"{{"kind": "{kind}", "call": "{call}", "text": {text}}}"#)
            })
            .collect();
        if self.more > 0 {
            lines.push(format!(r#"{{"kind": "more", "call": "", "text": "{} more were not kept"}}"#, self.more));
        }
        lines
    }
}

/// Formats a JSON string.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            // Writing to a `String` cannot fail.
            character if character < ' ' => drop(write!(quoted, "\\u{:04x}", u32::from(character))),
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    #![allow(missing_docs)]
    use super::*;

    #[test]
    fn json_text_escapes_special_characters() {
        assert_eq!(quoted("a \"b\" \\ \n"), r#""a \"b\" \\ \u000a""#);
    }

    #[test]
    fn findings_beyond_limit_are_counted_but_not_stored() {
        let mut findings = Findings::default();
        for number in 0..MOST + 3 {
            findings.note(Kind::Race, "call", number.to_string());
        }
        assert_eq!((findings.all().len(), findings.lines().len()), (MOST, MOST + 1));
        assert!(findings.lines()[MOST].contains("3 more"));
    }
}
