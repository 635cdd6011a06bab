//! Converts one kernel to loops over the threads of a block: one loop for the code between two barriers. A variable
//! that is used across a barrier gets separate storage for each thread.

use std::fmt::Write;

use super::declarations::{BUILT_IN, Declaration, Declarator, QUALIFIERS, Read, read};
use super::statements::TokenizedSource;
use super::unsupported_kernels::waits_inside;
use super::{Definition, Edit};
use crate::source_scopes::has_brackets;
use crate::tokens::TokenKind;

/// Meaning of an identifier in the kernel's code outside of the loops over threads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// A parameter of the kernel. The field is true if the parameter is a number, whose value all threads share.
    Parameter(bool),
    /// The variable of a loop with barriers. All threads share the variable.
    Counter,
    /// A constant that all threads share, or a variable in shared memory.
    Shared,
    /// A variable of each thread that is used after a barrier and is therefore stored separately for each thread.
    Kept,
    /// A variable whose scope ends before the next barrier.
    Local,
}

type TokenRange = (usize, usize);

/// Words that may occur in an expression whose value is the same for all threads.
const EVEN: [&str; 10] = [
    "static_cast",
    "uint3",
    "dim3",
    "size_t",
    "sizeof",
    "min",
    "max",
    "warpSize",
    "pygpu_cpu_block_size",
    "pygpu_cpu_grid_size",
];
const FUNCTION_NAMES: [&str; 3] = ["__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"];
const OPEN: &str = " pygpu_cpu_all.each([&]([[maybe_unused]] const ::uint3 pygpu_cpu_thread_index, [[maybe_unused]] const unsigned \
                    pygpu_cpu_thread) __attribute__((always_inline)) { ";
const CLOSE: &str = " });";

pub struct Regions<'t, 'a> {
    text: &'t TokenizedSource<'a>,
    body: TokenRange,
    constants: &'t [&'a str],
    /// Whether the kernel contains a barrier.
    has_barriers: bool,
    visible: Vec<(&'a str, Bound)>,
    shared_loops: usize,
    edits: Vec<Edit>,
}

/// Consecutive statements without a barrier. One loop over the threads of the block is written around them.
#[derive(Default)]
struct Region {
    statements: Vec<TokenRange>,
    /// Text to insert before the loop over the threads.
    before: String,
}

