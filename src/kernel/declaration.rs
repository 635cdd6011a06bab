//! Parses the declarations of kernels in a source, and their parameters.
//!
//! This is not a C++ parser. It recognizes the usual form of a kernel declaration and marks types that it does not
//! understand as unknown. Before the parsed parameters are used, `function` compares them with the parameters that the
//! driver reports for the loaded kernel.

use super::lexer::{self, note};
use super::types::{Aliases, BASIC, Element, Parameter, ParameterKind, element, joined};
use pygpu_backend::CompileOption;

/// Describes the declaration of a kernel in a source.
#[derive(Clone, PartialEq, Eq, Debug)]
struct DeclaredKernel<'a> {
    name: &'a str,
    /// Names of the template parameters, or `None` if the kernel is not a template. An entry is `None` if that template
    /// parameter is not a type.
    template: Option<Vec<Option<&'a str>>>,
    parameters: Vec<Vec<&'a str>>,
}

/// All kernel declarations of a source.
pub struct Declarations<'a> {
    kernels: Vec<DeclaredKernel<'a>>,
    aliases: Aliases,
}

/// Specifiers with an argument in parentheses that may precede a kernel's name.
const WITH_BRACKETS: [&str; 6] =
    ["__launch_bounds__", "__cluster_dims__", "__attribute__", "__block_size__", "__maxnreg__", "alignas"];

impl<'a> Declarations<'a> {
    /// Parses the declarations in a source, with macros that the options define expanded.
    pub fn read(source: &'a str, options: &[CompileOption]) -> Self {
        let words = lexer::words(source);
        let mut aliases = words.macros;
        for option in options {
            if let CompileOption::Define(name, Some(value)) = option {
                let meaning = joined(&lexer::words(value).list);
                aliases.insert(name.clone(), Some(meaning));
            }
        }
        note_types(&words.list, &mut aliases);
        let places = words.list.iter().enumerate().filter(|(_, word)| **word == "__global__").map(|(at, _)| at);
        let kernels = places.filter_map(|at| declared(&words.list, at)).collect();
        Self { kernels, aliases }
    }

    /// Returns the names of the kernels that are not templates, each once.
    pub fn names(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        for kernel in self.kernels.iter().filter(|kernel| kernel.template.is_none()) {
            if !names.contains(&kernel.name) {
                names.push(kernel.name);
            }
        }
        names
    }

