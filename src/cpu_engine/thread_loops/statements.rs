//! Where a statement ends.

use crate::scopes::behind_brackets;
use crate::tokens::{Kind, Token};

/// A preprocessed source and its tokens.
pub struct Text<'a> {
    /// The source.
    pub source: &'a str,
    /// Its tokens, without those of the system's headers.
    pub tokens: Vec<Token>,
}

impl<'a> Text<'a> {
    /// The characters of a token; none behind the last.
    pub fn at(&self, position: usize) -> &'a str {
        self.tokens.get(position).map_or("", |token| token.text(self.source))
    }

    /// Whether it is a name or a keyword.
    pub fn is_word(&self, position: usize) -> bool {
        self.tokens.get(position).is_some_and(|token| token.kind == Kind::Word)
    }

    /// Whether it names something by itself, and not a member.
    pub fn is_name(&self, position: usize) -> bool {
        let before = position.checked_sub(1).map_or("", |before| self.at(before));
        let arrow = before == ">" && position > 1 && self.at(position - 2) == "-";
        self.is_word(position) && before != "." && !arrow
    }

    /// Whether a name occurs.
    pub fn names(&self, (first, end): (usize, usize), name: &str) -> bool {
        (first..end).any(|at| self.at(at) == name && self.is_name(at))
    }

    /// Whether one of these words occurs.
    pub fn has(&self, (first, end): (usize, usize), words: &[&str]) -> bool {
        (first..end).any(|at| self.is_word(at) && words.contains(&self.at(at)))
    }

    /// The tokens with blanks between them.
    pub fn joined(&self, (first, end): (usize, usize)) -> String {
        (first..end).map(|at| self.at(at)).collect::<Vec<_>>().join(" ")
    }

    /// The position behind the brackets that open here.
    pub fn behind(&self, open: usize) -> usize {
        behind_brackets(self.source, &self.tokens, open)
    }

    /// The position of one of these marks outside of brackets, or `end`.
    pub fn find(&self, (first, end): (usize, usize), marks: &[&str]) -> usize {
        let mut at = first;
        while at < end && !marks.contains(&self.at(at)) {
            at = if matches!(self.at(at), "(" | "[" | "{") { self.behind(at) } else { at + 1 };
        }
        at.min(end)
    }

    /// The position behind the statement that begins here.
    pub fn statement(&self, position: usize, end: usize) -> usize {
        let headed = |at: usize| if self.at(at) == "(" { self.statement(self.behind(at), end) } else { end };
        let next = match self.at(position) {
            "{" => self.behind(position),
            "if" => {
                let at = if self.at(position + 1) == "constexpr" { position + 2 } else { position + 1 };
                let then = headed(at);
                if self.at(then) == "else" { self.statement(then + 1, end) } else { then }
            }
            "for" | "while" | "switch" => headed(position + 1),
            "do" => {
                let body = self.statement(position + 1, end);
                self.find((body, end), &[";"]) + 1
            }
            _ => self.find((position, end), &[";"]) + 1,
        };
        next.min(end)
    }
}
