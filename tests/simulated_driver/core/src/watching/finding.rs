//! Detected mistakes of the program.

use std::fmt::Write;

/// Kind of mistake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Two unordered uses of the same bytes, at least one of them a write.
    Race,
    /// A use of freed memory, or a free that is not ordered after a use.
    UseAfterFree,
    /// Bytes outside of an allocation.
    OutOfBounds,
    /// An address or a handle that never existed.
    BadAddress,
    /// Memory freed twice.
    DoubleFree,
    /// A copy whose source and target overlap, which is undefined.
    Overlap,
    /// A handle that was destroyed or never created.
    BadHandle,
    /// A captured copy from pageable host memory: each launch of the graph reads its current content.
    CapturedPageable,
}

impl Kind {
    /// Returns the name in reports.
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

/// Detected mistake.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Kind.
    pub kind: Kind,
    /// Call in which it was detected.
    pub call: &'static str,
    /// Description.
    pub text: String,
}

/// Maximum number of stored findings; further ones are only counted.
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
            // Writing to a string cannot fail.
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
    fn texts_survive_json() {
        assert_eq!(quoted("a \"b\" \\ \n"), r#""a \"b\" \\ \u000a""#);
    }

    #[test]
    fn too_many_findings_are_counted() {
        let mut findings = Findings::default();
        for number in 0..MOST + 3 {
            findings.note(Kind::Race, "call", number.to_string());
        }
        assert_eq!((findings.all().len(), findings.lines().len()), (MOST, MOST + 1));
        assert!(findings.lines()[MOST].contains("3 more"));
    }
}