    /// Returns the names of all kernels for messages, with a remark at templates.
    pub fn described(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for kernel in &self.kernels {
            let name = format!("{}{}", kernel.name, if kernel.template.is_some() { "<...>" } else { "" });
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Returns the parameters of the kernel `name`, which may be qualified and have template arguments. Returns `None`
    /// if the source contains no such kernel, or several different declarations of it.
    pub fn parameters(&self, name: &str) -> Option<Vec<Parameter>> {
        let words = lexer::words(name).list;
        let open = words.iter().position(|word| *word == "<");
        let bare = words[..open.unwrap_or(words.len())].iter().rev().find(|word| **word != "::")?;
        let arguments = open.map(|open| split(words.get(open + 1..words.len() - 1).unwrap_or_default()));
        let mut found: Option<Vec<Parameter>> = None;
        for kernel in self.kernels.iter().filter(|kernel| kernel.name == *bare) {
            let parameters = self.of(kernel, arguments.as_deref());
            match &found {
                Some(known) if kinds(known) != kinds(&parameters) => return None,
                _ => found = Some(parameters),
            }
        }
        found
    }

    fn of(&self, kernel: &DeclaredKernel<'_>, arguments: Option<&[Vec<&str>]>) -> Vec<Parameter> {
        let mut bound = None;
        if let (Some(names), Some(arguments)) = (&kernel.template, arguments) {
            let aliases = bound.insert(self.aliases.clone());
            for (name, argument) in names.iter().zip(arguments) {
                if let Some(name) = name {
                    aliases.insert((*name).to_owned(), Some(joined(argument)));
                }
            }
        }
        let aliases = bound.as_ref().unwrap_or(&self.aliases);
        kernel.parameters.iter().map(|words| parameter(words, aliases)).collect()
    }
}

fn kinds(parameters: &[Parameter]) -> Vec<ParameterKind> {
    parameters.iter().map(|parameter| parameter.kind).collect()
}

/// Records the type names that a source defines by `typedef float real;` or `using real = float;`.
fn note_types(words: &[&str], aliases: &mut Aliases) {
    for (at, word) in words.iter().enumerate() {
        let end = |from: usize| words[from..].iter().position(|word| *word == ";").map(|length| from + length);
        let simple = |range: &[&str]| !range.iter().any(|word| matches!(*word, "{" | "(" | "*" | "[" | "&"));
        match *word {
            "typedef" => {
                let Some(end) = end(at).filter(|end| *end > at + 2) else { continue };
                if simple(&words[at..end]) {
                    note(aliases, words[end - 1], joined(&words[at + 1..end - 1]));
                }
            }
            "using" if words.get(at + 2) == Some(&"=") => {
                let Some(end) = end(at + 3) else { continue };
                if simple(&words[at + 3..end]) {
                    note(aliases, words[at + 1], joined(&words[at + 3..end]));
                }
            }
            _ => {}
        }
    }
}

/// Returns the position after the closing bracket that matches the opening bracket at `open`.
fn behind(words: &[&str], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, word) in words.iter().enumerate().skip(open) {
        match *word {
            "(" => depth += 1,
            ")" => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Parses the declaration of the kernel whose `__global__` is the token at position `at`.
fn declared<'a>(words: &[&'a str], at: usize) -> Option<DeclaredKernel<'a>> {
    let mut next = at + 1;
    loop {
        match (*words.get(next)?, words.get(next + 1).copied()) {
            (word, Some("(")) if WITH_BRACKETS.contains(&word) => next = behind(words, next + 1)?,
            ("[", Some("[")) => next += words[next..].iter().position(|word| *word == "]")? + 2,
            (name, Some("(")) if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') => {
                let end = behind(words, next + 1)?;
                // In `void MACRO(name)(...)` the preprocessor determines the kernel's name, so this parser cannot know
                // it.
                if words.get(end) == Some(&"(") {
                    return None;
                }
                let parameters = split(&words[next + 2..end - 1]);
                let parameters = if parameters == [["void"]] { Vec::new() } else { parameters };
                return Some(DeclaredKernel { name, template: template(words, at), parameters });
            }
            // The statement ends without a new declaration. For example, `name<float>(` is a specialization of a
            // template that is already recorded.
            (";" | "{" | "}" | "<", _) => return None,
            _ => next += 1,
        }
    }
}

/// Returns the template parameters, if a template header precedes position `at`.
fn template<'a>(words: &[&'a str], at: usize) -> Option<Vec<Option<&'a str>>> {
    // The search goes backwards over `extern "C"` (the string is not a token), `static` and `inline` to the `>` that
    // ends a template header.
    let mut last = at.checked_sub(1)?;
    while matches!(words[last], "extern" | "static" | "inline" | "__forceinline__" | "constexpr") {
        last = last.checked_sub(1)?;
    }
    if words[last] != ">" {
        return None;
    }
    let start = words[..last].iter().rposition(|word| *word == "template")?;
    if words.get(start + 1) != Some(&"<") || words[start..last].iter().any(|word| matches!(*word, ";" | "{" | "}")) {
        return None;
    }
    let names = split(&words[start + 2..last]).into_iter().map(|parameter| {
        let end = parameter.iter().position(|word| *word == "=").unwrap_or(parameter.len());
        match parameter.first() {
            Some(&("typename" | "class")) if end == 2 => Some(parameter[1]),
            _ => None,
        }
    });
    Some(names.collect())
}

/// Splits tokens at commas that are outside of brackets.
fn split<'a>(words: &[&'a str]) -> Vec<Vec<&'a str>> {
    let mut parts: Vec<Vec<&str>> = vec![Vec::new()];
    let mut depth = 0i32;
    for word in words {
        match *word {
            "(" | "[" | "{" | "<" => depth += 1,
            ")" | "]" | "}" | ">" => depth -= 1,
            "," if depth == 0 => {
                parts.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(word);
        }
    }
    if parts.len() == 1 && parts[0].is_empty() { Vec::new() } else { parts }
}

