//! Limits the size of static shared memory, as on devices: a source that exceeds the limit per block does not compile.
//!
//! Only the compiler can compute the sizes. Therefore a static assertion about the sum of all visible variables is
//! inserted after each declaration. Variables in separate scopes are not added up, and variables of called functions
//! are not counted.

use crate::scopes::{behind_brackets, has_brackets};
use crate::tokens::{Token, TokenKind};

/// The shared variables that are visible at a position, by scope.
#[derive(Default)]
pub struct SharedSizes {
    visible: Vec<(usize, String)>,
    depth: usize,
    /// Names of the variables that the current statement declares.
    fresh: Vec<String>,
}

impl SharedSizes {
    /// Adds the names that a declaration of shared memory introduces.
    pub fn declared(&mut self, names: Vec<String>) {
        self.fresh = names;
    }

    /// Processes a punctuation mark. Returns the text to insert after it, if any.
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

/// Returns the names of the variables in the declaration whose type begins at `position`. Each name precedes a `[`,
/// `=`, `,` or the end.
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
                // Declarators such as `(*name)[4]` are ignored, and so are attributes.
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