impl<'t, 'a> Regions<'t, 'a> {
    /// Returns the edits of the source that convert a kernel to loops over the threads of a block. Returns `None` if
    /// these edits might change the kernel's meaning.
    pub fn of(text: &'t TokenizedSource<'a>, definition: &Definition, constants: &'t [&'a str]) -> Option<Vec<Edit>> {
        let body = (definition.body.0 + 1, definition.body.1 - 1);
        let mut visible = template_parameters(text, definition);
        visible.extend(parameters(text, definition)?);
        let has_barriers = text.names(body, "__syncthreads");
        let mut own = Self { text, body, constants, has_barriers, visible, shared_loops: 0, edits: Vec::new() };
        own.begin();
        own.sequence(body, false)?;
        let is_loop = |at: &usize| text.is_word(*at) && matches!(text.at(*at), "for" | "while" | "do");
        let loops = (body.0..body.1).filter(is_loop).count();
        (!waits_inside(text, body, loops > own.shared_loops)).then_some(own.edits)
    }

    fn insert(&mut self, place: usize, text: String) {
        self.edits.push(Edit { start: place, end: place, text });
    }

    fn replace(&mut self, (first, end): TokenRange, text: String) {
        self.edits.push(Edit { start: self.text.tokens[first].start, end: self.text.tokens[end - 1].end, text });
    }

    /// Inserts local copies of the values that all threads share, such as the block's size, so that they are read once
    /// instead of once per thread. The copies have the names by which the preprocessed text refers to these values.
    fn begin(&mut self) {
        let mut text = " const ::pygpu_cpu::threads pygpu_cpu_all; \
             [[maybe_unused]] const ::uint3 pygpu_cpu_block_index = ::pygpu_cpu_block_index; \
             [[maybe_unused]] const ::dim3 pygpu_cpu_block_size = ::pygpu_cpu_block_size; \
             [[maybe_unused]] const ::dim3 pygpu_cpu_grid_size = ::pygpu_cpu_grid_size;"
            .to_owned();
        for (name, _) in self.visible.iter().filter(|(_, bound)| matches!(bound, Bound::Parameter(_))) {
            // Writing to a `String` cannot fail.
            let _ = write!(text, " [[maybe_unused]] const auto &pygpu_cpu_c_{name} = {name};");
        }
        for name in FUNCTION_NAMES {
            let places: Vec<usize> = (self.body.0..self.body.1).filter(|&at| self.text.at(at) == name).collect();
            if !places.is_empty() {
                let _ = write!(text, " const char *const pygpu_cpu_is{name} = {name};");
            }
            for at in places {
                self.replace((at, at + 1), format!("pygpu_cpu_is{name}"));
            }
        }
        self.insert(self.text.tokens[self.body.0 - 1].end, text);
    }

    /// Converts the statements between a pair of braces to loops over the threads of a block.
    fn sequence(&mut self, (first, end): TokenRange, in_loop: bool) -> Option<()> {
        let (mut at, mut region) = (first, Region::default());
        while at < end {
            let statement = (at, self.text.statement(at, end));
            at = statement.1;
            if self.text.names(statement, "__syncthreads") {
                self.close(std::mem::take(&mut region), false)?;
                if self.is_barrier(statement) {
                    self.replace(statement, String::new());
                } else {
                    self.shared_loop(statement)?;
                }
            } else if let Some(text) = self.hoisted(statement)? {
                if region.statements.is_empty() {
                    self.replace(statement, text);
                } else {
                    region.before.push_str(&text);
                    self.replace(statement, String::new());
                }
            } else {
                let ends_own_loops = matches!(self.text.at(statement.0), "for" | "while" | "do" | "switch");
                if in_loop && !ends_own_loops && self.text.has(statement, &["break", "continue"]) {
                    return None;
                }
                region.statements.push(statement);
            }
        }
        self.close(region, !in_loop)
    }

    fn is_barrier(&self, (first, end): TokenRange) -> bool {
        end - first == 4
            && (first..end).zip(["__syncthreads", "(", ")", ";"]).all(|(at, mark)| self.text.at(at) == mark)
    }

    /// Decides whether a statement must be outside of the loops over threads. If so, returns `Some(Some(text))` with
    /// the text of the statement, otherwise `Some(None)`. Returns `None` if the kernel cannot be converted to such
    /// loops.
    fn hoisted(&mut self, statement: TokenRange) -> Option<Option<String>> {
        if self.text.find(statement, &["__shared__"]) < statement.1 {
            return self.shared_memory(statement).map(Some);
        }
        if !self.has_barriers {
            return Some(None);
        }
        let Read::Declared(declaration) = read(self.text, statement) else { return Some(None) };
        if !self.is_even_declaration(&declaration) {
            return Some(None);
        }
        for each in &declaration.declarators {
            self.visible.push((each.name, Bound::Shared));
        }
        let is_const = self.text.has(declaration.kind, &["const", "constexpr"]);
        Some(Some(format!("{}{}", if is_const { "" } else { "const " }, self.text.joined(statement))))
    }

    /// Returns the declaration of a variable in shared memory. The declaration is placed outside of the loops over
    /// threads, because the variable's address is the same for all threads.
    fn shared_memory(&mut self, (first, end): TokenRange) -> Option<String> {
        let mut at = first;
        if self.text.at(at) == "extern" {
            return Some(self.text.joined((first, end)));
        }
        if self.text.at(at) == "static" {
            at += 1;
        }
        if self.text.at(at) != "__shared__" {
            return None;
        }
        at += 1;
        let attributes = at;
        while has_brackets(self.text.at(at)) {
            at = self.text.behind(at + 1);
        }
        let attributes = self.text.joined((attributes, at));
        let Read::Declared(declaration) = read(self.text, (at, end)) else { return None };
        let mut text = String::new();
        for each in &declaration.declarators {
            if each.init.is_some() {
                return None;
            }
            let (kind, lengths) = self.type_of(&declaration, each);
            let name = each.name;
            let _ = write!(
                text,
                "__shared__ {attributes} {kind} pygpu_cpu_at_{name} {lengths}; [[maybe_unused]] auto &{name} = pygpu_cpu_at_{name}; "
            );
            self.visible.push((name, Bound::Local));
            self.visible.push((name, Bound::Shared));
        }
        Some(text)
    }

    /// Returns the two parts of a variable's declaration that surround the variable's name.
    fn type_of(&self, declaration: &Declaration<'_>, each: &Declarator<'_>) -> (String, String) {
        let pointers = (each.range.0.max(declaration.kind.1), each.at);
        let kind = format!("{} {}", self.text.joined(declaration.kind), self.text.joined(pointers));
        (kind, self.text.joined((each.at + 1, each.range.1)))
    }

    /// Converts the body of a loop `for (...) { ... }`, which contains a barrier, to loops over the threads of a block.
    /// The header of the loop must have the same values for all threads.
    fn shared_loop(&mut self, (first, end): TokenRange) -> Option<()> {
        let text = self.text;
        if text.at(first) != "for" {
            return None;
        }
        let behind = text.behind(first + 1);
        let init = text.find((first + 2, behind - 1), &[";"]);
        let condition = text.find((init + 1, behind - 1), &[";"]);
        if text.at(behind) != "{" || condition >= behind - 1 {
            return None;
        }
        let Read::Declared(declaration) = read(text, (first + 2, init + 1)) else { return None };
        let depth = self.visible.len();
        if !self.is_even_declaration_of(&declaration, false) {
            return None;
        }
        let mut aliases = String::new();
        for each in &declaration.declarators {
            self.visible.push((each.name, Bound::Counter));
            let _ = write!(aliases, " [[maybe_unused]] const auto &pygpu_cpu_c_{0} = {0};", each.name);
        }
        let rest = (init + 1, behind - 1);
        let own = |name: &str| declaration.declarators.iter().any(|each| each.name == name);
        let changes_others = (rest.0..rest.1).any(|at| text.is_word(at) && !own(text.at(at)) && assigned(text, at));
        if changes_others || !self.is_even((init + 1, condition)) || !self.is_even((condition + 1, behind - 1)) {
            return None;
        }
        self.insert(text.tokens[behind].end, aliases);
        self.shared_loops += 1;
        self.sequence((behind + 1, end - 1), true)?;
        self.visible.truncate(depth);
        Some(())
    }

    fn is_even_declaration(&self, declaration: &Declaration<'_>) -> bool {
        // Each name may be assigned in at most one position: the initializer of its declaration.
        let changes = |name: &str| {
            (self.body.0..self.body.1).filter(|&at| self.text.at(at) == name && assigned(self.text, at)).count()
        };
        declaration.declarators.iter().all(|each| changes(each.name) <= 1)
            && self.is_even_declaration_of(declaration, true)
    }

    /// Returns whether each declared variable is a plain number that is initialized to the same value in all threads.
    fn is_even_declaration_of(&self, declaration: &Declaration<'_>, is_alone: bool) -> bool {
        let mut words = (declaration.kind.0..declaration.kind.1).map(|at| self.text.at(at));
        let is_plain = words
            .all(|word| (BUILT_IN.contains(&word) && word != "auto") || QUALIFIERS.contains(&word) || word == "size_t");
        let mut names = declaration.declarators.iter();
        is_plain
            && names.all(|each| {
                let is_number = each.range.1 == each.at + 1 && each.at == each.range.0.max(declaration.kind.1);
                let even =
                    each.init.is_some_and(|(first, end)| self.text.at(first) == "=" && self.is_even((first + 1, end)));
                is_number && even && (!is_alone || declaration.declarators.len() == 1)
            })
    }

    /// Returns whether an expression has the same value for all threads, so that it may be evaluated once.
    fn is_even(&self, (first, end): TokenRange) -> bool {
        (first..end).all(|at| {
            let token = self.text.at(at);
            match self.text.tokens[at].kind {
                TokenKind::Literal => true,
                TokenKind::Mark => !matches!(token, "[" | "]" | "{" | "}" | ";"),
                TokenKind::Word => !self.text.is_name(at) || self.is_even_name(token),
            }
        })
    }

    fn is_even_name(&self, name: &str) -> bool {
        match self.visible.iter().rev().find(|(other, _)| *other == name) {
            Some((_, bound)) => {
                matches!(bound, Bound::Parameter(true) | Bound::Counter | Bound::Shared) && !self.is_memory(name)
            }
            None => {
                EVEN.contains(&name)
                    || name == "pygpu_cpu_block_index"
                    || (BUILT_IN.contains(&name) && name != "auto")
                    || name == "const"
                    || self.constants.contains(&name)
            }
        }
    }

    /// Returns whether a name is a variable in shared memory. The address of such a variable is the same for all
    /// threads, but its contents change.
    fn is_memory(&self, name: &str) -> bool {
        let mut own = self.visible.iter().rev().filter(|(other, _)| *other == name).map(|(_, bound)| *bound);
        own.next() == Some(Bound::Shared) && own.next() == Some(Bound::Local)
    }

    /// Writes a loop over the threads of the block around the statements of a region.
    fn close(&mut self, region: Region, is_last: bool) -> Option<()> {
        let (Some(first), Some(last)) = (region.statements.first(), region.statements.last()) else { return Some(()) };
        let range = (first.0, last.1);
        if !is_last && self.text.has(range, &["return"]) {
            return None;
        }
        let mut open = region.before;
        let at_open = self.edits.len();
        let mut declarations = Vec::new();
        for &statement in &region.statements {
            match read(self.text, statement) {
                Read::Doubt if self.has_barriers => return None,
                Read::Declared(declaration) if self.has_barriers => declarations.push(declaration),
                _ => {}
            }
        }
        let hidden: Vec<usize> =
            declarations.iter().flat_map(|declaration| declaration.declarators.iter().map(|each| each.at)).collect();
        let bindings = self.bindings(range, &hidden);
        for declaration in &declarations {
            self.keep(declaration, range, &mut open)?;
        }
        open.push_str(OPEN);
        open.push_str(&bindings);
        let start = self.text.tokens[range.0].start;
        self.edits.insert(at_open, Edit { start, end: start, text: open });
        self.insert(self.text.tokens[range.1 - 1].end, CLOSE.to_owned());
        Some(())
    }

    /// Returns declarations of the names that are declared outside of the region and used in it. `hidden` contains the
    /// positions at which the region declares its own variable of one of these names.
    fn bindings(&self, range: TokenRange, hidden: &[usize]) -> String {
        let (mut text, mut seen) = (String::new(), Vec::new());
        for &(name, bound) in self.visible.iter().rev() {
            let first = (range.0..range.1).find(|&at| self.text.at(at) == name && self.text.is_name(at));
            if seen.contains(&name) || first.is_none_or(|first| hidden.contains(&first)) {
                continue;
            }
            seen.push(name);
            let _ = match bound {
                // If the kernel has one loop over its threads, each thread gets its own copy of the parameter, as in a
                // call. If it has several, the parameter is constant, so that an assignment to it does not compile.
                Bound::Parameter(_) if !self.has_barriers => {
                    write!(text, "[[maybe_unused]] auto {name} = pygpu_cpu_c_{name}; ")
                }
                Bound::Parameter(_) | Bound::Counter => write!(text, "const auto &{name} = pygpu_cpu_c_{name}; "),
                Bound::Kept => write!(text, "pygpu_cpu_type_{name} &{name} = pygpu_cpu_of_{name}[pygpu_cpu_thread]; "),
                Bound::Shared | Bound::Local => Ok(()),
            };
        }
        text
    }

    /// Declares separate storage for each thread for those variables of a declaration that are used after a barrier.
    fn keep(&mut self, declaration: &Declaration<'a>, region: TokenRange, open: &mut String) -> Option<()> {
        let after = (region.1, self.body.1);
        let is_kept = declaration.declarators.iter().any(|each| self.text.names(after, each.name));
        if is_kept && (declaration.is_open || self.text.has(declaration.kind, &["constexpr"])) {
            return None;
        }
        for each in &declaration.declarators {
            let name = each.name;
            self.visible.push((name, if is_kept { Bound::Kept } else { Bound::Local }));
            if !is_kept {
                continue;
            }
            let (kind, lengths) = self.type_of(declaration, each);
            let _ = write!(
                open,
                " typedef {kind} pygpu_cpu_type_{name} {lengths}; const ::pygpu_cpu::room<pygpu_cpu_type_{name}> \
                 pygpu_cpu_of_{name}(pygpu_cpu_all);"
            );
            if let Some((_, end)) = each.init {
                self.replace(each.range, format!("pygpu_cpu_type_{name} pygpu_cpu_new_{name}"));
                let place = self.text.tokens[end - 1].end;
                self.insert(
                    place,
                    format!(
                        "; pygpu_cpu_type_{name} &{name} = ::pygpu_cpu::keep(pygpu_cpu_of_{name}[pygpu_cpu_thread], pygpu_cpu_new_{name})"
                    ),
                );
            } else {
                self.replace(
                    each.range,
                    format!("pygpu_cpu_type_{name} &{name} = pygpu_cpu_of_{name}[pygpu_cpu_thread]"),
                );
            }
            let behind = each.init.map_or(each.range.1, |init| init.1);
            if self.text.at(behind) == "," {
                self.replace((behind, behind + 1), "; ".to_owned());
            }
        }
        Some(())
    }
}