/// Parses the declaration of one kernel parameter.
fn parameter(words: &[&str], aliases: &Aliases) -> Parameter {
    const QUALIFIERS: [&str; 6] =
        ["__restrict__", "__restrict", "restrict", "__grid_constant__", "volatile", "register"];
    let end = words.iter().position(|word| *word == "=").unwrap_or(words.len());
    let words: Vec<&str> = words[..end].iter().copied().filter(|word| !QUALIFIERS.contains(word)).collect();
    let array = words.iter().position(|word| *word == "[");
    let body = &words[..array.unwrap_or(words.len())];
    let stars = body.iter().filter(|word| **word == "*").count() + usize::from(array.is_some());
    let is_odd = words.iter().any(|word| matches!(*word, "(" | "&" | "..." | "."));
    let has_name = body.last().is_some_and(|last| {
        let is_word = last.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        is_word && !BASIC.contains(last) && *last != "const" && body.len() > 1
    });
    let has_name = has_name && body[body.len() - 2] != "::" && !only_qualified(body);
    let (types, name) = if has_name { (&body[..body.len() - 1], body[body.len() - 1]) } else { (body, "") };
    let spelled = spell(types, array.is_some());
    let base = &types[..types.iter().position(|word| *word == "*").unwrap_or(types.len())];
    let kind = match stars {
        _ if is_odd => ParameterKind::Unknown,
        0 => match element(base, aliases) {
            Element::Named(kind) => ParameterKind::Scalar(kind),
            _ => ParameterKind::Unknown,
        },
        1 => ParameterKind::Pointer {
            element: if joined(base) == "void" { Element::Any } else { element(base, aliases) },
            constant: base.contains(&"const"),
        },
        _ => ParameterKind::Pointer { element: Element::Any, constant: false },
    };
    Parameter { name: name.to_owned(), spelled, kind }
}

/// Returns whether the tokens are a type without a parameter name, such as `const Foo` or `struct Foo`.
fn only_qualified(body: &[&str]) -> bool {
    body[..body.len() - 1].iter().all(|word| matches!(*word, "const" | "struct" | "typename" | "class" | "enum"))
}

