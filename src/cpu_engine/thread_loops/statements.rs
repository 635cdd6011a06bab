//! Holds a preprocessed source with its tokens, and finds the extent of its statements.

use crate::source_scopes::behind_brackets;
use crate::tokens::{Token, TokenKind, joined};

/// A preprocessed source with its tokens.
pub struct TokenizedSource<'a> {
    /// The text of the source.
    pub source: &'a str,
    /// The tokens of the source, without those of system headers.
    pub tokens: Vec<Token>,
}

impl<'a> TokenizedSource<'a> {
    /// Returns the text of a token; empty for positions after the last token.
    pub fn at(&self, position: usize) -> &'a str {
        self.tokens.get(position).map_or("", |token| token.text(self.source))
    }

    /// Returns whether a token is a name or a keyword.
    pub fn is_word(&self, position: usize) -> bool {
        self.tokens.get(position).is_some_and(|token| token.kind == TokenKind::Word)
    }

    /// Returns whether a token is a name that does not follow `.` or `->`.
    pub fn is_name(&self, position: usize) -> bool {
        let before = position.checked_sub(1).map_or("", |before| self.at(before));
        let arrow = before == ">" && position > 1 && self.at(position - 2) == "-";
        self.is_word(position) && before != "." && !arrow
    }

    /// Returns whether a name that does not follow `.` or `->` occurs in a range of tokens.
    pub fn names(&self, (first, end): (usize, usize), name: &str) -> bool {
        (first..end).any(|at| self.at(at) == name && self.is_name(at))
    }

    /// Returns whether at least one of the words occurs in a range of tokens.
    pub fn has(&self, (first, end): (usize, usize), words: &[&str]) -> bool {
        (first..end).any(|at| self.is_word(at) && words.contains(&self.at(at)))
    }

    /// Returns the texts of the tokens in a range.
    pub fn joined(&self, (first, end): (usize, usize)) -> String {
        self.tokens.get(first..end).map_or_else(String::new, |tokens| joined(self.source, tokens))
    }

    /// Returns the position after the closing bracket that matches the opening bracket at `open`.
    pub fn behind(&self, open: usize) -> usize {
        behind_brackets(self.source, &self.tokens, open)
    }

    /// Returns the position of the first token outside of brackets that is one of the texts in `marks`, or `end` if
    /// there is no such token.
    pub fn find(&self, (first, end): (usize, usize), marks: &[&str]) -> usize {
        let mut at = first;
        while at < end && !marks.contains(&self.at(at)) {
            at = if matches!(self.at(at), "(" | "[" | "{") { self.behind(at) } else { at + 1 };
        }
        at.min(end)
    }

    /// Returns the position after the statement that begins at `position`.
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
