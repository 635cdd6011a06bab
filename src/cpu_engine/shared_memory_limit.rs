//! Limits the size of static shared memory, as devices do: a source that exceeds the limit of a block does not compile.
//!
//! Only the compiler can compute the sizes of variables. Therefore a static assertion about the total size of all
//! visible shared variables is inserted after each declaration of shared memory. Variables in separate scopes are not
//! added up, and variables of called functions are not counted.

use crate::source_scopes::{behind_brackets, has_brackets};
use crate::tokens::{Token, TokenKind};

/// The shared variables that are visible at a position in the source, each with the depth of its scope.
#[derive(Default)]
pub struct SharedSizes {
    visible: Vec<(usize, String)>,
    depth: usize,
    /// Names of the shared variables that the current statement declares; they become visible after the statement.
    fresh: Vec<String>,
}

impl SharedSizes {
    /// Sets the names that the current statement, a declaration of shared memory, introduces.
    pub fn declared(&mut self, names: Vec<String>) {
        self.fresh = names;
    }

    /// Updates the visible variables for a punctuation mark. Returns the static assertion that must be inserted after
    /// the punctuation mark, if any.
    pub fn pass(&mut self, mark: &str) -> Option<String> {
        match mark {
            "{" => self.depth += 1,
            "}" => {
                self.depth = self.depth.saturating_sub(1);
                self.visible.retain(|(depth, _)| *depth <= self.depth);
            }
            ";" if !self.fresh.is_empty() => {
                let depth = self.depth;
                self.visible.extend(self.fresh.drain(..).map(|name| (depth, name)));
                return Some(assertion(self.visible.iter().map(|(_, name)| name.as_str())));
            }
            _ => {}
        }
        None
    }
}

fn assertion<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let sizes: Vec<String> = names.map(|name| format!("sizeof({name})")).collect();
    format!(
        " static_assert({} <= ::pygpu_cpu::static_shared_bytes, \"__shared__ variables take more than a block may have of static shared \
         memory (48 KiB; 64 KiB on AMD's devices): make them smaller, or use dynamic shared memory (extern __shared__), of which \
         a kernel may be allowed more\");",
        sizes.join(" + ")
    )
}

/// Returns the names of the variables in the declaration whose type begins at `position`. A variable's name precedes a
/// `[`, `=`, `,` or the end of the declaration.
pub fn names_declared(source: &str, tokens: &[Token], position: usize) -> Vec<String> {
    let mut names = Vec::new();
    let mut last: Option<&str> = None;
    let (mut at, mut angles, mut is_value) = (position, 0usize, false);
    while let Some(token) = tokens.get(at) {
        let text = token.text(source);
        let ends_name = matches!(text, "[" | "=" | "," | ";") && angles == 0;
        if ends_name && !is_value {
            names.extend(last.take().map(str::to_owned));
        }
        match text {
            ";" => break,
            _ if has_brackets(text) => {
                at = behind_brackets(source, tokens, at + 1);
                continue;
            }
            "{" | "}" => return Vec::new(),
            "(" | "[" => {
                // Declarators such as `(*name)[4]` and attributes are ignored.
                at = behind_brackets(source, tokens, at);
                is_value |= text == "[";
                continue;
            }
            "<" if !is_value => angles += 1,
            ">" if !is_value => angles = angles.saturating_sub(1),
            "=" => is_value = true,
            "," if angles == 0 => is_value = false,
            _ if token.kind == TokenKind::Word && angles == 0 => last = Some(text),
            _ => {}
        }
        at += 1;
    }
    names
}