/// Returns whether the name at position `at` is assigned, or its address is taken.
fn assigned(text: &TokenizedSource<'_>, at: usize) -> bool {
    let next = |offset: usize| text.at(at + offset);
    let before = |offset: usize| at.checked_sub(offset).map_or("", |at| text.at(at));
    let by_operator = matches!(next(1), "+" | "-" | "*" | "/" | "%" | "&" | "|" | "^") && next(2) == "=";
    let by_step = matches!((next(1), next(2)), ("+", "+") | ("-", "-"))
        || matches!((before(2), before(1)), ("+", "+") | ("-", "-"));
    let by_shift = matches!((next(1), next(2), next(3)), ("<", "<", "=") | (">", ">", "="));
    let address = before(1) == "&" && before(2) != "&" && !matches!(before(2), "const" | ")");
    (next(1) == "=" && next(2) != "=") || by_operator || by_step || by_shift || address
}

/// Returns the kernel's template parameters as names whose values all threads share.
fn template_parameters<'a>(text: &TokenizedSource<'a>, definition: &Definition) -> Vec<(&'a str, Bound)> {
    let header = definition.declaration..definition.parameters.0;
    if !header.clone().any(|at| text.at(at) == "template") {
        return Vec::new();
    }
    let is_last = |at: &usize| text.is_word(*at) && matches!(text.at(at + 1), "," | ">" | "=");
    header.filter(is_last).map(|at| (text.at(at), Bound::Shared)).collect()
}

