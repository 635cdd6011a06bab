//! Rewrites a preprocessed source to C++: replaces device keywords that a header cannot define, and appends a table
//! with the names of the kernels and variables.
//!
//! The rewriter processes preprocessed text, because this text includes kernels that macros generate, and excludes
//! kernels that `#if` disables. Line numbers are preserved.

use std::fmt::Write;

use crate::shared_memory_limit::{SharedSizes, names_declared};
use crate::source_scopes::{Declared, Scopes, behind_brackets, declared, has_brackets};
use crate::tokens::{Token, TokenKind, joined, tokens};

/// Input of the rewriter.
pub struct RewriteRequest<'a> {
    /// The source, after preprocessing.
    pub source: &'a str,
    /// Names of the template instances to compile.
    pub expressions: &'a [String],
    /// Whether shared memory is a global variable instead of a thread-local one, so that a sanitizer can check
    /// accesses.
    pub shared_by_process: bool,
    /// Names of the kernels that were converted to loops over threads: one call of such a kernel runs a whole block.
    pub whole: &'a [String],
}

struct KernelExport {
    name: String,
    max_threads: String,
}

struct Rewriter<'a> {
    request: &'a RewriteRequest<'a>,
    tokens: Vec<Token>,
    output: String,
    copied: usize,
    kernels: Vec<KernelExport>,
    globals: Vec<(String, bool)>,
    scopes: Scopes,
    /// Index of the first token of the current statement.
    statement: usize,
    pointers: usize,
    shared: SharedSizes,
}

/// Returns the rewritten source, which is the input of the compiler.
pub fn rewrite(request: &RewriteRequest<'_>) -> String {
    let mut rewriter = Rewriter {
        request,
        tokens: tokens(request.source),
        output: String::with_capacity(request.source.len() + 4096),
        copied: 0,
        kernels: Vec::new(),
        globals: Vec::new(),
        scopes: Scopes::default(),
        statement: 0,
        pointers: 0,
        shared: SharedSizes::default(),
    };
    let mut position = 0;
    while position < rewriter.tokens.len() {
        position = rewriter.step(position);
    }
    rewriter.output.push_str(&request.source[rewriter.copied..]);
    rewriter.table();
    rewriter.output
}

