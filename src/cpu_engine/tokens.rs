//! Splits preprocessed C++ into tokens, in the detail that the search for declarations needs. A string is one token, so
//! that its content is not taken for code.

/// Kind of token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind {
    /// A name or a keyword.
    Word,
    /// A string, character or number literal.
    Literal,
    /// One character of punctuation.
    Mark,
}

/// A token of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// Whether the token is a word, a literal or a punctuation mark.
    pub kind: TokenKind,
    /// Offset of the token's first byte in the source.
    pub start: usize,
    /// Offset of the byte after the token's last byte.
    pub end: usize,
}

/// Returns the texts of tokens, with a blank where the source has blanks. Marks of two characters are two tokens: a
/// blank between these would give another meaning.
pub fn joined(source: &str, tokens: &[Token]) -> String {
    let mut text = String::new();
    for (position, token) in tokens.iter().enumerate() {
        if position > 0 && tokens[position - 1].end < token.start {
            text.push(' ');
        }
        text.push_str(token.text(source));
    }
    text
}

impl Token {
    /// Returns the text of the token.
    pub fn text<'a>(&self, source: &'a str) -> &'a str {
        &source[self.start..self.end]
    }
}

/// Returns the tokens of the user's source and of the user's headers, without those of system headers.
pub fn tokens(source: &str) -> Vec<Token> {
    let bytes = source.as_bytes();
    let mut found = Vec::new();
    let (mut at, mut of_the_system, mut line_begins) = (0, false, true);
    while at < bytes.len() {
        let byte = bytes[at];
        if line_begins && byte == b'#' {
            let end = end_of_line(bytes, at);
            if let Some(system) = marker(&source[at..end]) {
                of_the_system = system;
            }
            at = end;
            continue;
        }
        if of_the_system {
            at = end_of_line(bytes, at) + 1;
            continue;
        }
        if byte.is_ascii_whitespace() {
            line_begins |= byte == b'\n';
            at += 1;
            continue;
        }
        line_begins = false;
        let (kind, end) = token(bytes, at);
        found.push(Token { kind, start: at, end });
        at = end;
    }
    found
}

fn end_of_line(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |length| from + length)
}

/// Returns whether the text after a line marker (`# 12 "file" 1 3`) belongs to a system header; `None` if the line is
/// another directive.
fn marker(line: &str) -> Option<bool> {
    let rest = line.strip_prefix("# ")?;
    if !rest.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let flags = rest.rsplit_once('"').map_or("", |(_, flags)| flags);
    Some(flags.split_whitespace().any(|flag| flag == "3"))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn token(bytes: &[u8], at: usize) -> (TokenKind, usize) {
    let first = bytes[at];
    if first.is_ascii_digit() {
        return (TokenKind::Literal, number(bytes, at));
    }
    if is_word(first) {
        let end = at + bytes[at..].iter().take_while(|&&byte| is_word(byte)).count();
        // A prefix such as `u8` in u8"..." or `R` in R"x(...)x" belongs to the token of the string literal.
        return match bytes.get(end) {
            Some(b'"') if end - at <= 3 && bytes[end - 1] == b'R' => (TokenKind::Literal, raw_string(bytes, end)),
            Some(quote @ (b'"' | b'\'')) if end - at <= 2 => (TokenKind::Literal, quoted(bytes, end, *quote)),
            _ => (TokenKind::Word, end),
        };
    }
    match first {
        b'"' | b'\'' => (TokenKind::Literal, quoted(bytes, at, first)),
        _ => (TokenKind::Mark, at + 1),
    }
}

fn number(bytes: &[u8], at: usize) -> usize {
    let mut end = at;
    while let Some(&byte) = bytes.get(end) {
        let sign = end > at && matches!(byte, b'+' | b'-') && matches!(bytes[end - 1], b'e' | b'E' | b'p' | b'P');
        if !(is_word(byte) || byte == b'.' || byte == b'\'' || sign) {
            break;
        }
        end += 1;
    }
    end
}

fn quoted(bytes: &[u8], at: usize, quote: u8) -> usize {
    let mut end = at + 1;
    while let Some(&byte) = bytes.get(end) {
        match byte {
            b'\\' => end += 2,
            b'\n' => return end,
            _ if byte == quote => return end + 1,
            _ => end += 1,
        }
    }
    bytes.len()
}

fn raw_string(bytes: &[u8], quote: usize) -> usize {
    let Some(length) = bytes[quote..].iter().position(|&byte| byte == b'(') else { return bytes.len() };
    let mut close = vec![b')'];
    close.extend_from_slice(&bytes[quote + 1..quote + length]);
    close.push(b'"');
    let from = quote + length;
    let found = bytes[from..].windows(close.len()).position(|window| window == close);
    found.map_or(bytes.len(), |length| from + length + close.len())
}
