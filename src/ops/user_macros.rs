//! Limits a user's macros to the user's source, so that they do not affect the generated source around it.

/// Returns an `#undef` line for each macro that a source defines.
pub fn undone(text: &str) -> String {
    let mut lines = String::new();
    for rest in text.split("#define ").skip(1) {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        lines += &["#undef ", &rest[..end], "\n"].concat();
    }
    lines
}

/// Whether a preprocessor line defines a macro whose value is a numeric literal.
pub(super) fn is_number(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, name, value] = words[..] else { return false };
    let value = value.strip_prefix(['-', '.']).unwrap_or(value);
    !name.contains('(')
        && value.starts_with(|c: char| c.is_ascii_digit())
        && value.chars().all(|c| c.is_ascii_alphanumeric() || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_defined_macro_gets_an_undef_line() {
        assert_eq!(undone("#define N 3\nint n;\n#define F(x) x\n#define G"), "#undef N\n#undef F\n#undef G\n");
    }

    #[test]
    fn numeric_macros_are_recognized() {
        assert!(["#define N 3", "#define E -1.5f", "#define H .5"].into_iter().all(is_number));
        assert!(!["#define N", "#define N x", "#define F(x) 3", "#define N 3*f(x)"].into_iter().any(is_number));
    }
}