impl<'a> Rewriter<'a> {
    fn text(&self, position: usize) -> &'a str {
        self.tokens.get(position).map_or("", |token| token.text(self.request.source))
    }

    /// Processes the token at `position` and returns the position of the next token to process.
    fn step(&mut self, position: usize) -> usize {
        let text = self.text(position);
        if self.tokens[position].kind == TokenKind::Mark {
            if matches!(text, "{" | "}" | ";") {
                let statement: Vec<&str> = (self.statement..position).map(|at| self.text(at)).collect();
                self.scopes.pass(text, &statement);
                self.check_shared(text, position);
                self.statement = position + 1;
            }
            return position + 1;
        }
        match text {
            "__global__" => self.kernel(position),
            "__device__" | "__constant__" | "__managed__" => self.variable(position, text == "__constant__"),
            "__host__" | "__grid_constant__" => self.replace(position, position + 1, ""),
            // Inside an attribute, `__noinline__` is a name that the compiler defines, and must not be replaced.
            "__noinline__" if self.text(position.wrapping_sub(1)) != "(" => {
                self.replace(position, position + 1, "__attribute__((noinline))");
            }
            "__launch_bounds__" | "__maxnreg__" => {
                let end = behind_brackets(self.request.source, &self.tokens, position + 1);
                self.replace(position, end, "");
                return end;
            }
            // In CUDA, `extern "C" __device__ int x;` defines the variable, but C++ would only declare it, so `extern
            // "C"` is removed.
            "extern" if self.is_lone_variable(position) => self.replace(position, position + 2, ""),
            "extern" if self.is_dynamic_shared(position) => return self.dynamic_shared(position),
            "__shared__" => {
                let own = if self.request.shared_by_process { "" } else { " thread_local" };
                let before = if self.text(position.wrapping_sub(1)) == "static" { "" } else { "static" };
                self.replace(position, position + 1, &format!("{before}{own}"));
                self.shared.declared(names_declared(self.request.source, &self.tokens, position + 1));
            }
            _ => {}
        }
        position + 1
    }

    /// Replaces a range of tokens by a text. Later lines keep their line numbers.
    fn replace(&mut self, first: usize, behind: usize, text: &str) {
        let (start, end) = (self.tokens[first].start, self.tokens[behind - 1].end);
        self.output.push_str(&self.request.source[self.copied..start]);
        self.output.push_str(text);
        let lines = self.request.source[start..end].matches('\n').count();
        self.output.extend(std::iter::repeat_n('\n', lines));
        self.copied = end;
    }

    /// After a declaration of shared memory, inserts the check that all visible shared variables fit into a block's
    /// limit.
    fn check_shared(&mut self, mark: &str, position: usize) {
        if let Some(check) = self.shared.pass(mark) {
            let end = self.tokens[position].end;
            self.output.push_str(&self.request.source[self.copied..end]);
            self.output.push_str(&check);
            self.copied = end;
        }
    }

    fn in_template(&self, position: usize) -> bool {
        (self.statement..position).any(|at| self.text(at) == "template")
    }

    fn kernel(&mut self, position: usize) {
        let source = self.request.source;
        if self.scopes.outside() && !self.in_template(position) {
            // `__global__` may precede or follow the return type.
            if let Declared::Function(name) = declared(source, &self.tokens, position + 1) {
                let name = self.scopes.qualified(name);
                if !self.kernels.iter().any(|kernel| kernel.name == name) {
                    let max_threads = self.launch_bounds(position);
                    self.kernels.push(KernelExport { name, max_threads });
                }
            }
        }
        self.replace(position, position + 1, "");
    }

    /// Returns the first argument of the function's `__launch_bounds__`, as written in the source.
    fn launch_bounds(&self, position: usize) -> String {
        let source = self.request.source;
        let mut at = self.statement;
        while at < self.tokens.len() && !matches!(self.text(at), "{" | ";") && at < position + 64 {
            if self.text(at) == "__launch_bounds__" {
                let end = behind_brackets(source, &self.tokens, at + 1);
                let (mut depth, mut inner) = (0, at + 2);
                while inner + 1 < end {
                    match self.text(inner) {
                        "(" => depth += 1,
                        ")" => depth -= 1,
                        "," if depth == 0 => break,
                        _ => {}
                    }
                    inner += 1;
                }
                return self.tokens.get(at + 2..inner).map_or_else(String::new, |tokens| joined(source, tokens));
            }
            at += 1;
        }
        "0".to_owned()
    }

    fn variable(&mut self, position: usize, constant: bool) {
        if self.scopes.outside()
            && !self.in_template(position)
            && let Declared::Variable(name) = declared(self.request.source, &self.tokens, position + 1)
        {
            let name = self.scopes.qualified(name);
            // A variable declared with `extern` is defined in another source.
            let is_extern =
                (self.statement..position).any(|at| self.text(at) == "extern" && !self.text(at + 1).starts_with('"'));
            if !is_extern && !self.globals.iter().any(|(other, _)| *other == name) {
                self.globals.push((name, constant));
            }
        }
        self.replace(position, position + 1, "");
    }

    /// Returns whether the `extern` at `position` belongs to `extern "C"` before a single device variable.
    fn is_lone_variable(&self, position: usize) -> bool {
        let declaration = (position..self.tokens.len()).map(|at| self.text(at));
        self.scopes.outside()
            && self.text(position + 1).starts_with('"')
            && declaration
                .take_while(|text| !matches!(*text, ";" | "{" | "(" | "=" | "["))
                .any(|text| matches!(text, "__device__" | "__constant__" | "__managed__"))
            && matches!(declared(self.request.source, &self.tokens, position + 1), Declared::Variable(_))
    }

    fn is_dynamic_shared(&self, position: usize) -> bool {
        let declaration = position..(position + 32).min(self.tokens.len());
        declaration
            .map(|at| self.text(at))
            .take_while(|text| !matches!(*text, ";" | "{" | "}" | "["))
            .any(|text| text == "__shared__")
    }

    /// Rewrites the declaration `extern __shared__ T name[];` to that of a variable `name` that points to the launch's
    /// dynamic shared memory.
    fn dynamic_shared(&mut self, position: usize) -> usize {
        let end = (position..self.tokens.len()).find(|&at| self.text(at) == ";").unwrap_or(self.tokens.len() - 1);
        let (mut words, mut at, mut text) = (Vec::new(), position, String::new());
        let mut kind = None;
        while at <= end {
            let word = self.text(at);
            if has_brackets(word) {
                at = behind_brackets(self.request.source, &self.tokens, at + 1);
                continue;
            }
            match word {
                "extern" | "__shared__" => {}
                "[" => {
                    let name = words.pop().unwrap_or_default();
                    let kind = kind.get_or_insert_with(|| words.join(" ").replace(": :", "::")).clone();
                    at = behind_brackets(self.request.source, &self.tokens, at);
                    let first = at;
                    while at < end && self.text(at) == "[" {
                        at = behind_brackets(self.request.source, &self.tokens, at);
                    }
                    let lengths = joined(self.request.source, &self.tokens[first..at]);
                    self.pointer(&mut text, &kind, name, &lengths);
                    words.clear();
                    continue;
                }
                "," | ";" => {}
                _ => words.push(word),
            }
            at += 1;
        }
        self.replace(position, end + 1, &text);
        self.statement = end + 1;
        end + 1
    }

    fn pointer(&mut self, text: &mut String, kind: &str, name: &str, lengths: &str) {
        let cast = format!("({kind} (*){lengths})");
        let declaration = format!("{kind} (*{name}){lengths}");
        // Writing to a string cannot fail.
        let _ = if self.scopes.outside() {
            self.pointers += 1;
            let own = if self.request.shared_by_process { "" } else { "thread_local " };
            write!(
                text,
                "static {own}{declaration}; static ::pygpu_cpu::at_start pygpu_cpu_at_start_{}([](void *memory) {{ {name} = {cast}memory; }});",
                self.pointers
            )
        } else {
            write!(text, "{declaration} = {cast}pygpu_cpu_dynamic_shared();")
        };
    }

    /// Appends `pygpu_cpu_module`, the table of kernels and variables, to the rewritten text.
    fn table(&mut self) {
        let mut rows = String::new();
        let mut functions = String::new();
        let instances = self.request.expressions.iter().map(|name| (name.clone(), "0".to_owned()));
        let plain = self.kernels.iter().map(|kernel| (kernel.name.clone(), kernel.max_threads.clone()));
        let all: Vec<_> = plain.chain(instances).collect();
        let mut count = 0;
        for (number, (name, max_threads)) in all.iter().enumerate() {
            if all[..number].iter().any(|(other, _)| other == name) {
                continue;
            }
            let plain = name.trim_start_matches(['&', ' ', ':']);
            let base = plain.split('<').next().unwrap_or(plain).trim_end();
            let is_whole = self.request.whole.iter().any(|whole| whole == base);
            let function = name.trim_start_matches('&');
            let entry = format!("::pygpu_cpu::entry<::pygpu_cpu::address_of({function}), {is_whole}>");
            let label = name.replace('\\', "\\\\").replace('"', "\\\"");
            let _ = writeln!(
                functions,
                "static int pygpu_cpu_kernel_{count}(const struct pygpu_cpu_launch *pygpu_cpu_shape, void *const *pygpu_cpu_arguments) {{ return \
                 {entry}::launch(\"{label}\", pygpu_cpu_shape, pygpu_cpu_arguments); }}"
            );
            let _ = writeln!(
                rows,
                "{{\"{label}\", pygpu_cpu_kernel_{count}, {entry}::all::table, {entry}::all::count, unsigned({max_threads}), (const void \
                 *)::pygpu_cpu::address_of({function})}},"
            );
            count += 1;
        }
        let mut variables = String::new();
        for (name, constant) in &self.globals {
            let flag = u8::from(*constant);
            let _ = writeln!(variables, "{{\"{name}\", (void *)&{name}, sizeof({name}), {flag}}},");
        }
        let _ = write!(
            self.output,
            "\n# 1 \"<the table of kernels>\"\n{functions}\
             static const struct pygpu_cpu_kernel pygpu_cpu_kernels[] = {{\n{rows}{{nullptr, nullptr, nullptr, 0, 0, nullptr}}}};\n\
             static const struct pygpu_cpu_global pygpu_cpu_globals[] = {{\n{variables}{{nullptr, nullptr, 0, 0}}}};\n\
             extern \"C\" __attribute__((visibility(\"default\"))) const struct pygpu_cpu_module pygpu_cpu_module = {{4, {count}, \
             {}, pygpu_cpu_kernels, pygpu_cpu_globals}};\n",
            self.globals.len()
        );
    }
}
