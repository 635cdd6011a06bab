//! Parses declarations of variables.

use super::statements::TokenizedSource;

/// One of the variables that a declaration introduces.
pub struct Declarator<'a> {
    /// Name of the variable.
    pub name: &'a str,
    /// Range of tokens from after the type or the previous comma to the end of the variable's array dimensions.
    pub range: (usize, usize),
    /// Position of the token that is the variable's name.
    pub at: usize,
    /// Range of tokens of the variable's initializer, if it has one.
    pub init: Option<(usize, usize)>,
}

/// A declaration of one or several variables.
pub struct Declaration<'a> {
    /// Range of tokens of the type, which applies to all variables of the declaration.
    pub kind: (usize, usize),
    /// The variables that the declaration introduces.
    pub declarators: Vec<Declarator<'a>>,
    /// Whether the declaration contains a reference or a deduced type, for which no separate storage can be declared.
    pub is_open: bool,
}

/// Result of parsing a statement.
pub enum Read<'a> {
    /// The statement declares variables.
    Declared(Declaration<'a>),
    /// The statement declares nothing.
    Other,
    /// The parser cannot decide whether the statement declares variables, so the kernel is not converted to loops over
    /// threads.
    Doubt,
}

pub const QUALIFIERS: [&str; 4] = ["const", "volatile", "constexpr", "register"];
pub const BUILT_IN: [&str; 12] =
    ["unsigned", "signed", "long", "short", "int", "char", "float", "double", "bool", "auto", "wchar_t", "__int128"];
/// Keywords that begin a statement whose declarations, if it has any, are not visible to later statements.
const ACTIONS: [&str; 12] =
    ["return", "throw", "delete", "if", "for", "while", "do", "switch", "static_assert", "else", "sizeof", "break"];
const DOUBTFUL: [&str; 11] =
    ["typedef", "using", "struct", "class", "union", "enum", "template", "static", "extern", "namespace", "typename"];
const POINTS: [&str; 7] = ["*", "&", "const", "volatile", "__restrict__", "__restrict", "restrict"];

/// Parses the statement in a range of tokens, which includes the statement's semicolon.
pub fn read<'a>(text: &TokenizedSource<'a>, (first, end): (usize, usize)) -> Read<'a> {
    let word = text.at(first);
    if !text.is_word(first) || ACTIONS.contains(&word) {
        return Read::Other;
    }
    if DOUBTFUL.contains(&word) || text.at(first + 1) == ":" && text.at(first + 2) != ":" {
        return Read::Doubt;
    }
    match kind(text, first, end) {
        DeclarationKind::None => Read::Other,
        DeclarationKind::Doubt => Read::Doubt,
        DeclarationKind::Until(at) => declarators(text, (first, at), end).map_or(Read::Doubt, Read::Declared),
    }
}

enum DeclarationKind {
    Until(usize),
    None,
    Doubt,
}

/// Parses the type at the beginning of a statement, if the statement begins with a type.
fn kind(text: &TokenizedSource<'_>, first: usize, end: usize) -> DeclarationKind {
    let (mut at, mut has_base) = (first, false);
    while at < end && text.is_word(at) {
        let word = text.at(at);
        if BUILT_IN.contains(&word) {
            has_base = true;
        } else if DOUBTFUL.contains(&word) {
            return DeclarationKind::Doubt;
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
                    // The `<` after a name belongs to a comparison, or cannot be distinguished from one, so it is
                    // unknown whether the statement declares variables.
                    None => return DeclarationKind::Doubt,
                }
            }
        }
        at += 1;
    }
    let name = (at..end).find(|&at| !POINTS.contains(&text.at(at))).unwrap_or(end);
    // In `x = 1` and `f(x)`, the supposed type is the name of a variable or function. `int(x)` is an expression as
    // well.
    if has_base && text.is_word(name) { DeclarationKind::Until(at) } else { DeclarationKind::None }
}

/// Returns the position of the `>` that closes the template arguments opened at `open`.
fn angles(text: &TokenizedSource<'_>, open: usize, end: usize) -> Option<usize> {
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
            _ if text.tokens[at].kind == crate::tokens::TokenKind::Mark => return None,
            _ => {}
        }
    }
    None
}

fn declarators<'a>(text: &TokenizedSource<'a>, kind: (usize, usize), end: usize) -> Option<Declaration<'a>> {
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
