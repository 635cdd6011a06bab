//! Preprocesses plain sources itself, because a run of the compiler's preprocessor takes 12 ms.
//!
//! A source is plain if it has no directives other than include guards, `#line` and `#pragma unroll`, and uses no
//! macros but those of the headers whose replacement is a fixed text. Most kernels that PyGPU generates are plain. The
//! result is the text that the compiler's preprocessor returns, apart from blanks. For any other source the result is
//! `None`, and the compiler preprocesses it.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::process::Stdio;

use super::compiler_process::CompilerRun;
use super::{Build, definition, speaks_of_textures};
use crate::tokens::{Token, TokenKind, tokens};

/// Name of the folder that contains the files declared below.
pub const FOLDER: &str = "plain";
/// Path of the preprocessed text of a source that only includes the headers.
const HEAD: &str = "plain/head.ii";
/// Path of the list of all macros that are defined at the end of the headers.
const MACROS: &str = "plain/macros.h";
/// Path of the list of files from which the headers were built.
pub const READ_FILES: &str = "plain/files.d";
const SOURCE: &str = "unit.cpp";
/// Names that the preprocessor treats specially, and that the compiler does not list as macros.
const SPECIAL: [&str; 12] = [
    "_Pragma",
    "__BASE_FILE__",
    "__COUNTER__",
    "__DATE__",
    "__FILE__",
    "__FILE_NAME__",
    "__INCLUDE_LEVEL__",
    "__LINE__",
    "__TIME__",
    "__TIMESTAMP__",
    "__VA_ARGS__",
    "__VA_OPT__",
];
/// Character sequences of sources that this module does not preprocess: continued lines, raw strings, and other spellings
/// of `#`.
const REFUSED: [&str; 5] = ["\\\n", "\\\r", "R\"", "%:", "??"];

/// Writes the files that `preprocess` reads into the folder of `run`, which contains the precompiled header. Returns
/// `None` if the compiler does not use that header.
pub fn prepare(run: &CompilerRun<'_>) -> Option<()> {
    fs::create_dir(run.place.join(FOLDER)).ok()?;
    fs::write(run.place.join(SOURCE), "#include <pygpu_cpu.h>\n").ok()?;
    let output = |arguments: &[&str]| {
        let output = run.command(arguments).stderr(Stdio::null()).output().ok()?;
        (output.status.success() && !output.stdout.is_empty()).then_some(output.stdout)
    };
    let head = output(&["-E", "-fpch-preprocess", "-fpch-deps", "-MD", "-MF", READ_FILES, SOURCE])?;
    let head = String::from_utf8(head).ok().filter(|head| head.contains("pch_preprocess"))?;
    let macros = String::from_utf8(output(&["-E", "-dM", SOURCE])?).ok()?;
    if !macros.contains("#define threadIdx ") {
        return None;
    }
    fs::write(run.place.join(MACROS), macros).ok()?;
    fs::write(run.place.join(HEAD), head).ok()
}

/// Returns the preprocessed text of a plain source, with the files in the folder `ready`. `None` for any other source.
pub fn preprocess(request: &Build<'_>, ready: &Path) -> Option<String> {
    let has_definitions = request.options.iter().any(|option| definition(option).is_some());
    if has_definitions || !request.force_include.is_empty() || speaks_of_textures(request) {
        return None;
    }
    let (head, macros) = (fs::read_to_string(ready.join(HEAD)).ok()?, fs::read_to_string(ready.join(MACROS)).ok()?);
    let text = expand(&without_comments(request.source)?, &definitions(&macros))?;
    let name = request.name.replace('\\', "\\\\").replace('"', "\\\"");
    Some(format!("{head}# 1 \"{name}\"\n{text}\n"))
}

/// Returns, for each macro in a list of `#define` lines, the text after the macro's name.
fn definitions(macros: &str) -> HashMap<&str, &str> {
    let lines = macros.lines().filter_map(|line| line.strip_prefix("#define "));
    lines.map(|line| line.split_at(line.bytes().position(|byte| !is_of_word(byte)).unwrap_or(line.len()))).collect()
}

