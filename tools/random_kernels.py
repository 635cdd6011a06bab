"""Translate the samplers of random numbers from Rust to CUDA; with ``--check`` only compare.

The CPU backend runs the functions in `src/ops/random/samplers`, and GPUs run their translation to CUDA, so that both
make the same decisions. The functions use a subset of Rust: typed variables, `if`, `while`, `loop`, `return`, and the
operations in `reproducible_operations.rs`, which `reproducible_operations.cu` defines for GPUs.
"""

from __future__ import annotations

import re
import struct
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "src/ops/random/samplers"
SOURCES = (
    "elementary_functions.rs",
    "standard_distributions.rs",
    "continuous.rs",
    "discrete.rs",
    "first_word_samplers.rs",
)

TYPES = {
    "f64": "double",
    "f32": "float",
    "i64": "i64",
    "u64": "u64",
    "i32": "int",
    "u32": "unsigned",
    "bool": "bool",
    "Pair": "Pair",
    "Hat": "Hat",
    "Cube": "Cube",
    "&mut Words": "Words &",
}
SUFFIXES = {"f32": "f", "i64": "ll", "u64": "ull", "i32": "", "u32": "u"}

SHARED = ("ln", "ln_of_normal", "exponential_function", "ln_gamma", "normal", "standard_gamma", "poisson")
"""Functions that long samplers call; the compiler must not inline them at several points."""

NUMBER = re.compile(r"\b([0-9](?:[0-9a-fx_.]|(?<=e)-)*?)(?:_([fiu]\d\d))?(?![\w.])")
DOUBLE = re.compile(r"(?<![\w.])\d[\d_]*(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
SIGNATURE = re.compile(r"(?:pub\(super\) )?fn (\w+)\(([^)]*)\) -> (\w+) \{")


def head(match: re.Match[str]) -> str:
    """Return the head of a function, without its opening brace."""
    name, parameters, result = match.groups()
    types = [parameter.split(": ", 1) for parameter in re.split(r",\s*", parameters.strip().rstrip(",")) if parameter]
    listed = ", ".join(f"{TYPES[kind.strip()]} {name.strip()}" for name, kind in types)
    shared = "PYGPU_SHARED_DRAW" if "Words" in parameters else "PYGPU_SHARED"
    kind = shared if name in SHARED else "PYGPU_FUNCTION"
    return f"{kind} {TYPES[result]} {name}({listed})"


def with_table(text: str, name: str) -> tuple[str, list[str]]:
    """Replace the numbers in a CUDA text by elements of a table; return the text and the table's source.

    GPUs read an operand from constant memory in the instruction itself. A floating-point number in the text needs two
    further instructions, unless the lower half of its bits is 0.
    """
    numbers: dict[str, None] = {}

    def element(match: re.Match[str]) -> str:
        if not re.search("[.e]", match[0]) or not struct.unpack("<I", struct.pack("<d", float(match[0]))[:4])[0]:
            return match[0]
        numbers[match[0]] = None
        return f"{name}[{list(numbers).index(match[0])}]"

    text = DOUBLE.sub(element, text)
    return text, [
        f"static __constant__ double {name}[] = {{",
        *(f"    {number}," for number in numbers),
        "};",
    ] if numbers else []


def translated(text: str) -> tuple[list[str], str]:
    """Return the heads of the functions of a file, and their translation."""
    text = re.sub(r"^\s*//.*\n", "", text, flags=re.M)
    text = re.sub(r"^(?:use .*;|functions! \{|\})\n", "", text, flags=re.M)
    text = re.sub(r"^    ", "", text, flags=re.M)
    text = NUMBER.sub(lambda match: match[1].replace("_", "") + SUFFIXES.get(match[2], ""), text)
    text = re.sub(r"^const (\w+): f32 = (.*);", r"constexpr float \1 = \2f;", text, flags=re.M)
    for name, number in re.findall(r"^const (\w+): f64 = (.*);", text, flags=re.M):
        text = re.sub(rf"\b{name}\b", number, text)
    text = re.sub(r"^const .*: f64 = .*;\n", "", text, flags=re.M)
    text = re.sub(r"\b(signed|unsigned)\(", r"\1_(", text)
    text = re.sub(r"\b(?:super::)?\w+::(?=\w+\()", "", text)
    heads = [head(match) for match in SIGNATURE.finditer(text)]
    text = SIGNATURE.sub(lambda match: head(match) + " {", text)
    text = re.sub(r"\blet mut (\w+): (\w+) =", lambda m: f"{TYPES[m[2]]} {m[1]} =", text)
    text = re.sub(r"\blet (\w+): (\w+) =", lambda m: f"const {TYPES[m[2]]} {m[1]} =", text)
    text = re.sub(r"\b(if|while) ([^{;]*?) \{", r"\1 (\2) {", text)
    text = re.sub(r"\bloop \{", "for (;;) {", text)
    return heads, text.strip()


def translation(name: str) -> str:
    """Return the translation of a file."""
    heads, text = translated((FOLDER / name).read_text())
    text, table = with_table(text, f"numbers_of_{Path(name).stem}")
    first = f"// Written by tools/random_kernels.py from {name}."
    return "\n".join([first, "namespace pygpu_random {", *(f"{line};" for line in heads), *table, text, "}"]) + "\n"


def main() -> int:
    """Write the translations, or report those that are outdated."""
    outdated = [name for name in SOURCES if not current(name)]
    if "--check" not in sys.argv[1:]:
        for name in outdated:
            target(name).write_text(translation(name))
        return 0
    for name in outdated:
        print(f"{target(name)} is outdated: run python tools/random_kernels.py")
    return int(bool(outdated))


def target(name: str) -> Path:
    """Return the path of the translation of a file."""
    return (FOLDER / name).with_suffix(".cu")


def current(name: str) -> bool:
    """Return whether the file on disk equals the translation of its source."""
    return target(name).exists() and target(name).read_text() == translation(name)


if __name__ == "__main__":
    sys.exit(main())
