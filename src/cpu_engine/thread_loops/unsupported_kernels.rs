//! Detects kernels that cannot be converted to loops, because their threads wait for each other by other means than
//! `__syncthreads()`.

use super::Definition;
use super::statements::TokenizedSource;

/// Prefixes of names that prevent the conversion of a kernel: names of operations in which threads wait for each other,
/// and of jumps that can form a loop around such an operation.
const WAITING: [&str; 13] = [
    "__shfl",
    "__ballot",
    "__any",
    "__all",
    "__activemask",
    "__match_",
    "__reduce_",
    "__syncwarp",
    "__nanosleep",
    "unchanged",
    "goto",
    "setjmp",
    "__syncthreads_",
];

/// Names that the engine's header inserts into preprocessed sources. All other names that begin with `pygpu_cpu_`
/// denote operations in which threads wait.
const HARMLESS: [&str; 5] = [
    "pygpu_cpu_thread_index",
    "pygpu_cpu_block_index",
    "pygpu_cpu_block_size",
    "pygpu_cpu_grid_size",
    "pygpu_cpu_assert",
];

fn waits(word: &str) -> bool {
    WAITING.iter().any(|waiting| word.starts_with(waiting))
        || matches!(word, "asm" | "__asm" | "__asm__")
        || (word.starts_with("pygpu_cpu_") && !HARMLESS.contains(&word))
}

/// Returns whether the result of the atomic function called at `position` is unused, because the call is a whole
/// statement.
fn stands_alone(text: &TokenizedSource<'_>, position: usize) -> bool {
    match text.at(position.wrapping_sub(1)) {
        ";" | "{" | "}" | "else" => true,
        ")" => {
            let open = (0..position).rev().find(|&at| text.at(at) == "(" && text.behind(at) == position);
            open.is_some_and(|open| open > 0 && matches!(text.at(open - 1), "if" | "for"))
        }
        _ => false,
    }
}

/// Returns whether the word at `position` is a fence, or an atomic function whose result is used. Either may belong to
/// a loop that waits for another thread.
fn may_spin(text: &TokenizedSource<'_>, position: usize) -> bool {
    let word = text.at(position);
    word.starts_with("__threadfence")
        || (word.starts_with("atomic") && text.at(position + 1) == "(" && !stands_alone(text, position))
}

/// Returns whether a kernel's body contains an operation in which threads wait for each other.
pub fn waits_inside(text: &TokenizedSource<'_>, body: (usize, usize), has_loops: bool) -> bool {
    (body.0..body.1).any(|at| text.is_word(at) && (waits(text.at(at)) || (has_loops && may_spin(text, at))))
}

/// Returns whether the user's files contain, outside of kernels, an operation in which threads wait for each other. A
/// kernel may call the function with that operation.
pub fn waits_outside(text: &TokenizedSource<'_>, definitions: &[Definition]) -> bool {
    let own = own_headers(text.source);
    outside(text, definitions).any(|at| {
        let word = text.at(at);
        text.is_word(at)
            && (waits(word) || word.starts_with("__syncthreads") || may_spin(text, at))
            && !is_own(text, &own, at)
    })
}

/// Returns the names of `constexpr` constants at file scope, whose values are the same for all threads.
pub fn constants<'a>(text: &TokenizedSource<'a>, definitions: &[Definition]) -> Vec<&'a str> {
    let declared = outside(text, definitions).filter(|&at| text.at(at) == "constexpr");
    let names = declared.filter_map(|at| {
        let equals = (at..text.tokens.len().min(at + 8)).find(|&at| matches!(text.at(at), "=" | "(" | ";" | "{"))?;
        (text.at(equals) == "=").then(|| text.at(equals - 1))
    });
    // The engine's header defines `warpSize`, but if the compiler uses a precompiled header, the text does not contain
    // that definition.
    names.chain(["warpSize"]).collect()
}

fn outside(text: &TokenizedSource<'_>, definitions: &[Definition]) -> impl Iterator<Item = usize> {
    let bodies: Vec<(usize, usize)> = definitions.iter().map(|definition| definition.body).collect();
    (0..text.tokens.len()).filter(move |at| !bodies.iter().any(|&(first, end)| (first..end).contains(at)))
}

fn is_own(text: &TokenizedSource<'_>, own: &[(usize, usize)], at: usize) -> bool {
    own.iter().any(|&(first, end)| (first..end).contains(&text.tokens[at].start))
}

/// Returns the byte ranges of the text that comes from the engine's headers, which are included before every source.
fn own_headers(source: &str) -> Vec<(usize, usize)> {
    let (mut found, mut begun, mut at) = (Vec::new(), None, 0);
    for line in source.split_inclusive('\n') {
        if let Some((_, file)) = line.strip_prefix("# ").and_then(|rest| rest.split_once('"')) {
            let is_own = file.starts_with("include/pygpu_cpu") && !file.contains("/forward/");
            match (is_own, begun) {
                (true, None) => begun = Some(at),
                (false, Some(first)) => {
                    found.push((first, at));
                    begun = None;
                }
                _ => {}
            }
        }
        at += line.len();
    }
    found.extend(begun.map(|first| (first, source.len())));
    found
}