/// Returns the replacement of a macro, whose definition is `text`. Returns `None` if the macro has parameters. Also
/// returns `None` if the replacement contains macros or functions of the compiler, like that of `NAN`, because the
/// compiler marks such text as part of a system header, which later stages skip.
fn replacement<'a>(text: &'a str, macros: &HashMap<&str, &str>) -> Option<&'a str> {
    let is_fixed = !text.starts_with('(') && !text.contains('#') && !text.contains("__builtin");
    let is_word = |token: &Token| token.kind == TokenKind::Word;
    let mut words = tokens(text).into_iter().filter(is_word).map(|token| &text[token.start..token.end]);
    (is_fixed && words.all(|word| !macros.contains_key(word) && !is_special(word))).then_some(text.trim())
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn is_special(word: &str) -> bool {
    SPECIAL.contains(&word) || word.starts_with("__has_")
}

/// Returns the source with a blank in place of each comment. Line breaks stay. `None` if the source contains character
/// sequences that are not handled.
fn without_comments(source: &str) -> Option<String> {
    if REFUSED.iter().any(|text| source.contains(text)) {
        return None;
    }
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find(['/', '"', '\'']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let length = if from.starts_with("//") {
            text.push(' ');
            from.find('\n').unwrap_or(from.len())
        } else if from.starts_with("/*") {
            let length = from.get(2..)?.find("*/")? + 4;
            text.push(' ');
            text.extend(from[..length].matches('\n'));
            length
        } else if from.starts_with('/') {
            text.push('/');
            1
        } else {
            let length = literal(from, before)?;
            text.push_str(&from[..length]);
            length
        };
        rest = &from[length..];
    }
    text.push_str(rest);
    Some(text)
}

