//! Static shared memory is bounded, as on devices: what does not fit into a block's there does not compile here.
//!
//! Sizes are the compiler's business, so it is asked: behind each declaration stands an assertion about the sum of what is visible
//! there. Variables of scopes beside each other are not added up, and those of functions that are called neither.

use crate::scopes::{behind_brackets, has_brackets};
use crate::tokens::{Kind, Token};

/// The shared variables that are visible, by scopes.
#[derive(Default)]
pub struct SharedSizes {
    visible: Vec<(usize, String)>,
    depth: usize,
    /// Declared in the statement that is read.
    fresh: Vec<String>,
}

impl SharedSizes {
    /// Takes the names of a declaration.
    pub fn declared(&mut self, names: Vec<String>) {
        self.fresh = names;
    }

    /// Goes over a mark; gives what is to stand behind it.
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

/// The names that a declaration declares, whose type begins at `position`: before each `[`, `=`, `,` or the end.
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
                // `(*name)[4]` and the like are left alone, as is what attributes say.
                at = behind_brackets(source, tokens, at);
                is_value |= text == "[";
                continue;
            }
            "<" if !is_value => angles += 1,
            ">" if !is_value => angles = angles.saturating_sub(1),
            "=" => is_value = true,
            "," if angles == 0 => is_value = false,
            _ if token.kind == Kind::Word && angles == 0 => last = Some(text),
            _ => {}
        }
        at += 1;
    }
    names
}
