//! Parses compiler options in nvcc's syntax. An option is converted to a form that PyGPU can translate for every
//! supported compiler. Otherwise it is rejected by an error with the option's name.
//!
//! The same options work for NVRTC, hiprtc, nvcc and the host's C++ compiler. Unrecognized options are passed to the
//! compiler unchanged.

use pygpu_backend::CompileOption;
use pygpu_base::error::{Error, Result};

/// The parsed compiler options of a source.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CompileOptions {
    /// The options in their original order.
    pub list: Vec<CompileOption>,
    /// The architecture that the options request. If `None`, the source is compiled for the device's architecture.
    pub architecture: Option<String>,
    /// One sentence for each skipped option, which states why the option was skipped.
    pub notes: Vec<String>,
}

/// nvcc options for the host compiler and the linker, which do not affect kernels. They are skipped with a note. An
/// entry of this table contains the option's names, whether a value follows the option, and the reason that the note
/// states.
const PASSED_OVER: &[(&[&str], bool, &str)] = &[
    (
        &["-Xcompiler", "--compiler-options"],
        true,
        "it is for the host's compiler, and a kernel's source has no host code",
    ),
    (&["-ccbin", "--compiler-bindir"], true, "it names the host's compiler, and a kernel's source has no host code"),
    (&["-Xlinker", "--linker-options", "-Xnvlink", "--nvlink-options"], true, "nothing is linked"),
    (&["-l", "--library", "-L", "--library-path", "-cudart", "--cudart"], true, "nothing is linked"),
    (&["-shared", "--shared"], false, "nothing is linked"),
];

/// nvcc options that make no sense because PyGPU produces one image in memory. Each is rejected with the reason in its
/// entry.
const REFUSED: &[(&[&str], &str)] = &[
    (&["-o", "--output-file", "-odir", "--output-directory"], "the image stays in memory and in the cache"),
    (
        &[
            "-c",
            "--compile",
            "-cubin",
            "--cubin",
            "-ptx",
            "--ptx",
            "-fatbin",
            "--fatbin",
            "-E",
            "--preprocess",
            "-link",
        ],
        "PyGPU chooses the form of the result",
    ),
    (&["-m32", "-m", "--machine"], "devices have 64-bit addresses"),
    (&["-keep", "--keep", "-save-temps", "--save-temps", "-dryrun", "--dryrun"], "there are no intermediate files"),
];

/// Flags without a value that do not change the image of a kernel.
const IGNORED: &[&str] = &["-m64", "--m64", "-v", "--verbose", "-noeh", "--no-exceptions"];

/// Options that are passed to the compiler unchanged and have a value, which may be the next argument.
const SEPARATE: &[&str] = &["-default-stream", "--default-stream", "-Xcudafe", "-diag-suppress", "--diag-suppress"];

