//! Splits a C++ source into tokens, without comments, strings and preprocessor lines. Records macros without
//! parameters.

use super::types::Aliases;

/// The tokens of a source: names, numbers, and punctuation. A punctuation token is one character, except `::` and `->`.
pub struct Tokens<'a> {
    /// The tokens in source order.
    pub list: Vec<&'a str>,
    /// Definitions of macros without parameters.
    pub macros: Aliases,
}

/// Returns the end of the comment, string or preprocessor line that begins at `at`; `None` if `at` begins none of
/// these.
fn skipped(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let end_of = |pattern: &str, from: usize| {
        rest[from..].find(pattern).map_or(text.len(), |position| at + from + position + pattern.len())
    };
    if rest.starts_with("//") {
        return Some(end_of("\n", 2));
    }
    if rest.starts_with("/*") {
        return Some(end_of("*/", 2));
    }
    if rest.starts_with("R\"") {
        let open = rest.find('(')?;
        let close = format!("){}\"", rest.get(2..open)?);
        return Some(end_of(&close, open));
    }
    let quote = rest.bytes().next().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let mut escaped = false;
    for (position, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            // An unterminated string ends at the end of its line.
            b'\n' => return Some(at + position),
            byte if byte == quote => return Some(at + position + 1),
            _ => {}
        }
    }
    Some(text.len())
}

/// Returns the end of a preprocessor line, including continuation lines.
fn end_of_line(text: &str, at: usize) -> usize {
    let mut from = at;
    while let Some(position) = text[from..].find('\n') {
        let end = from + position;
        if !text[from..end].trim_end_matches('\r').ends_with('\\') {
            return end;
        }
        from = end + 1;
    }
    text.len()
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Splits a source into tokens.
pub fn words(text: &str) -> Tokens<'_> {
    let bytes = text.as_bytes();
    let mut words = Tokens { list: Vec::new(), macros: Aliases::new() };
    let (mut at, mut starts_line) = (0, true);
    while at < bytes.len() {
        let byte = bytes[at];
        if let Some(end) = skipped(text, at) {
            at = end;
        } else if byte == b'#' && starts_line {
            let end = end_of_line(text, at);
            note_macro(&text[at + 1..end], &mut words.macros);
            at = end;
        } else if byte.is_ascii_whitespace() {
            starts_line |= byte == b'\n';
            at += 1;
        } else {
            let length = length_of_word(&text[at..]);
            words.list.push(&text[at..at + length]);
            (at, starts_line) = (at + length, false);
        }
    }
    words
}

fn length_of_word(rest: &str) -> usize {
    let name = rest.bytes().take_while(|&byte| is_name(byte)).count();
    match name {
        0 if rest.starts_with("::") || rest.starts_with("->") => 2,
        0 => 1,
        name => name,
    }
}

/// Records a macro from the line `define NAME words`. A name with two different definitions is marked as ambiguous.
fn note_macro(line: &str, macros: &mut Aliases) {
    let Some(rest) = line.trim_start().strip_prefix("define") else { return };
    let rest = rest.trim_start();
    let length = rest.bytes().take_while(|&byte| is_name(byte)).count();
    let (name, meaning) = rest.split_at(length);
    if name.is_empty() || meaning.starts_with('(') {
        return;
    }
    let meaning = super::types::joined(&words(meaning).list);
    note(macros, name, meaning);
}

/// Records the definition of a name. A name with two different definitions is marked as ambiguous.
pub fn note(aliases: &mut Aliases, name: &str, meaning: String) {
    let same = |known: &Option<String>| known.as_ref() == Some(&meaning);
    match aliases.get(name) {
        Some(known) if !same(known) => aliases.insert(name.to_owned(), None),
        _ => aliases.insert(name.to_owned(), Some(meaning)),
    };
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn comments_strings_and_directives_are_not_tokens() {
        let source = "int a; // b\n/* c\n */ x = \"d \\\" e\"; y = 'f'; z = R\"k(g \" )h)k\";\n#if i \\\n j\nstd::l->m";
        let expected = ["int", "a", ";", "x", "=", ";", "y", "=", ";", "z", "=", ";", "std", "::", "l", "->", "m"];
        assert_eq!(words(source).list, expected);
        for broken in ["\"open", "/* open", "R\"(open", "'", "#define", "R\"", "é\"ü"] {
            words(broken);
        }
    }

    #[test]
    fn macro_with_two_definitions_has_no_value() {
        let macros = words("#define T float\n # define U unsigned   int\n#define T double\n#define F(x) x\n").macros;
        assert_eq!(macros["T"], None);
        assert_eq!(macros["U"].as_deref(), Some("unsigned int"));
        assert!(!macros.contains_key("F"));
    }
}
