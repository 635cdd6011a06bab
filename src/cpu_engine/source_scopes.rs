//! Tracks which scopes enclose a position in a source (namespace, `extern "C"`, or other braces), and parses the name
//! of a declaration.

use crate::tokens::{Token, TokenKind};

#[derive(Clone, PartialEq, Eq, Debug)]
enum Scope {
    Namespace(String),
    Linkage,
    Inside,
}

/// The scopes that enclose a position in a source.
#[derive(Default)]
pub struct Scopes {
    open: Vec<Scope>,
}

impl Scopes {
    /// Updates the scopes for a punctuation mark. `statement` contains the tokens since the start of the statement.
    pub fn pass(&mut self, mark: &str, statement: &[&str]) {
        match mark {
            "{" => self.open.push(opened_by(statement)),
            "}" => {
                self.open.pop();
            }
            _ => {}
        }
    }

    /// Returns whether declarations at this position have namespace scope.
    pub fn outside(&self) -> bool {
        !self.open.contains(&Scope::Inside)
    }

    /// Returns a name qualified by the namespaces that enclose the position.
    pub fn qualified(&self, name: &str) -> String {
        let mut parts: Vec<&str> = Vec::new();
        for scope in &self.open {
            match scope {
                Scope::Namespace(space) if !space.is_empty() => parts.push(space),
                _ => {}
            }
        }
        parts.push(name);
        parts.join("::")
    }
}

fn opened_by(statement: &[&str]) -> Scope {
    match statement {
        ["namespace", rest @ ..] | ["inline", "namespace", rest @ ..] => Scope::Namespace(rest.concat()),
        ["extern", text] if text.starts_with('"') => Scope::Linkage,
        _ => Scope::Inside,
    }
}

/// Returns the position after the closing bracket that matches the opening bracket at `open`.
pub fn behind_brackets(source: &str, tokens: &[Token], open: usize) -> usize {
    let mut depth = 0usize;
    for (position, token) in tokens.iter().enumerate().skip(open) {
        match token.text(source) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return position + 1;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

/// Keywords such as `alignas` that have arguments in parentheses. The parser must not treat these parentheses as the
/// parameter list of a function.
const WITH_BRACKETS: [&str; 7] =
    ["__attribute__", "__attribute", "alignas", "decltype", "__launch_bounds__", "__maxnreg__", "__declspec"];

/// Returns whether a word is a keyword, such as `alignas`, whose arguments follow in parentheses.
pub fn has_brackets(word: &str) -> bool {
    WITH_BRACKETS.contains(&word)
}

/// The name that a statement declares, and whether the name denotes a function or a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Declared<'a> {
    /// A function of this name.
    Function(&'a str),
    /// A variable of this name.
    Variable(&'a str),
    /// A declaration of another kind, or no declaration.
    Nothing,
}

/// Keywords of types that a declaration may define.
const OF_TYPES: [&str; 4] = ["struct", "class", "union", "enum"];

/// Returns the position after the definition of a type whose keyword is at `keyword`. `None` if the declaration names
/// the type without defining it, as in `struct pair x{1, 2};`.
fn behind_type(source: &str, tokens: &[Token], keyword: usize) -> Option<usize> {
    let text = |position: usize| tokens.get(position).map_or("", |token| token.text(source));
    let (mut position, mut names, mut has_base) = (keyword + 1, 0, false);
    while let Some(token) = tokens.get(position) {
        match text(position) {
            word if has_brackets(word) => {
                position = behind_brackets(source, tokens, position + 1);
                continue;
            }
            ":" if text(position + 1) == ":" => {
                // After `::`, the next word belongs to the same qualified name.
                position += if names > 0 { 3 } else { 2 };
                continue;
            }
            ":" => has_base = true,
            "{" => return (names <= 1 || has_base).then(|| behind_brackets(source, tokens, position)),
            "=" | ";" | "(" | "[" => return None,
            word if token.kind == TokenKind::Word && word != "final" && !OF_TYPES.contains(&word) => names += 1,
            _ => {}
        }
        position += 1;
    }
    None
}

/// Parses the declaration that begins at `from`, up to and including the declared name.
pub fn declared<'a>(source: &'a str, tokens: &[Token], from: usize) -> Declared<'a> {
    let (mut position, mut name, mut angles) = (from, None, 0usize);
    while let Some(token) = tokens.get(position) {
        let text = token.text(source);
        if angles == 0
            && OF_TYPES.contains(&text)
            && let Some(behind) = behind_type(source, tokens, position)
        {
            (position, name) = (behind, None);
            continue;
        }
        match text {
            _ if has_brackets(text) => {
                position = behind_brackets(source, tokens, position + 1);
                continue;
            }
            "<" => angles += 1,
            ">" => angles = angles.saturating_sub(1),
            _ if angles > 0 => {}
            "(" => return name.map_or(Declared::Nothing, Declared::Function),
            "=" | ";" | "[" | "{" => return name.map_or(Declared::Nothing, Declared::Variable),
            _ if token.kind == TokenKind::Word => name = Some(text),
            _ => {}
        }
        position += 1;
    }
    Declared::Nothing
}
