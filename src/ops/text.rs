//! What a user's text does with the arrays it names: which it writes, and whether it goes beyond element `i` of them.
//!
//! Read from the words alone, so it errs to the safe side: what may be written counts as written, and what is used in a
//! way that is not understood gets a plain pointer and the plain loop.

use super::argument::{Argument, Role};
use super::macros;
use pygpu_base::dtype::Kind;
use pygpu_kernel::words;
use pygpu_memory::Access;

/// Whether the text writes an array.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Written {
    /// Certainly not.
    No,
    /// It looks as if it could.
    Maybe,
    /// It assigns to its elements.
    Yes,
}

/// How an array is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usage {
    /// Whether it is written.
    pub written: Written,
    /// Each element is assigned before anything reads it, whatever the values are.
    pub overwritten: bool,
    /// `x[i]` occurs.
    pub at_index: bool,
    /// `x[...]` with something else in the brackets occurs.
    pub elsewhere: bool,
    /// `x` without brackets occurs: it must be a pointer.
    pub bare: bool,
}

impl Usage {
    const NONE: Self =
        Self { written: Written::No, overwritten: false, at_index: false, elsewhere: false, bare: false };

    /// Whether nothing but element `i` is touched.
    pub fn is_pointwise(self) -> bool {
        self.at_index && !self.elsewhere && !self.bare
    }
}

/// What is known of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Analysis {
    /// For each argument; `None` for values.
    pub usages: Vec<Option<Usage>>,
    /// Only element `i` of arrays is touched, and nothing else depends on `i`: elements may be met in any order.
    pub any_order: bool,
    /// Several elements at a time may be read before and written behind the text.
    pub in_packs: bool,
    /// Threads live on from one element to the next, or are counted.
    pub counts_threads: bool,
    /// Of the arrays alone, in order, what each call asks.
    pub vectors: Vec<Vector>,
    /// In packs, and of each array element `i` alone, which is of no type of the user's.
    pub is_plain: bool,
}

/// What each call asks of an argument that is an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vector {
    /// As it was declared.
    pub kind: Kind,
    /// What is done to it.
    pub access: Access,
}

/// The texts of a kernel.
#[derive(Clone, Default, Debug)]
pub struct Texts {
    /// What is done for each element.
    pub operation: String,
    /// Before the loop of a thread.
    pub loop_prep: String,
    /// After it.
    pub after_loop: String,
    /// Before the kernel.
    pub preamble: String,
    /// About how many milliseconds a compiler spends each time that the operation occurs, where that is known: one that is heavy is
    /// written less often.
    pub weight: u8,
    /// Whether it takes as long to compute as what it reads takes to come. Then a thread goes on to further packs:
    /// `docs/design/generated_kernels.md` has the figures.
    pub is_long: bool,
}

/// Names that speak of a thread's place.
const THREADS: [&str; 7] = ["tid", "total_threads", "cta_start", "threadIdx", "blockIdx", "blockDim", "gridDim"];
const JUMPS: [&str; 4] = ["break", "return", "goto", "asm"];
/// Methods of `pycuda::complex` that change nothing.
const HARMLESS_METHODS: [&str; 2] = ["real", "imag"];
const OWN_HEADERS: [&str; 2] = ["pycuda-complex.hpp", "pycuda-helpers.hpp"];

fn is_name(word: &str) -> bool {
    word.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
}

fn is_operand(word: &str) -> bool {
    word.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') || word == "]"
}

/// The words of a text, asked for beyond both ends too.
struct Text<'a>(Vec<&'a str>);

