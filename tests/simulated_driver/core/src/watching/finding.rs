//! What the program did wrong, as far as it was seen.

use std::fmt::Write;

/// One kind of mistake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Two uses of the same bytes, one of them a write, that nothing orders.
    Race,
    /// A use of memory that was given back, or the end of memory whose use is not ordered before.
    UseAfterFree,
    /// Bytes beside an allocation.
    OutOfBounds,
    /// An address or a handle that was never given out.
    BadAddress,
    /// Memory given back twice.
    DoubleFree,
    /// A copy whose source and target share bytes, which is undefined.
    Overlap,
    /// A handle that was destroyed or never made.
    BadHandle,
    /// A captured copy out of host memory that is not pinned: each launch of the graph reads what lies there then.
    CapturedPageable,
}

impl Kind {
    /// The name in reports.
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

/// One mistake.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Of which kind.
    pub kind: Kind,
    /// In which call.
    pub call: &'static str,
    /// In words.
    pub text: String,
}

/// So many are kept; the rest is only counted.
const MOST: usize = 1000;

/// All mistakes so far.
#[derive(Default)]
pub struct Findings {
    kept: Vec<Finding>,
    more: u64,
}

impl Findings {
    /// Notes one.
    pub fn note(&mut self, kind: Kind, call: &'static str, text: String) {
        if self.kept.len() < MOST {
            self.kept.push(Finding { kind, call, text });
        } else {
            self.more += 1;
        }
    }

    /// Those that were kept.
    pub fn all(&self) -> &[Finding] {
        &self.kept
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// One JSON object each.
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

/// A text as JSON has it.
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