/// Returns the length of the string or character literal at the start of `text`. `None` if the literal does not end in
/// its line, or if the quote may separate digits.
fn literal(text: &str, before: &str) -> Option<usize> {
    let quote = text.as_bytes().first()?;
    if *quote == b'\'' && before.bytes().next_back().is_some_and(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()?),
            b'\n' => return None,
            byte if byte == *quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Returns a source's text after its directives were processed and its macros replaced. `None` if the source is not
/// plain.
fn expand(source: &str, macros: &HashMap<&str, &str>) -> Option<String> {
    let (mut text, mut guards, mut depth) = (String::with_capacity(source.len() + 1024), HashSet::new(), 0_usize);
    for line in source.split_inclusive('\n') {
        let Some(directive) = line.trim_start().strip_prefix('#') else {
            expand_line(line, macros, &guards, &mut text)?;
            continue;
        };
        let mut parts = directive.split_whitespace();
        let is_known = |name: &str| macros.contains_key(name) || is_special(name);
        match (parts.next()?, parts.next(), parts.next()) {
            ("line", Some(number), Some(_)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.push_str("# ");
                text.push_str(directive.trim_start().strip_prefix("line")?.trim());
            }
            ("pragma", Some("unroll"), None) => text.push_str("#pragma unroll"),
            // The source is not plain if it has two include guards of the same name, because the second guard would
            // exclude the text after it.
            ("ifndef", Some(name), None) if !is_known(name) && !guards.contains(name) => depth += 1,
            ("define", Some(name), None) if !is_known(name) && name.bytes().all(is_of_word) => {
                guards.insert(name);
            }
            ("endif", None, None) => depth = depth.checked_sub(1)?,
            _ => return None,
        }
        text.push('\n');
    }
    (depth == 0).then_some(text)
}

fn expand_line(line: &str, macros: &HashMap<&str, &str>, guards: &HashSet<&str>, text: &mut String) -> Option<()> {
    let mut copied = 0;
    for token in tokens(line).into_iter().filter(|token| token.kind == TokenKind::Word) {
        let word = token.text(line);
        if guards.contains(word) || is_special(word) {
            return None;
        }
        if let Some(definition) = macros.get(word) {
            text.push_str(&line[copied..token.start]);
            text.push_str(&format!(" {} ", replacement(definition, macros)?));
            copied = token.end;
        }
    }
    text.push_str(&line[copied..]);
    Some(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::super::precompiled;
    use super::*;

    const MACROS: &str = "#define threadIdx (static_cast<const uint3 &>(index))\n#define NAN (__builtin_nanf (\"\"))\n#define MOST 3.5F\n\
        #define EMPTY\n#define hipThreadIdx_x (threadIdx.x)\n#define __align__(n) __attribute__((aligned(n)))\n";

    fn plain(source: &str) -> Option<String> {
        expand(&without_comments(source)?, &definitions(MACROS))
    }

    #[test]
    fn plain_source_is_expanded_and_keeps_its_lines() {
        let source = "#ifndef GUARD\n#define GUARD\nint a; // threadIdx\n#endif\n/* NAN\n */ float b = -MOST /2;\n\
            #line 7 \"k//ernel.cu\"\n  # pragma unroll\nEMPTY int c = threadIdx.x + 1e5; char d[] = \"NAN // \\\" /* \";\n";
        let expanded = "\n\nint a;  \n\n \n float b = - 3.5F  /2;\n# 7 \"k//ernel.cu\"\n\
            #pragma unroll\n   int c =  (static_cast<const uint3 &>(index)) .x + 1e5; char d[] = \"NAN // \\\" /* \";\n";
        assert_eq!(plain(source).as_deref(), Some(expanded));
    }

    #[test]
    fn source_with_other_directives_or_macros_is_not_plain() {
        let sources = [
            "#if 1\n#endif\n",
            "#ifdef A\n#endif\n",
            "#include <vector>\n",
            "#define N 4\n",
            "#define N(x) x\n",
            "#undef A\n",
            "#pragma once\n",
            "#ifndef A\n",
            "#endif\n",
            "#ifndef threadIdx\n#endif\n",
            "#ifndef A\n#define A\n#endif\n#ifndef A\n#endif\n",
            "#ifndef A\n#else\n#endif\n",
            "#define A\nint x = 3 A;\n",
            "int x = hipThreadIdx_x;\n",
            "float x = NAN;\n",
            "struct __align__(8) s {};\n",
            "const char *x = __FILE__;\n",
            "#line __LINE__ \"f\"\n",
            "_Pragma(\"once\")\n",
            "int x; \\\nint y;\n",
            "const char *x = R\"(NAN)\";\n",
            "%:define N 4\n",
            "int x = 1'000;\n",
            "char *x = \"\n",
            "/* int x;\n",
        ];
        for source in sources {
            assert_eq!(plain(source), None, "{source}");
        }
    }

    /// Returns the texts of all tokens that follow the engine's headers. These include tokens by which macros of the
    /// system's headers were replaced.
    fn texts(preprocessed: &str) -> Vec<String> {
        let (_, text) = preprocessed.split_once("pch_preprocess").unwrap();
        let text: String =
            text.lines().filter(|line| !line.starts_with("# ")).map(|line| format!("{line}\n")).collect();
        tokens(&text).iter().map(|token| token.text(&text).to_owned()).collect()
    }

    #[test]
    fn plain_text_has_the_tokens_of_the_compilers_text() {
        let kept = tempfile::tempdir().unwrap();
        let host = crate::HostEnvironment {
            environment: std::env::vars_os().collect(),
            path: std::env::var_os("PATH").unwrap(),
            temporary: std::env::temp_dir(),
            kept: Some(kept.path().to_owned()),
            ..crate::HostEnvironment::default()
        };
        let compiler = crate::find(&host).unwrap();
        let access = include_str!("../../codegen/device/array_access.h");
        let kernel = "#line 1 \"k\"\nextern \"C\" __global__ void k(double *a, float *b) {\n#pragma unroll\n\
            for (int i = threadIdx.x; i < 3; i += blockDim.x) { a[i] = gridDim.x; b[i] = -__FLT_MAX__; /* NAN */ }\n}\n";
        let source = format!("{access}{kernel}");
        let task = Build { source: &source, name: "kernel.cu", options: &[], force_include: &[], expressions: &[] };
        super::super::build(&compiler, &task).ok().unwrap();
        let precompiled::PreparedHeader::Ready(ready) = precompiled::find(&compiler, &[]) else { return };
        let place = tempfile::tempdir().unwrap();
        precompiled::link(&ready, place.path()).unwrap();
        fs::write(place.path().join(SOURCE), super::super::unit(&task)).unwrap();
        let run = CompilerRun { compiler: &compiler, place: place.path(), options: &[] };
        let (expected, _) = run.preprocess().ok().unwrap();
        assert_eq!(texts(&preprocess(&task, &ready).unwrap()), texts(&expected));
    }
}
