//! Analyzes a user's source: which arrays it writes, and whether it accesses elements other than `i`.
//!
//! The analysis considers only tokens and is therefore conservative: an array that may be written counts as written. An
//! array that is used in an unrecognized way is passed as a plain pointer, and the kernel then processes elements one
//! by one.

use super::kernel_argument::{Argument, ArgumentRole};
use super::user_macros;
use pygpu_base::dtype::ScalarType;
use pygpu_kernel::words;
use pygpu_memory::Access;

/// Whether the source writes the elements of an array.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum WrittenNames {
    /// The source certainly does not write elements.
    No,
    /// The source possibly writes elements.
    Maybe,
    /// The source assigns to elements.
    Yes,
}

/// How the source uses an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usage {
    /// Whether the source writes the array.
    pub written: WrittenNames,
    /// Whether, for any values of the operands, the source assigns each element before the source reads that element.
    pub overwritten: bool,
    /// Whether `x[i]` occurs in the source, where `x` is the array's name.
    pub at_index: bool,
    /// Whether `x[...]` occurs in the source with an index other than `i`, where `x` is the array's name.
    pub elsewhere: bool,
    /// Whether the array's name occurs in the source without brackets. If so, the kernel receives a plain pointer for
    /// the array.
    pub bare: bool,
}

impl Usage {
    const NONE: Self =
        Self { written: WrittenNames::No, overwritten: false, at_index: false, elsewhere: false, bare: false };

    /// Whether the source only accesses element `i` of the array.
    pub fn is_pointwise(self) -> bool {
        self.at_index && !self.elsewhere && !self.bare
    }
}

/// Result of the analysis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Analysis {
    /// One entry per argument; `None` for scalars.
    pub usages: Vec<Option<Usage>>,
    /// Whether elements may be processed in any order: the source accesses only element `i` of each array, and uses `i`
    /// for no other purpose.
    pub any_order: bool,
    /// Whether a kernel may load several elements first, then execute the source for each of them, and finally store
    /// them.
    pub in_packs: bool,
    /// Whether the source depends on the number of threads, or carries state from one element of a thread to the
    /// thread's next element.
    pub counts_threads: bool,
    /// One entry per array argument, in order.
    pub vectors: Vec<Vector>,
    /// The compile-time weight of the source, i.e. the approximate time in milliseconds to compile it once.
    pub weight: u8,
    /// Whether a call may qualify for the fast path in `fast_path.rs`. Three conditions must hold: `in_packs` is set,
    /// the source accesses only element `i` of each array, and no array has a user-defined element type.
    pub is_plain: bool,
}

/// Requirements that the array passed for an argument must fulfil.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vector {
    /// The element type that the user declared.
    pub kind: ScalarType,
    /// Whether the kernel reads or writes the array.
    pub access: Access,
}

/// The parts of a kernel's source that the user provides.
#[derive(Clone, Default, Debug)]
pub struct Texts {
    /// The user's code that is executed for each element.
    pub operation: String,
    /// The user's code that precedes the loop in which a thread processes its elements.
    pub loop_prep: String,
    /// Code after the loop.
    pub after_loop: String,
    /// Code before the kernel.
    pub preamble: String,
    /// Approximate time in milliseconds to compile one occurrence of the operation; 0 if unknown. The loop over the
    /// elements that a thread loads together is unrolled less for a higher weight.
    pub weight: u8,
    /// Whether the computation takes as long as reading the operands. If so, a thread makes several vector loads; the
    /// measurements are in `docs/design/generated_kernels.md`.
    pub is_long: bool,
}

/// Names by which a source can depend on the index or the number of threads.
const THREADS: [&str; 7] = ["tid", "total_threads", "cta_start", "threadIdx", "blockIdx", "blockDim", "gridDim"];
const JUMPS: [&str; 4] = ["break", "return", "goto", "asm"];
/// Methods of `pycuda::complex` that do not modify the complex number.
const HARMLESS_METHODS: [&str; 2] = ["real", "imag"];
const OWN_HEADERS: [&str; 2] = ["pycuda-complex.hpp", "pycuda-helpers.hpp"];

fn is_name(word: &str) -> bool {
    word.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
}

fn is_operand(word: &str) -> bool {
    word.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') || word == "]"
}

/// The tokens of a source. At a position before the first or after the last token, the accessors return an empty token.
struct TextTokens<'a>(Vec<&'a str>);

impl<'a> TextTokens<'a> {
    fn at(&self, position: usize) -> &'a str {
        self.0.get(position).copied().unwrap_or("")
    }

    fn before(&self, position: usize, by: usize) -> &'a str {
        position.checked_sub(by).map_or("", |position| self.at(position))
    }

    /// Returns the token position after the bracket that closes the bracket at token position `open`.
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

    /// Returns the kind of assignment operator at a token position: 2 for `=`, 1 for operators such as `+=` and `++`, 0
    /// for none.
    fn assignment(&self, at: usize) -> u8 {
        match (self.at(at), self.at(at + 1), self.at(at + 2)) {
            ("=", next, _) if next != "=" => 2,
            ("+" | "-" | "*" | "/" | "%" | "&" | "|" | "^", "=", _) => 1,
            ("<", "<", "=") | (">", ">", "=") | ("+", "+", _) | ("-", "-", _) => 1,
            _ => 0,
        }
    }

    /// Whether the source takes the address of the operand at a token position, or increments or decrements the
    /// operand.
    fn is_taken(&self, at: usize) -> bool {
        let (last, second, third) = (self.before(at, 1), self.before(at, 2), self.before(at, 3));
        let is_logical = second == "&" && (is_operand(third) || third == ")");
        (last == "&" && !is_operand(second) && !is_logical) || (last == second && matches!(last, "+" | "-"))
    }
}

