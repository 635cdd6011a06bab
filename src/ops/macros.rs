//! A user's macros: they hold in the user's texts, and not in those that are written around them.

/// Options without those that define macros, and these as lines of a text. They stay options where a header is put before every text,
/// which may ask for them.
pub fn of_options(options: Vec<String>) -> (Vec<String>, String) {
    let mut macros = String::new();
    if options.iter().any(|option| option.starts_with("-include") || option.starts_with("--pre-include")) {
        return (options, macros);
    }
    let mut left = Vec::new();
    let mut options = options.into_iter();
    while let Some(option) = options.next() {
        let trimmed = option.trim();
        let named = ["--define-macro", "-D"].into_iter().find_map(|name| trimmed.strip_prefix(name));
        let text = match named {
            None => {
                left.push(option);
                continue;
            }
            Some("") => options.next().unwrap_or_default(),
            Some(text) => text.strip_prefix('=').unwrap_or(text).to_owned(),
        };
        let (name, value) = text.trim().split_once('=').unwrap_or((text.trim(), "1"));
        macros.push_str(&format!("#define {name} {value}\n"));
    }
    (left, macros)
}

/// Lines that end what a text has defined.
pub fn undone(text: &str) -> String {
    let names = text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
        let is_end = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
        rest.trim_start().split(is_end).next().filter(|name| !name.is_empty())
    });
    names.map(|name| format!("#undef {name}\n")).collect()
}

/// Whether a line defines a number.
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
    fn options_that_define_become_lines() {
        let given = ["-O3", "-DN=3", "-D", "T=float", "--define-macro=F(x)=x*x", "-DFLAG", "-UM"].map(str::to_owned);
        let (left, macros) = of_options(given.to_vec());
        assert_eq!(left, ["-O3", "-UM"]);
        assert_eq!(macros, "#define N 3\n#define T float\n#define F(x) x*x\n#define FLAG 1\n");
        assert_eq!(undone(&macros), "#undef N\n#undef T\n#undef F\n#undef FLAG\n");
    }

    #[test]
    fn they_stay_options_where_a_header_comes_before_all_texts() {
        let given = ["-DN=3", "-include", "own.h"].map(str::to_owned).to_vec();
        assert_eq!(of_options(given.clone()), (given, String::new()));
    }

    #[test]
    fn a_macro_is_a_number_or_may_be_anything() {
        assert!(["#define N 3", "#define E -1.5f", "#define H .5"].into_iter().all(is_number));
        assert!(!["#define N", "#define N x", "#define F(x) 3", "#define N 3*f(x)"].into_iter().any(is_number));
    }
}