/// Long and short names of options with a value, in the order of [`ValuedOption`].
const VALUED: &[(ValuedOption, &[&str])] = &[
    (ValuedOption::Define, &["-D", "--define-macro"]),
    (ValuedOption::Undefine, &["-U", "--undefine-macro"]),
    (ValuedOption::Include, &["-I", "--include-path", "-isystem", "--system-include"]),
    (ValuedOption::ForceInclude, &["-include", "--pre-include"]),
    (ValuedOption::Standard, &["-std", "--std"]),
    (ValuedOption::Architecture, &["-arch", "--gpu-architecture"]),
    (ValuedOption::Code, &["-code", "--gpu-code"]),
    (ValuedOption::Generate, &["-gencode", "--generate-code"]),
    (ValuedOption::Ptxas, &["-Xptxas", "--ptxas-options"]),
    (ValuedOption::MaxRegisters, &["-maxrregcount", "--maxrregcount"]),
    (ValuedOption::Fmad, &["-fmad", "--fmad"]),
    (ValuedOption::Relocatable, &["-rdc", "--relocatable-device-code"]),
    (ValuedOption::Optimize, &["-O", "--optimize"]),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ValuedOption {
    Define,
    Undefine,
    Include,
    ForceInclude,
    Standard,
    Architecture,
    Code,
    Generate,
    Ptxas,
    MaxRegisters,
    Fmad,
    Relocatable,
    Optimize,
}

/// Returns whether a value may follow the option's name directly, as in `-DN`, `-Ifolder`, `-O3`.
fn is_letter(name: &str) -> bool {
    name.len() == 2
}

/// The library with which [`super::relocatable_code`] links relocatable code whose kernels launch kernels.
const DEVICE_RUNTIME: &str = "cudadevrt";

/// Parses compiler options. If `refuse` is false, no option is rejected or skipped, because the user has selected a
/// compiler program, which accepts all of them.
///
/// # Errors
/// `ValueError` with the option's name.
pub fn parse(texts: &[String], refuse: bool) -> Result<CompileOptions> {
    let mut options = CompileOptions::default();
    let mut notes_of_runtime = Vec::new();
    let mut texts = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
    while let Some(text) = texts.next() {
        if refuse {
            check_refused(text)?;
            if let Some((takes_next, note)) = passed_over(text) {
                let next = if takes_next { texts.next() } else { None };
                let is_runtime = text.starts_with("-l") || text.starts_with("--library");
                if is_runtime && next.unwrap_or(text).ends_with(DEVICE_RUNTIME) {
                    notes_of_runtime.push(note);
                } else {
                    options.notes.push(note);
                }
                continue;
            }
        }
        if let Some((kind, name, value)) = valued(text) {
            let value = match value {
                Some(value) => value.to_owned(),
                None => texts.next().map(str::to_owned).ok_or_else(|| {
                    Error::value(format!("the option {name} is the last one, and its value is missing"))
                })?,
            };
            options.take(kind, name, &value)?;
        } else if let Some(flag) = flag(text) {
            options.list.push(flag);
        } else if SEPARATE.contains(&text) {
            let value = texts.next().map(|value| format!("{text}={value}"));
            options.list.push(CompileOption::Own(value.unwrap_or_else(|| text.to_owned())));
        } else if !IGNORED.contains(&text) {
            options.list.push(CompileOption::Own(text.to_owned()));
        }
    }
    if !is_relocatable(&options.list) {
        options.notes.append(&mut notes_of_runtime);
    }
    Ok(options)
}

/// Returns whether the options request relocatable code. The last of several options such as `-rdc=true` and
/// `-rdc=false` decides.
pub fn is_relocatable(list: &[CompileOption]) -> bool {
    let is_last = |option: &CompileOption| matches!(option, CompileOption::Relocatable(true));
    list.iter().rev().find(|option| matches!(option, CompileOption::Relocatable(_))).is_some_and(is_last)
}

/// If an option must be skipped, returns whether the next argument is the option's value, and the note that explains
/// the skip.
fn passed_over(text: &str) -> Option<(bool, String)> {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    let (_, has_value, reason) = PASSED_OVER.iter().find(|(names, _, _)| {
        // `-lineinfo` begins with `-l` but is not a linker option.
        let is_joined = |one: &&str| matches!(*one, "-l" | "-L") && text.starts_with(*one) && flag(text).is_none();
        names.contains(&name) || names.iter().any(is_joined)
    })?;
    let is_bare = PASSED_OVER.iter().any(|(names, _, _)| names.contains(&text));
    Some((*has_value && is_bare, format!("the option {text} was passed over: {reason}")))
}

fn check_refused(text: &str) -> Result<()> {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    for (names, reason) in REFUSED {
        if names.contains(&name) {
            return Err(Error::value(format!(
                "the option {text} is not taken: {reason}; leave it out, or compile with compiler=\"nvcc\""
            )));
        }
    }
    Ok(())
}

fn flag(text: &str) -> Option<CompileOption> {
    Some(match text {
        "-use_fast_math" | "--use_fast_math" | "-ffast-math" => CompileOption::FastMath,
        "-G" | "--device-debug" => CompileOption::Debug,
        "-lineinfo" | "--generate-line-info" => CompileOption::LineInfo,
        "-w" | "--disable-warnings" => CompileOption::NoWarnings,
        "-dc" | "--device-c" => CompileOption::Relocatable(true),
        "-dw" | "--device-w" => CompileOption::Relocatable(false),
        _ => return None,
    })
}

/// Returns the option with a value that a command-line argument names, the option's name as written, and its value if
/// the argument contains it.
fn valued(text: &str) -> Option<(ValuedOption, &str, Option<&str>)> {
    for (kind, names) in VALUED {
        for name in *names {
            let Some(rest) = text.strip_prefix(name) else { continue };
            if rest.is_empty() {
                return Some((*kind, name, None));
            }
            if is_letter(name) {
                // The value may follow the name directly, as in `-O3` and `-Ifolder`. `-Ofast` does not match, because
                // a level is a number. `-Inconsistent` is taken as the folder `nconsistent`.
                let value = rest.trim_start();
                if *kind != ValuedOption::Optimize || value.bytes().all(|byte| byte.is_ascii_digit()) {
                    return Some((*kind, name, Some(value)));
                }
                continue;
            }
            if let Some(value) = rest.strip_prefix(['=', ' ']) {
                return Some((*kind, name, Some(value.trim())));
            }
        }
    }
    None
}

impl CompileOptions {
    fn take(&mut self, kind: ValuedOption, name: &str, value: &str) -> Result<()> {
        let bad = |expected: &str| Err(Error::value(format!("the option {name} takes {expected}, not '{value}'")));
        let truth = || match value {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(Error::value(format!("the option {name} takes true or false, not '{value}'"))),
        };
        let option = match kind {
            ValuedOption::Define => match value.split_once('=') {
                Some((name, value)) => CompileOption::Define(name.to_owned(), Some(value.to_owned())),
                None => CompileOption::Define(value.to_owned(), None),
            },
            ValuedOption::Undefine => CompileOption::Undefine(value.to_owned()),
            ValuedOption::Include => CompileOption::Include(value.to_owned()),
            ValuedOption::ForceInclude => CompileOption::ForceInclude(value.to_owned()),
            ValuedOption::Standard => CompileOption::Standard(value.to_owned()),
            ValuedOption::MaxRegisters => match value.parse() {
                Ok(most) => CompileOption::MaxRegisters(most),
                Err(_) => return bad("a number of registers"),
            },
            ValuedOption::Fmad => CompileOption::FusedMultiplyAdd(truth()?),
            ValuedOption::Relocatable => CompileOption::Relocatable(truth()?),
            ValuedOption::Optimize => match value.parse() {
                Ok(level @ 0..=3) => CompileOption::Optimize(level),
                _ => return bad("a level from 0 to 3"),
            },
            ValuedOption::Architecture => return self.architecture(name, value),
            ValuedOption::Code => return self.code(name, value),
            ValuedOption::Generate => {
                let code = value.split(',').find_map(|part| part.trim().strip_prefix("code="));
                return match code {
                    Some(code) => self.code(name, code),
                    None => bad("arch=compute_XX,code=sm_XX"),
                };
            }
            ValuedOption::Ptxas => {
                for part in value.split(',').map(str::trim) {
                    self.list.push(match part {
                        "-v" | "--verbose" => CompileOption::Verbose,
                        other => CompileOption::Own(format!("--ptxas-options={other}")),
                    });
                }
                return Ok(());
            }
        };
        self.list.push(option);
        Ok(())
    }

    fn architecture(&mut self, name: &str, value: &str) -> Result<()> {
        if matches!(value, "native" | "all" | "all-major") {
            return Ok(()); // these values select the device's own architecture, which is the default
        }
        if self.architecture.is_none() {
            return self.one_architecture(name, value);
        }
        Ok(()) // the option is ignored, because `-code` or another option has already set an architecture
    }

    fn code(&mut self, name: &str, value: &str) -> Result<()> {
        self.architecture = None;
        self.one_architecture(name, value.trim_matches(['[', ']', '"', '\'']))
    }

    fn one_architecture(&mut self, name: &str, value: &str) -> Result<()> {
        let is_one = ["sm_", "compute_", "gfx"].iter().any(|start| value.starts_with(start)) && !value.contains(',');
        if !is_one {
            return Err(Error::value(format!(
                "the option {name} takes one architecture, as sm_90 or compute_90, not '{value}': PyGPU compiles for the \
                 device that the kernel is for, and needs no list"
            )));
        }
        self.architecture = Some(value.to_owned());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;
    use CompileOption::*;

    fn parsed(texts: &[&str]) -> CompileOptions {
        parse(&texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>(), true).unwrap()
    }

    fn refusal(texts: &[&str]) -> String {
        parse(&texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>(), true).unwrap_err().to_string()
    }

    #[test]
    fn option_value_may_be_joined_or_separate() {
        let define = [Define("N".into(), Some("3".into()))];
        for texts in [&["-DN=3"][..], &["-D", "N=3"], &["-D N=3"], &["--define-macro=N=3"], &["--define-macro", "N=3"]]
        {
            assert_eq!(parsed(texts).list, define, "{texts:?}");
        }
        for texts in [&["-I/a b"][..], &["-I", "/a b"], &["--include-path=/a b"], &["-isystem", "/a b"]] {
            assert_eq!(parsed(texts).list, [Include("/a b".into())], "{texts:?}");
        }
        assert_eq!(
            parsed(&["-std=c++17", "--std", "c++14"]).list,
            [Standard("c++17".into()), Standard("c++14".into())]
        );
        assert!(refusal(&["-D"]).contains("-D is the last one"));
    }

    #[test]
    fn nvcc_flags_are_parsed() {
        let list = parsed(&["-use_fast_math", "-O3", "-G", "-lineinfo", "--maxrregcount=32", "-w", "-fmad=false"]).list;
        let expected = [FastMath, Optimize(3), Debug, LineInfo, MaxRegisters(32), NoWarnings, FusedMultiplyAdd(false)];
        assert_eq!(list, expected);
        for texts in [&["--ptxas-options=-v"][..], &["-Xptxas", "-v"], &["-Xptxas=-v"]] {
            assert_eq!(parsed(texts).list, [Verbose], "{texts:?}");
        }
        assert_eq!(parsed(&["-Xptxas", "-v,-dlcm=cg"]).list, [Verbose, Own("--ptxas-options=-dlcm=cg".into())]);
        assert_eq!(parsed(&["-m64", "--extended-lambda"]).list, [Own("--extended-lambda".into())]);
    }

    #[test]
    fn compiler_options_accept_one_architecture_and_reject_several() {
        assert_eq!(parsed(&["-arch=sm_86"]).architecture.as_deref(), Some("sm_86"));
        assert_eq!(parsed(&["-arch", "compute_80", "-code", "sm_86"]).architecture.as_deref(), Some("sm_86"));
        assert_eq!(parsed(&["-code=sm_86", "-arch=compute_80"]).architecture.as_deref(), Some("sm_86"));
        assert_eq!(parsed(&["-gencode", "arch=compute_80,code=sm_80"]).architecture.as_deref(), Some("sm_80"));
        assert_eq!(parsed(&["-arch=native"]).architecture, None);
        assert!(refusal(&["-code=sm_80,sm_90"]).contains("one architecture"));
        assert!(refusal(&["-arch=volta"]).contains("'volta'"));
    }

    #[test]
    fn host_and_linker_options_are_skipped_with_note_and_others_rejected() {
        for (texts, part) in [
            (&["-Xcompiler=-Wall"][..], "the host's compiler"),
            (&["-Xcompiler", "-fPIC"], "the host's compiler"),
            (&["--compiler-options=-fPIC"], "the host's compiler"),
            (&["-ccbin", "g++"], "no host code"),
            (&["-lcurand"], "nothing is linked"),
            (&["-L", "/usr/lib"], "nothing is linked"),
            (&["-shared"], "nothing is linked"),
        ] {
            let options = parsed(&[texts, &["-lineinfo"]].concat());
            assert_eq!(options.list, [LineInfo], "{texts:?}");
            assert!(options.notes.len() == 1 && options.notes[0].contains(part), "{options:?}");
        }
        for (text, part) in [("--ptx", "chooses the form"), ("-m32", "64-bit")] {
            let refusal = refusal(&[text]);
            assert!(refusal.contains(text) && refusal.contains(part), "{refusal}");
        }
        let texts = ["-Xcompiler".to_owned(), "-fPIC".to_owned()];
        assert_eq!(parse(&texts, false).unwrap().list, [Own("-Xcompiler".into()), Own("-fPIC".into())]);
    }

    #[test]
    fn device_runtime_of_relocatable_code_is_accepted_without_note() {
        for texts in [&["-lcudadevrt"][..], &["-l", "cudadevrt"], &["--library=cudadevrt"], &["--library", "cudadevrt"]]
        {
            assert_eq!(parsed(texts).notes.len(), 1, "{texts:?}");
            assert_eq!(parsed(&[texts, &["-rdc=false"]].concat()).notes.len(), 1, "{texts:?}");
            assert!(parsed(&[texts, &["-rdc=true"]].concat()).notes.is_empty(), "{texts:?}");
            assert!(parsed(&[&["-dc"], texts].concat()).notes.is_empty(), "{texts:?}");
        }
        assert_eq!(parsed(&["-rdc=true", "-lcurand"]).notes.len(), 1);
    }

    #[test]
    fn option_value_of_wrong_kind_is_rejected_with_expected_kind() {
        assert!(refusal(&["--maxrregcount=many"]).contains("a number of registers, not 'many'"));
        assert!(refusal(&["-O9"]).contains("from 0 to 3"));
        assert!(refusal(&["-fmad=perhaps"]).contains("true or false"));
    }
}