impl<'a> Text<'a> {
    fn at(&self, position: usize) -> &'a str {
        self.0.get(position).copied().unwrap_or("")
    }

    fn before(&self, position: usize, by: usize) -> &'a str {
        position.checked_sub(by).map_or("", |position| self.at(position))
    }

    /// Behind the bracket that closes the one at `open`.
    fn behind(&self, open: usize) -> usize {
        let mut depth = 0usize;
        for position in open..self.0.len() {
            match self.at(position) {
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
        self.0.len()
    }

    /// Whether an assignment stands here: 2 for `=` alone, 1 for `+=` and `++`, 0 for none.
    fn assignment(&self, at: usize) -> u8 {
        match (self.at(at), self.at(at + 1), self.at(at + 2)) {
            ("=", next, _) if next != "=" => 2,
            ("+" | "-" | "*" | "/" | "%" | "&" | "|" | "^", "=", _) => 1,
            ("<", "<", "=") | (">", ">", "=") | ("+", "+", _) | ("-", "-", _) => 1,
            _ => 0,
        }
    }

    /// Whether the address is taken of what begins here, or it is counted up or down.
    fn is_taken(&self, at: usize) -> bool {
        let (last, second, third) = (self.before(at, 1), self.before(at, 2), self.before(at, 3));
        let is_logical = second == "&" && (is_operand(third) || third == ")");
        (last == "&" && !is_operand(second) && !is_logical) || (last == second && matches!(last, "+" | "-"))
    }
}

/// Whether functions and macros of the preamble may change what is passed to them.
fn may_take_references(preamble: &str) -> bool {
    let is_foreign = |line: &str| line.contains("include") && !OWN_HEADERS.iter().any(|own| line.contains(own));
    let lines = preamble.lines().map(str::trim_start).filter(|line| line.starts_with('#'));
    if lines.clone().any(|line| is_foreign(line) || (line.contains("define") && !macros::is_number(line))) {
        return true;
    }
    let text = Text(words(preamble).list);
    (0..text.0.len()).any(|at| {
        text.at(at) == "&" && is_name(text.at(at + 1)) && matches!(text.at(at + 2), "," | ")") && {
            let type_of = (1..6).map(|by| text.before(at, by)).take_while(|word| !matches!(*word, "," | "(" | ""));
            !type_of.into_iter().any(|word| word == "const")
        }
    })
}

/// The words of the macros that a text defines.
fn macro_words(text: &str) -> Vec<&str> {
    let joined = text.lines().map(str::trim_start).filter(|line| line.starts_with('#') && line.contains("define"));
    let is_sign = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    let mut found: Vec<&str> = joined.flat_map(|line| line.split(is_sign)).filter(|word| !word.is_empty()).collect();
    if text.contains("\\\n") && !found.is_empty() {
        found.extend(text.split(is_sign)); // a macro of several lines: whatever the text has
    }
    found
}

impl Analysis {
    /// Reads the texts.
    pub fn of(arguments: &[Argument], texts: &Texts) -> Self {
        let references = may_take_references(&texts.preamble) || texts.operation.contains('#');
        let operation = Text(words(&texts.operation).list);
        let around = [Text(words(&texts.loop_prep).list), Text(words(&texts.after_loop).list)];
        let macros =
            [macro_words(&texts.preamble), macro_words(&texts.operation), macro_words(&texts.loop_prep)].concat();
        let mut usages = Vec::new();
        for argument in arguments {
            let Role::Vector { constant } = argument.role else {
                usages.push(None);
                continue;
            };
            let mut usage = Usage::NONE;
            for text in [&operation, &around[0], &around[1]] {
                read(text, &argument.name, references, &mut usage);
            }
            usage.overwritten = usage.is_pointwise() && is_overwritten(&operation, &argument.name);
            let is_named = |text: &Text<'_>| text.0.contains(&argument.name.as_str());
            if macros.contains(&argument.name.as_str())
                || ![&operation, &around[0], &around[1]].into_iter().any(is_named)
            {
                (usage.bare, usage.written) = (true, usage.written.max(Written::Maybe));
            }
            if around.iter().any(is_named) {
                usage.elsewhere = true; // `i` is no element there
            }
            if constant {
                usage.written = Written::No;
            }
            usages.push(Some(usage));
        }
        let names = || operation.0.iter().chain(&around[0].0).chain(&around[1].0);
        let has = |list: &[&str]| names().any(|word| list.contains(word) || word.starts_with("__sync"));
        let (uses_index, changes_index) = index_use(&operation, arguments);
        let hidden_index = macros.contains(&"i");
        let counts_threads = has(&THREADS) || around.iter().any(|text| !text.0.is_empty());
        let pointwise = |usage: &Usage| !usage.at_index || usage.is_pointwise();
        let all_pointwise = usages.iter().flatten().all(pointwise) && usages.iter().flatten().any(|one| one.at_index);
        let is_by_element = all_pointwise && !has(&THREADS) && !hidden_index;
        let is_index_inside = around.iter().all(|text| !text.0.contains(&"i"));
        let in_packs = is_by_element && !changes_index && !has(&JUMPS) && is_index_inside;
        let vector = |(argument, usage): (&Argument, &Option<Usage>)| {
            let access = if usage.as_ref()?.written > Written::No { Access::Write } else { Access::Read };
            Some(Vector { kind: argument.dtype.kind(), access })
        };
        let vectors: Vec<Vector> = arguments.iter().zip(&usages).filter_map(vector).collect();
        Self {
            any_order: is_by_element && !uses_index && is_index_inside,
            in_packs,
            counts_threads,
            is_plain: in_packs
                && usages.iter().flatten().all(|usage| usage.is_pointwise())
                && vectors.iter().all(|vector| vector.kind != Kind::Opaque),
            vectors,
            usages,
        }
    }
}

/// Whether `i` occurs outside of `x[i]`, and whether it may be changed.
fn index_use(text: &Text<'_>, arguments: &[Argument]) -> (bool, bool) {
    let (mut uses, mut changes) = (false, false);
    for at in (0..text.0.len()).filter(|at| text.at(*at) == "i") {
        let is_vector = |name: &str| arguments.iter().any(|one| one.is_vector() && one.name == name);
        let is_element = text.before(at, 1) == "[" && text.at(at + 1) == "]" && is_vector(text.before(at, 2));
        uses |= !is_element;
        // A declaration of another `i` counts as a change.
        changes |= !is_element && (text.assignment(at + 1) > 0 || text.is_taken(at) || is_name(text.before(at, 1)));
    }
    (uses, changes)
}

/// Adds what one text does with one array.
fn read(text: &Text<'_>, name: &str, references: bool, usage: &mut Usage) {
    for at in (0..text.0.len()).filter(|at| text.at(*at) == name) {
        if matches!(text.before(at, 1), "." | "->" | "::") {
            continue; // a member of that name
        }
        if text.at(at + 1) != "[" {
            usage.bare = true;
            usage.written = usage.written.max(Written::Maybe);
            continue;
        }
        let mut end = text.behind(at + 1);
        match text.0.get(at + 2..end.saturating_sub(1)) {
            Some(["i"]) => usage.at_index = true,
            _ => usage.elsewhere = true,
        }
        let mut calls = false;
        loop {
            match text.at(end) {
                "." | "->" if text.at(end + 2) == "(" => {
                    calls |= !HARMLESS_METHODS.contains(&text.at(end + 1));
                    end = text.behind(end + 2);
                }
                "." | "->" => end += 2,
                "[" => end = text.behind(end),
                _ => break,
            }
        }
        let is_argument = matches!(text.before(at, 1), "(" | ",") && matches!(text.at(end), "," | ")");
        let is_bound = text.before(at, 1) == "=" && is_name(text.before(at, 2)) && text.before(at, 3) == "&";
        let found = match text.assignment(end) {
            1 | 2 => Written::Yes,
            _ if text.is_taken(at) || calls || is_bound || (references && is_argument) => Written::Maybe,
            _ => Written::No,
        };
        usage.written = usage.written.max(found);
    }
}

/// Whether the first thing that is done with each element is an assignment that nothing can leave out.
fn is_overwritten(text: &Text<'_>, name: &str) -> bool {
    if text.0.iter().any(|word| JUMPS.contains(word) || *word == "continue") {
        return false;
    }
    let mut depth = 0i32;
    for at in 0..text.0.len() {
        match text.at(at) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            word if word == name && !matches!(text.before(at, 1), "." | "->" | "::") => {
                let starts = matches!(text.before(at, 1), "" | ";" | "}") && depth == 0;
                let assigns = text.at(at + 2) == "i" && text.at(at + 3) == "]" && text.assignment(at + 4) == 2;
                let rest = text.0[at + 4..].iter().take_while(|word| **word != ";");
                return starts && assigns && !rest.into_iter().any(|word| *word == name);
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests;