/// Whether functions or macros in the user's preamble may modify their arguments.
fn may_take_references(preamble: &str) -> bool {
    let is_foreign = |line: &str| line.contains("include") && !OWN_HEADERS.iter().any(|own| line.contains(own));
    let lines = preamble.lines().map(str::trim_start).filter(|line| line.starts_with('#'));
    if lines.clone().any(|line| is_foreign(line) || (line.contains("define") && !user_macros::is_number(line))) {
        return true;
    }
    let text = TextTokens(words(preamble).list);
    (0..text.0.len()).any(|at| {
        text.at(at) == "&" && is_name(text.at(at + 1)) && matches!(text.at(at + 2), "," | ")") && {
            let type_of = (1..6).map(|by| text.before(at, by)).take_while(|word| !matches!(*word, "," | "(" | ""));
            !type_of.into_iter().any(|word| word == "const")
        }
    })
}

/// Returns the tokens of all macro definitions in a source.
fn macro_words(text: &str) -> Vec<&str> {
    let joined = text.lines().map(str::trim_start).filter(|line| line.starts_with('#') && line.contains("define"));
    let is_sign = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    let mut found: Vec<&str> = joined.flat_map(|line| line.split(is_sign)).filter(|word| !word.is_empty()).collect();
    if text.contains("\\\n") && !found.is_empty() {
        found.extend(text.split(is_sign)); // the analysis does not search the later lines of a multi-line macro, so all tokens of the source are returned
    }
    found
}

impl Analysis {
    /// Analyzes how the parts of a kernel's source use the arguments.
    pub fn of(arguments: &[Argument], texts: &Texts) -> Self {
        let references = may_take_references(&texts.preamble) || texts.operation.contains('#');
        let operation = TextTokens(words(&texts.operation).list);
        let around = [TextTokens(words(&texts.loop_prep).list), TextTokens(words(&texts.after_loop).list)];
        let macros =
            [macro_words(&texts.preamble), macro_words(&texts.operation), macro_words(&texts.loop_prep)].concat();
        let mut usages = Vec::new();
        for argument in arguments {
            let ArgumentRole::Vector { constant } = argument.role else {
                usages.push(None);
                continue;
            };
            let mut usage = Usage::NONE;
            for text in [&operation, &around[0], &around[1]] {
                read(text, &argument.name, references, &mut usage);
            }
            usage.overwritten = usage.is_pointwise() && is_overwritten(&operation, &argument.name);
            let is_named = |text: &TextTokens<'_>| text.0.contains(&argument.name.as_str());
            if macros.contains(&argument.name.as_str())
                || ![&operation, &around[0], &around[1]].into_iter().any(is_named)
            {
                (usage.bare, usage.written) = (true, usage.written.max(WrittenNames::Maybe));
            }
            if around.iter().any(is_named) {
                usage.elsewhere = true; // outside of the loop, `i` is no element index, so each use of the array counts as one at another index
            }
            if constant {
                usage.written = WrittenNames::No;
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
            let access = if usage.as_ref()?.written > WrittenNames::No { Access::Write } else { Access::Read };
            Some(Vector { kind: argument.dtype.kind(), access })
        };
        let vectors: Vec<Vector> = arguments.iter().zip(&usages).filter_map(vector).collect();
        Self {
            any_order: is_by_element && !uses_index && is_index_inside,
            in_packs,
            counts_threads,
            weight: texts.weight,
            is_plain: in_packs
                && usages.iter().flatten().all(|usage| usage.is_pointwise())
                && vectors.iter().all(|vector| vector.kind != ScalarType::Opaque),
            vectors,
            usages,
        }
    }
}

/// Returns whether `i` occurs outside of `x[i]`, and whether the source may modify `i`.
fn index_use(text: &TextTokens<'_>, arguments: &[Argument]) -> (bool, bool) {
    let (mut uses, mut changes) = (false, false);
    for at in (0..text.0.len()).filter(|at| text.at(*at) == "i") {
        let is_vector = |name: &str| arguments.iter().any(|one| one.is_vector() && one.name == name);
        let is_element = text.before(at, 1) == "[" && text.at(at + 1) == "]" && is_vector(text.before(at, 2));
        uses |= !is_element;
        // A declaration of another variable named `i` counts as a modification, too.
        changes |= !is_element && (text.assignment(at + 1) > 0 || text.is_taken(at) || is_name(text.before(at, 1)));
    }
    (uses, changes)
}

/// Updates `usage`, the summary of all uses of the array `name`, for one part of the source.
fn read(text: &TextTokens<'_>, name: &str, references: bool, usage: &mut Usage) {
    for at in (0..text.0.len()).filter(|at| text.at(*at) == name) {
        if matches!(text.before(at, 1), "." | "->" | "::") {
            continue; // this is a member of a struct that only has the array's name
        }
        if text.at(at + 1) != "[" {
            usage.bare = true;
            usage.written = usage.written.max(WrittenNames::Maybe);
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
            1 | 2 => WrittenNames::Yes,
            _ if text.is_taken(at) || calls || is_bound || (references && is_argument) => WrittenNames::Maybe,
            _ => WrittenNames::No,
        };
        usage.written = usage.written.max(found);
    }
}

/// Whether the first use of the array `name` is an unconditional assignment to element `i`.
fn is_overwritten(text: &TextTokens<'_>, name: &str) -> bool {
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
