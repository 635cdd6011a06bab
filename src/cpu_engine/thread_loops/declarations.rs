//! Which variables a statement declares.

use super::statements::Text;

/// One name of a declaration.
pub struct Declarator<'a> {
    /// The name.
    pub name: &'a str,
    /// From the type or the comma before it to the last of its dimensions.
    pub range: (usize, usize),
    /// Where the name stands.
    pub at: usize,
    /// The tokens of its first value, if it has one.
    pub init: Option<(usize, usize)>,
}

/// A declaration of variables.
pub struct Declaration<'a> {
    /// The tokens of the type that all names share.
    pub kind: (usize, usize),
    /// The names.
    pub declarators: Vec<Declarator<'a>>,
    /// Whether it has a reference among them, or leaves the type open.
    pub is_open: bool,
}

/// What a statement is.
pub enum Read<'a> {
    /// Variables are declared.
    Declared(Declaration<'a>),
    /// Nothing is declared.
    Other,
    /// Who knows.
    Doubt,
}

pub const QUALIFIERS: [&str; 4] = ["const", "volatile", "constexpr", "register"];
pub const BUILT_IN: [&str; 12] =
    ["unsigned", "signed", "long", "short", "int", "char", "float", "double", "bool", "auto", "wchar_t", "__int128"];
/// What begins a statement that declares nothing which others could name.
const ACTIONS: [&str; 12] =
    ["return", "throw", "delete", "if", "for", "while", "do", "switch", "static_assert", "else", "sizeof", "break"];
const DOUBTFUL: [&str; 11] =
    ["typedef", "using", "struct", "class", "union", "enum", "template", "static", "extern", "namespace", "typename"];
const POINTS: [&str; 7] = ["*", "&", "const", "volatile", "__restrict__", "__restrict", "restrict"];

/// Reads the statement of these tokens, its semicolon included.
pub fn read<'a>(text: &Text<'a>, (first, end): (usize, usize)) -> Read<'a> {
    let word = text.at(first);
    if !text.is_word(first) || ACTIONS.contains(&word) {
        return Read::Other;
    }
    if DOUBTFUL.contains(&word) || text.at(first + 1) == ":" && text.at(first + 2) != ":" {
        return Read::Doubt;
    }
    match kind(text, first, end) {
        Kind::None => Read::Other,
        Kind::Doubt => Read::Doubt,
        Kind::Until(at) => declarators(text, (first, at), end).map_or(Read::Doubt, Read::Declared),
    }
}

enum Kind {
    Until(usize),
    None,
    Doubt,
}

/// The type at the beginning of a statement.
fn kind(text: &Text<'_>, first: usize, end: usize) -> Kind {
    let (mut at, mut has_base) = (first, false);
    while at < end && text.is_word(at) {
        let word = text.at(at);
        if BUILT_IN.contains(&word) {
            has_base = true;
        } else if DOUBTFUL.contains(&word) {
            return Kind::Doubt;
        } else if !QUALIFIERS.contains(&word) {
            if has_base {
                break;
            }
            has_base = true;
            while text.at(at + 1) == ":" && text.at(at + 2) == ":" && text.is_word(at + 3) {
                at += 3;
            }
            if text.at(at + 1) == "<" {
                match angles(text, at + 1, end) {
                    Some(close) => at = close,
                    // A comparison, or what looks like one.
                    None => return Kind::Doubt,
                }
            }
        }
        at += 1;
    }
    let name = (at..end).find(|&at| !POINTS.contains(&text.at(at))).unwrap_or(end);
    // `x = 1`, `f(x)`: what was taken for a type is a name; `int(x)` is an expression as well.
    if has_base && text.is_word(name) { Kind::Until(at) } else { Kind::None }
}

/// The position of the mark that closes a template's arguments.
fn angles(text: &Text<'_>, open: usize, end: usize) -> Option<usize> {
    let mut depth = 0usize;
    for at in open..end {
        match text.at(at) {
            "<" => depth += 1,
            ">" => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            "," | ":" | "*" | "&" => {}
            _ if text.tokens[at].kind == crate::tokens::Kind::Mark => return None,
            _ => {}
        }
    }
    None
}

fn declarators<'a>(text: &Text<'a>, kind: (usize, usize), end: usize) -> Option<Declaration<'a>> {
    let mut is_open = text.has(kind, &["auto"]);
    let (mut declarators, mut begun, mut at) = (Vec::new(), kind.0, kind.1);
    loop {
        while POINTS.contains(&text.at(at)) {
            is_open |= text.at(at) == "&";
            at += 1;
        }
        let (name, named) = text.is_word(at).then(|| (text.at(at), at))?;
        at += 1;
        while text.at(at) == "[" {
            at = text.behind(at);
        }
        let range = (begun, at);
        let init = match text.at(at) {
            "=" => Some((at, text.find((at, end), &[",", ";"]))),
            "(" | "{" => Some((at, text.behind(at))),
            _ => None,
        };
        at = init.map_or(at, |init| init.1);
        declarators.push(Declarator { name, range, at: named, init });
        match text.at(at) {
            "," => {
                at += 1;
                begun = at;
            }
            ";" if at + 1 == end => return Some(Declaration { kind, declarators, is_open }),
            _ => return None,
        }
    }
}
