//! Converts a kernel to loops over the threads of a block, one loop for the code between two barriers.
//!
//! Works on preprocessed text, before it is rewritten. A kernel is converted if all its barriers are at the top level
//! of its body, or of loops whose headers are the same for all threads. If this is uncertain, it stays unchanged, with
//! a stack for each thread. A misparsed kernel must fail to compile (an unknown name, an assignment to a constant), and
//! then the original source is compiled: the result must never compile with another meaning. Line numbers are
//! preserved.

mod declarations;
mod refusals;
mod regions;
mod statements;

use self::regions::Regions;
use self::statements::TokenizedSource;
use super::scopes::{Scopes, behind_brackets, has_brackets};
use super::tokens::{TokenKind, tokens};

/// A source in which some kernels were converted to run a whole block.
pub struct Split {
    /// The source with the converted kernels.
    pub source: String,
    /// Names of the converted kernels.
    pub kernels: Vec<String>,
}

/// The definition of a kernel, by positions of tokens.
pub struct Definition {
    name: String,
    /// Position at which the declaration begins, including a template header.
    declaration: usize,
    /// Ranges of the parameter list with its brackets, and of the body with its braces; ends are exclusive.
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

/// Returns the source with its kernels converted to loops; `None` if no kernel can be converted.
pub fn split(source: &str) -> Option<Split> {
    let text = TokenizedSource { source, tokens: tokens(source) };
    let definitions = definitions(&text);
    if refusals::waits_outside(&text, &definitions) {
        return None;
    }
    let constants = refusals::constants(&text, &definitions);
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

/// Returns name, parameter list and body of the function declared at `position`.
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
    // The sort is stable, so edits at one position keep the order in which they were created.
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
