//! Makes loops over the threads of a block out of a kernel's text: one loop for what stands between two barriers.
//!
//! Works on preprocessed text, before it is rewritten. A kernel is taken when its barriers stand at the top level of its body or of
//! loops whose headers are the same for all threads; whatever is in doubt stays as it is and keeps a stack for each thread. What
//! was misread must not compile (a name that is unknown, a constant that is assigned), since then the source is compiled as it was:
//! never may it compile and mean something else. Lines keep their numbers.

mod declarations;
mod refusals;
mod regions;
mod statements;

use self::regions::Regions;
use self::statements::Text;
use super::scopes::{Scopes, behind_brackets, has_brackets};
use super::tokens::{Kind, tokens};

/// A source some of whose kernels run a whole block.
pub struct Split {
    /// Its text.
    pub source: String,
    /// The names of those kernels.
    pub kernels: Vec<String>,
}

/// A kernel's definition, by positions of tokens.
pub struct Definition {
    name: String,
    /// Where its declaration begins, a template's header included.
    declaration: usize,
    /// The brackets of its parameters and the braces of its body, each with the position behind.
    parameters: (usize, usize),
    body: (usize, usize),
}

/// A name with the parameters and the body behind it.
type Parts<'a> = (&'a str, (usize, usize), (usize, usize));

/// A text in place of some bytes.
#[derive(Debug)]
pub struct Edit {
    start: usize,
    end: usize,
    text: String,
}

/// The source with loops in its kernels; `None` where no kernel can be taken.
pub fn split(source: &str) -> Option<Split> {
    let text = Text { source, tokens: tokens(source) };
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

/// Whether the name means nothing else: no overload, no specialisation.
fn is_alone(text: &Text<'_>, definitions: &[Definition], definition: &Definition) -> bool {
    let own = text.at(definition.parameters.0 - 1);
    let is_special = |at: usize| text.at(at) == own && text.at(at + 1) == "<";
    definitions.iter().filter(|other| other.name == definition.name).count() == 1
        && !(0..text.tokens.len()).any(is_special)
}

/// The kernels that are defined in namespaces.
fn definitions(text: &Text<'_>) -> Vec<Definition> {
    let (mut scopes, mut statement, mut found) = (Scopes::default(), 0, Vec::new());
    for position in 0..text.tokens.len() {
        let word = text.at(position);
        if text.tokens[position].kind == Kind::Mark && matches!(word, "{" | "}" | ";") {
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

/// Name, parameters and body of the function that is declared from `position` on.
fn parts<'a>(text: &Text<'a>, mut position: usize) -> Option<Parts<'a>> {
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
    // Of those at one place the one that was made first comes first.
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