/// Returns the type as text for messages.
fn spell(types: &[&str], is_array: bool) -> String {
    let mut text = String::new();
    for word in types {
        let joins = |c: char| c.is_alphanumeric() || c == '_';
        if text.ends_with(joins) && word.starts_with(joins) {
            text.push(' ');
        }
        text.push_str(word);
    }
    if is_array {
        text.push('*');
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;
    use pygpu_base::dtype::ScalarType;

    fn read(source: &str, name: &str) -> Vec<ParameterKind> {
        kinds(&Declarations::read(source, &[]).parameters(name).unwrap())
    }

    const fn pointer(kind: ScalarType, constant: bool) -> ParameterKind {
        ParameterKind::Pointer { element: Element::Named(kind), constant }
    }

    const ANY: ParameterKind = ParameterKind::Pointer { element: Element::Any, constant: false };

    #[test]
    fn plain_kernel_is_parsed_with_names_and_types() {
        let source = "extern \"C\" __global__ void __launch_bounds__(256, 2)\nscale(const float *__restrict__ x, double y[], \
                      unsigned long long n, /* int gone, */ float a = 2.0f) { x[0] = f(1, 2); }";
        let parameters = Declarations::read(source, &[]).parameters("scale").unwrap();
        let expected = [
            pointer(ScalarType::Float32, true),
            pointer(ScalarType::Float64, false),
            ParameterKind::Scalar(ScalarType::UInt64),
            ParameterKind::Scalar(ScalarType::Float32),
        ];
        assert_eq!(kinds(&parameters), expected);
        let names: Vec<_> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        assert_eq!(names, ["x", "y", "n", "a"]);
        assert_eq!(parameters[0].to_string(), "const float* x");
        assert_eq!(parameters[2].to_string(), "unsigned long long n");
    }

    #[test]
    fn const_pointer_is_not_pointer_to_const() {
        assert_eq!(read("__global__ void k(float *const p);", "k"), [pointer(ScalarType::Float32, false)]);
        assert_eq!(read("__global__ void k(float const *p);", "k"), [pointer(ScalarType::Float32, true)]);
        assert_eq!(read("__global__ void k(const float *const);", "k"), [pointer(ScalarType::Float32, true)]);
    }

    #[test]
    fn kernel_without_parameters_has_empty_parameter_list() {
        assert_eq!(read("__global__ void k() {}", "k"), []);
        assert_eq!(read("__global__ void k(void) {}", "k"), []);
    }

    #[test]
    fn unsupported_parameter_types_are_parsed_as_unknown() {
        let source = "struct P { int a, b; }; __global__ void k(P p, struct P *q, float **r, void (*f)(int), const P &s, \
                      long double t, void *u, std::array<int, 3> v, float4 w, float4 *x, decltype(3) y, const P);";
        let unknown = ParameterKind::Unknown;
        let vectors = ParameterKind::Pointer { element: Element::Vector(ScalarType::Float32, 4), constant: false };
        let expected = [unknown, ANY, ANY, unknown, unknown, unknown, ANY, unknown, unknown, vectors, unknown, unknown];
        assert_eq!(read(source, "k"), expected);
    }

    #[test]
    fn typedefs_macros_and_options_are_resolved() {
        let source = "typedef unsigned int u32; using real = float;\n#define INDEX long long\n#if A\n#define B int\n#else\n\
                      #define B float\n#endif\n__global__ void k(real *x, u32 n, INDEX i, B b, D d);";
        let options = [CompileOption::Define("D".into(), Some("double".into()))];
        let found = kinds(&Declarations::read(source, &options).parameters("k").unwrap());
        let scalar = ParameterKind::Scalar;
        let expected = [
            pointer(ScalarType::Float32, false),
            scalar(ScalarType::UInt32),
            scalar(ScalarType::Int64),
            ParameterKind::Unknown,
            scalar(ScalarType::Float64),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn template_arguments_replace_template_parameters() {
        let source =
            "namespace n { template <typename T, int N, class U = int>\n__global__ void k(T *x, U u, T t) {} }";
        let declarations = Declarations::read(source, &[]);
        let found = kinds(&declarations.parameters("n::k<unsigned int, 4, double>").unwrap());
        let expected = [
            pointer(ScalarType::UInt32, false),
            ParameterKind::Scalar(ScalarType::Float64),
            ParameterKind::Scalar(ScalarType::UInt32),
        ];
        assert_eq!(found, expected);
        assert_eq!(
            kinds(&declarations.parameters("k").unwrap()),
            [ANY, ParameterKind::Unknown, ParameterKind::Unknown]
        );
        assert!(declarations.names().is_empty());
        assert_eq!(declarations.described(), ["k<...>"]);
    }

    #[test]
    fn different_overloads_have_no_signature_unlike_forward_declarations() {
        let source = "__global__ void k(float *x); __global__ void k(float *y) {} __global__ void l(int); __global__ void \
                      l(float); __global__ void m();";
        let declarations = Declarations::read(source, &[]);
        assert_eq!(declarations.names(), ["k", "l", "m"]);
        assert!(declarations.parameters("k").is_some() && declarations.parameters("l").is_none());
        assert!(declarations.parameters("absent").is_none());
    }

    #[test]
    fn macro_generated_names_and_broken_sources_are_skipped() {
        let source = "#define K(n) __global__ void n(float *x) {}\nK(a)\n__global__ void NAME(b)(int);\n// __global__ void \
                      c();\n/* __global__ void d(); */ const char *t = \"__global__ void e();\"; __global__ void f(int";
        assert!(Declarations::read(source, &[]).described().is_empty());
        for broken in [
            "__global__",
            "__global__ void",
            "__global__ void k(",
            "template < __global__ void k(>)",
            "> __global__ k()",
        ] {
            Declarations::read(broken, &[]).parameters("k<");
        }
    }
}
