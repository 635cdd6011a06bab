//! Converts a kernel to loops over the threads of a block, with one loop for the code between two consecutive barriers.
//!
//! The conversion processes preprocessed text, before that text is rewritten. A kernel is converted if each of its
//! barriers is at the top level of its body, or at the top level of a loop whose header has the same values for all
//! threads. If this is uncertain, the kernel stays unchanged and runs with a separate stack for each thread. If the
//! conversion misparses a kernel, the converted kernel must fail to compile, because of an unknown name or an
//! assignment to a constant. The original source is compiled then. The converted source must never compile with another
//! meaning. Line numbers are preserved.

mod barrier_regions;
mod declarations;
mod statements;
mod unsupported_kernels;

use self::barrier_regions::Regions;
use self::statements::TokenizedSource;
use super::source_scopes::{Scopes, behind_brackets, has_brackets};
use super::tokens::{TokenKind, tokens};

/// A source in which some kernels were converted so that one call runs a whole block.
pub struct Split {
    /// The source with the converted kernels.
    pub source: String,
    /// Names of the converted kernels.
    pub kernels: Vec<String>,
}

/// The definition of a kernel, as positions of tokens.
pub struct Definition {
    name: String,
    /// Position of the declaration's first token, which may begin a template header.
    declaration: usize,
    /// Range of the parameter list, including its parentheses; `body` is the range of the body, including its braces.
    /// Ends are exclusive.
    parameters: (usize, usize),
    body: (usize, usize),
}

/// Name of a function, and the ranges of its parameter list and its body.
type DefinitionSpans<'a> = (&'a str, (usize, usize), (usize, usize));

/// A range of bytes in the source, and the text that replaces it.
#[derive(Debug)]
pub struct Edit {
    start: usize,
    end: usize,
    text: String,
}

/// Returns the source in which every kernel that can be converted is a loop over its threads. Returns `None` if no
/// kernel can be converted.
pub fn split(source: &str) -> Option<Split> {
    let text = TokenizedSource { source, tokens: tokens(source) };
    let definitions = definitions(&text);
    if unsupported_kernels::waits_outside(&text, &definitions) {
        return None;
    }
    let constants = unsupported_kernels::constants(&text, &definitions);
    let (mut edits, mut kernels) = (Vec::new(), Vec::new());
    for definition in &definitions {
        if is_alone(&text, &definitions, definition)
            && let Some(own) = Regions::of(&text, definition, &constants)
        {
            edits.extend(own);
            kernels.push(definition.name.clone());
        }
    }
    (!kernels.is_empty()).then(|| Split { source: edited(source, edits), kernels })
}

/// Returns whether the source contains no overload and no specialization of the kernel.
fn is_alone(text: &TokenizedSource<'_>, definitions: &[Definition], definition: &Definition) -> bool {
    let own = text.at(definition.parameters.0 - 1);
    let is_special = |at: usize| text.at(at) == own && text.at(at + 1) == "<";
    definitions.iter().filter(|other| other.name == definition.name).count() == 1
        && !(0..text.tokens.len()).any(is_special)
}

/// Returns the definitions of the kernels at namespace scope.
fn definitions(text: &TokenizedSource<'_>) -> Vec<Definition> {
    let (mut scopes, mut statement, mut found) = (Scopes::default(), 0, Vec::new());
    for position in 0..text.tokens.len() {
        let word = text.at(position);
        if text.tokens[position].kind == TokenKind::Mark && matches!(word, "{" | "}" | ";") {
            let words: Vec<&str> = (statement..position).map(|at| text.at(at)).collect();
            scopes.pass(word, &words);
            statement = position + 1;
        } else if word == "__global__"
            && scopes.outside()
            && let Some((name, parameters, body)) = parts(text, position + 1)
        {
            found.push(Definition { name: scopes.qualified(name), declaration: statement, parameters, body });
        }
    }
    found
}

/// Returns the name, parameter list and body of the function whose declaration begins at `position`.
fn parts<'a>(text: &TokenizedSource<'a>, mut position: usize) -> Option<DefinitionSpans<'a>> {
    while position < text.tokens.len() {
        let word = text.at(position);
        if has_brackets(word) {
            position = behind_brackets(text.source, &text.tokens, position + 1);
            continue;
        }
        if matches!(word, ";" | "{" | "}") {
            return None;
        }
        if text.is_word(position) && text.at(position + 1) == "(" {
            let end = behind_brackets(text.source, &text.tokens, position + 1);
            let body = (text.at(end) == "{").then(|| (end, behind_brackets(text.source, &text.tokens, end)))?;
            return Some((word, (position + 1, end), body));
        }
        position += 1;
    }
    None
}

fn edited(source: &str, mut edits: Vec<Edit>) -> String {
    // The sort is stable, so edits with equal positions keep the order in which they were created.
    edits.sort_by_key(|edit| edit.start);
    let (mut output, mut copied) = (String::with_capacity(source.len() + 4096), 0);
    for edit in edits {
        output.push_str(&source[copied..edit.start]);
        output.push_str(&edit.text);
        let lines = source[edit.start..edit.end].matches('\n').count();
        output.extend(std::iter::repeat_n('\n', lines));
        copied = edit.end;
    }
    output.push_str(&source[copied..]);
    output
}