/// Returns the names of a kernel's parameters, and for each whether it is a number; `None` if they cannot be parsed.
fn parameters<'a>(text: &TokenizedSource<'a>, definition: &Definition) -> Option<Vec<(&'a str, Bound)>> {
    let (mut at, end) = (definition.parameters.0 + 1, definition.parameters.1 - 1);
    let mut found = Vec::new();
    while at < end {
        let behind = parameter_end(text, at, end);
        let range = (at, behind);
        at = behind + 1;
        if text.joined(range) == "void" {
            continue;
        }
        if (range.0..range.1).any(|at| matches!(text.at(at), "(" | "." | "=")) {
            return None;
        }
        let brackets = text.find(range, &["["]);
        let name = brackets.checked_sub(1).filter(|&at| at > range.0 && text.is_word(at))?;
        let is_number = brackets == range.1
            && (range.0..name).all(|at| matches!(text.at(at), "const" | "size_t") || BUILT_IN.contains(&text.at(at)));
        if BUILT_IN.contains(&text.at(name)) {
            return None;
        }
        found.push((text.at(name), Bound::Parameter(is_number)));
    }
    Some(found)
}

/// Returns the position of the comma after a parameter, or `end`. Commas in template arguments are skipped.
fn parameter_end(text: &TokenizedSource<'_>, mut at: usize, end: usize) -> usize {
    let mut depth = 0usize;
    while at < end {
        match text.at(at) {
            "<" => depth += 1,
            ">" => depth = depth.saturating_sub(1),
            "," if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    end
}
