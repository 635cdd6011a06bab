"""Write src/ops/include/xsf/ and its list of headers from a copy of SciPy's C++ headers xsf.

    python tools/trim_xsf.py FOLDER && cargo fmt --all

FOLDER contains ``include/xsf``. Only the functions of `ROOTS`, and functions and tables that they use, remain. Run-time
compilers have no standard headers; therefore C's functions replace those of ``std``. The code that reports errors is
removed. All names are in one namespace, and functions of the device replace those in `NATIVE`. Copyright lines remain.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from division_calls import with_calls

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "src/ops/include/xsf"
LIST = ROOT / "src/ops/ufunc/special/xsf.rs"

SOURCES = {
    "basic": (
        "mathematics.h cephes/const.h cephes/polevl.h cephes/chbevl.h cephes/sindg.h cephes/tandg.h boxcox.h "
        "cephes/trig.h evalpoly.h"
    ),
    "normal": "cephes/ndtri.h ndtri_exp.h faddeeva.h",
    "gamma": (
        "cephes/gamma.h cephes/rgamma.h cephes/zeta.h cephes/zetac.h cephes/psi.h digamma.h cephes/poch.h "
        "cephes/unity.h cephes/lanczos.h cephes/igam_asymp_coeff.h cephes/igam.h cephes/igami.h"
    ),
    "beta": "cephes/beta.h binom.h cephes/incbet.h cephes/incbi.h",
    "bessel": (
        "cephes/i0.h cephes/i1.h cephes/k0.h cephes/k1.h cephes/j0.h cephes/j1.h cephes/jv.h "
        "cephes/scipy_iv.h cephes/airy.h cephes/yn.h cephes/yv.h cephes/kn.h"
    ),
    "integrals": (
        "cephes/ellpk.h cephes/ellpe.h agm.h expint.h cephes/expn.h cephes/sici.h cephes/shichi.h cephes/spence.h "
        "specfun/specfun.h cephes/ellik.h cephes/ellie.h cephes/ellpj.h wright_bessel.h"
    ),
    "distributions": (
        "cephes/chdtr.h cephes/fdtr.h cephes/gdtr.h cephes/pdtr.h cephes/bdtr.h cephes/nbdtr.h cephes/kolmogorov.h"
    ),
}
"""The files of each folder, in the order in which symbols of the same name are looked up."""

ROOTS = (
    "ndtri ndtri_exp w_im rgamma zeta riemann_zeta digamma poch log1pmx cosm1 lgam1p igam igamc igami igamci "
    "beta lbeta binom incbet incbi sindg cosdg radian tandg cotdg boxcox boxcox1p inv_boxcox inv_boxcox1p "
    "i0e i1e k0 k0e k1 k1e j0 j1 y0 y1 ellpk ellpe agm exp1 expi expn "
    "sici shichi spence chdtr chdtrc chdtri fdtr fdtrc fdtri gdtr gdtrc pdtr pdtrc gammasgn kolmogorov jv yv "
    "iv ikv_temme bdtr bdtrc bdtri nbdtr nbdtrc nbdtri pdtri yn zetac lpmv ellik ellie "
    "ellpj wright_bessel_t"
)
"""Functions that the entries of PyGPU's table of special functions call."""

NATIVE = {"Gamma": "tgamma", "lgam": "lgamma", "erf": "erf", "erfc": "erfc", "expm1": "expm1", "log1p": "log1p",
          "cbrt": "cbrt", "exp2": "exp2", "exp10": "exp10", "round": "rint", "ndtr": "normcdf",
          "i0": "cyl_bessel_i0", "i1": "cyl_bessel_i1"}  # fmt: skip
"""Functions of cephes, each with the function of CUDA, HIP and the CPU engine that replaces it."""

OWN = {
    "lgam_sgn": """inline double lgam_sgn(double x, int *sign) {
    *sign = x < 0 && ::floor(x) != 2 * ::floor(0.5 * ::floor(x)) ? -1 : 1;
    return call_lgamma(x);
}""",
    "lbeta": """inline double lbeta(double a, double b) {
    if (a <= 0 && a == ::floor(a)) return a == (int)a ? lbeta_negint((int)a, b) : INFINITY;
    if (b <= 0 && b == ::floor(b)) return b == (int)b ? lbeta_negint((int)b, a) : INFINITY;
    double large = ::fabs(a) < ::fabs(b) ? b : a, small = ::fabs(a) < ::fabs(b) ? a : b, sum = a + b;
    int sign;
    if (large > beta_ASYMP_FACTOR && large > beta_ASYMP_FACTOR * ::fabs(small)) return lbeta_asymp(large, small, &sign);
    if (large > 40 && small > 0) return lbeta_large(large, small);
    if (::fabs(sum) > MAXGAM || ::fabs(large) > MAXGAM) {
        return lgam_sgn(small, &sign) - lgam_sgn(sum, &sign) + lgam_sgn(large, &sign);
    }
    return call_log(::fabs(beta(a, b)));
}""",
    "lgam1p_taylor": """inline double lgam1p_taylor(double x) {
    double power = -x, sum = -SCIPY_EULER * x;
    for (int n = 2; n < 42; n++) {
        power *= -x;
        sum += zeta_over_order[n - 2] * power;
    }
    return sum;
}""",
    "j0": """inline double j0(double x) {
    double p, q, sine, cosine;
    x = ::fabs(x);
    if (x <= 5.0) return j0_near(x);
    j0_far(x, &p, &q, &sine, &cosine);
    return (p + q) * cosine + (p - q) * sine;
}""",
    "y0": """inline double y0(double x) {
    double p, q, sine, cosine;
    if (!(x > 0)) return x == 0 ? -INFINITY : NAN;
    if (x <= 5.0) return polevl(x * x, j0_YP, 7) / p1evl(x * x, j0_YQ, 7) + M_2_PI * ::log(x) * j0_near(x);
    j0_far(x, &p, &q, &sine, &cosine);
    return (q - p) * cosine + (p + q) * sine;
}""",
    "j1": """inline double j1(double x) {
    double p, q, sine, cosine, size = ::fabs(x);
    if (size <= 5.0) return j1_near(x);
    j1_far(size, &p, &q, &sine, &cosine);
    return ::copysign(1.0, x) * ((q - p) * cosine + (p + q) * sine);
}""",
    "y1": """inline double y1(double x) {
    double p, q, sine, cosine;
    if (!(x > 0)) return x == 0 ? -INFINITY : NAN;
    if (x <= 5.0) {
        return x * (polevl(x * x, j1_YP, 5) / p1evl(x * x, j1_YQ, 8)) + M_2_PI * (j1_near(x) * ::log(x) - 1.0 / x);
    }
    j1_far(x, &p, &q, &sine, &cosine);
    return (q - p) * sine - (p + q) * cosine;
}""",
}
"""Functions of xsf that are replaced by a shorter text."""

BETA = """XSF_HOST_DEVICE inline double lbeta_large(double a, double b) {
    // Subtracts two Stirling series, because the difference of the logarithms would cancel.
    double p = 1 / (a * a), sum = a + b, q = 1 / (sum * sum);
    double series_a = (-5.952380952380952e-4 * p + 7.936507936507937e-4) * p - 2.777777777777778e-3;
    double series_b = (-5.952380952380952e-4 * q + 7.936507936507937e-4) * q - 2.777777777777778e-3;
    return call_lgamma(b) - b * call_log(a) - (sum - 0.5) * call_log1p(b / a) + b +
           (series_a * p + 0.08333333333333333) / a - (series_b * q + 0.08333333333333333) / sum;
}
"""

INVERSE_OF_GAMMA = """XSF_HOST_DEVICE inline double inverse_of_gamma(double x) {
    return x <= 0 && x == ::floor(x) ? 0.0 : 1 / call_tgamma(x);
}
"""

NEAR = {
    "0": """XSF_HOST_DEVICE inline double j0_near(double x) {
    double z = x * x;
    return x < 1.0e-5 ? 1.0 - z / 4.0 : (z - j0_DR1) * (z - j0_DR2) * polevl(z, j0_RP, 3) / p1evl(z, j0_RQ, 8);
}
""",
    "1": """XSF_HOST_DEVICE inline double j1_near(double x) {
    double z = x * x;
    return polevl(z, j1_RP, 3) / p1evl(z, j1_RQ, 8) * x * (z - j1_Z1) * (z - j1_Z2);
}
""",
}
"""Bessel functions of the first kind for arguments of at most 5, by order."""

FAR = """XSF_HOST_DEVICE inline void jN_far(double x, double *p, double *q, double *sine, double *cosine) {
    // One division computes both quotients, and one argument reduction serves both phases.
    double w = 5.0 / x, z = w * w, scale = SQRT1OPI / ::sqrt(x);
    double below_p = polevl(z, jN_PQ, 6), below_q = p1evl(z, jN_QQ, 7);
    scale /= below_p * below_q;
    *p = polevl(z, jN_PP, 6) * below_q * scale;
    *q = polevl(z, jN_QP, 7) * below_p * scale * w;
    ::sincos(x, sine, cosine);
}
"""
"""The factors of the phases in Hankel's asymptotic form of Bessel functions, for arguments above 5."""

NEAR_ONE = """    if (bb < 0.5 && aa * w <= 1.0 && xx > 0.95) {
        t = 1.0 - incbet_pseries(bb, aa, w);
        if (t > 1e-4)
            return t;
    }
"""
"""The incomplete beta function near 1, where the continued fraction converges slowly."""

MULTIPLY_ADD = """// A product and a sum, rounded once on GPUs; kernels are compiled without automatic contraction.
namespace pygpu_xsf {
template <class T> __device__ inline T multiply_add(T x, T y, T z) {
#ifdef PYGPU_CPU_FUNCTION  // On a CPU fma may be a slow call.
    return x * y + z;
#else
    return fma(x, y, z);
#endif
}
}
"""
"""The text of multiply_add.h."""

CONTRACTED = (
    (r"(\w+) = \1 \* x \+ \*p\+\+;", r"\1 = multiply_add(\1, x, *p++);"),
    (r"b0 = x \* b1 - b2 \+ \*p\+\+;", "b0 = multiply_add(x, b1, *p++ - b2);"),
    (r"(\w+_ans) = \1 \* y \+ \*p;", r"\1 = multiply_add(\1, y, *p);"),
    (r"sum = sum \* t \+ (w_im_polynomials\[k\]\[place\]);", r"sum = multiply_add(sum, t, \1);"),
)
"""Steps of polynomials and series, each with the equivalent call of a multiply-add, which rounds once."""

CALLED = ("pow", "exp", "log", "lgamma", "tgamma", "log1p", "expm1", "erfc", "sin", "cos", "sinh", "cosh")
"""Functions of C that long functions call, so that their instructions are compiled once."""

CALLED_IN_HEAVY = (*CALLED, "sqrt")
"""The same for long functions in the headers `HEAVY`."""

LIGHT = ("cephes/ndtri.h", "cephes/j0.h", "cephes/j1.h", "cephes/i0.h", "cephes/i1.h")
"""Headers whose functions are inlined, because they are often used and fast."""

HEAVY = (
    "digamma.h", "agm.h", "wright_bessel.h", "specfun/specfun.h", "cephes/jv.h", "cephes/yv.h", "cephes/yn.h",
    "cephes/airy.h", "cephes/scipy_iv.h", "cephes/igam.h", "cephes/igami.h", "cephes/unity.h", "cephes/psi.h",
    "cephes/shichi.h", "cephes/sici.h", "cephes/ellik.h", "cephes/ellie.h", "cephes/expn.h", "cephes/zetac.h",
    "cephes/poch.h", "cephes/bdtr.h",
)  # fmt: skip
"""Headers that take longest to compile. Their loops are not unrolled, and their long functions call `call_divide`."""

LONG = 600
"""Functions of at least this length are not inlined into their callers."""

CALLED_OFTEN = ("igam_series", "igamc_series", "lgam1p", "lgam1p_taylor", "log1pmx")
"""Shorter functions that several functions call and that are not inlined either."""

DIVISION = """// Divisions in long functions. On a GPU a division has 30 instructions; a call compiles them once.
namespace pygpu_xsf {
static __device__ __noinline__ double divide(double x, double y) { return x / y; }
template <class X, class Y> __device__ inline double call_divide(X x, Y y) { return divide(x, y); }
__device__ inline int call_divide(int x, int y) { return x / y; }
}
"""
"""The text of division.h, whose functions replace divisions in functions that are not inlined."""

CONSTANTS = {
    "M_2_PI": "0.63661977236758134308",
    "M_1_PI": "0.31830988618379067154",
    "infinity": "INFINITY",
    "quiet_NaN": "NAN",
    "epsilon": "DBL_EPSILON",
    "max": "DBL_MAX",
    "min": "DBL_MIN",
}
PLAIN = ("isnan", "isinf", "isfinite", "signbit", "uint64_t")
"""Names that C may define as macros; they stay unqualified."""


@dataclass
class Item:
    """Hold a definition of a header: a function, a constant or a table."""

    name: str
    text: str
    source: str
    uses: set[str] = field(default_factory=set)


def without_comments(text: str) -> str:
    """Return the text without comments."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)


def plain(text: str) -> str:
    """Return the text with C's functions in place of those of ``std``, and without namespaces and error reports."""
    text = re.sub(r"\bset_error\((?:[^()]|\([^()]*\))*\);", "", text)
    text = re.sub(r"std::numeric_limits<\w+>::(\w+)\(\)", lambda match: CONSTANTS[match[1]], text)
    text = re.sub(r"\bM_[12]_PI\b", lambda match: CONSTANTS[match[0]], text).replace("std::exp(1)", "M_E")
    text = re.sub(r"static_cast<(\w+)>\(", r"(\1)(", text)
    text = text.replace("std::abs(", "::fabs(").replace("std::fmax(0, ", "::fmax(0.0, ")
    text = re.sub(r"(std::fmin\([^;]*), (\d+)\)\)", r"\1, \2.0))", text)
    text = re.sub(r"std::clamp\((\w+), 0.0, 1.0\)", r"::fmin(::fmax(\1, 0.0), 1.0)", text)
    text = re.sub(r"std::sqrt\((?=[\w(-]*MIN_EXPABLE)", "std::sqrt(1.0 * ", text)
    text = re.sub(r"\bNULL\b", "nullptr", text)
    text = re.sub(r"XSF_ASSERT\([^;]*;", "", text)
    text = re.sub(r"std::pow\(k \+ 1\.0, 2\)", "((k + 1.0) * (k + 1.0))", text)
    # `fmod` has 300 instructions.
    text = text.replace("std::fmod(::fabs(npio2), 2.0) == 1.0", "0.5 * npio2 != std::floor(0.5 * npio2)")
    text = text.replace("std::fmod(x, 4)", "x - 4 * std::floor(0.25 * x)")
    # NVRTC has no `pow` of two integers.
    text = re.sub(r"\bpow\(-1, (\w+)\)", r"(\1 % 2 == 0 ? 1.0 : -1.0)", text)
    text = text.replace("m = 20 + (int)(80.0 / x);", "if (x > 800.0) return 0.0;\n    m = 20 + (int)(80.0 / x);")
    text = text.replace("t0 = k / (1.0 + k / (x + t0));", "t0 = k * (x + t0) / (k + x + t0);")
    for step, contracted in CONTRACTED:
        text = re.sub(step, contracted, text)
    text = re.sub(r"std::(\w+)", lambda match: match[1] if match[1] in PLAIN else f"::{match[1]}", text)
    text = re.sub(r"(?<![\w:])(?:xsf::|cephes::|detail::|Faddeeva::)+", "", text)
    for name, native in NATIVE.items():
        text = re.sub(rf"(?<![\w:]){name}\(", f"::{native}(", text)
    return text.replace("XSF_HOST_DEVICE", "__device__")


def parts(text: str) -> list[str]:
    """Return the definitions at the level of namespaces."""
    pieces, at = [], 0
    text = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    while at < len(text):
        if opened := re.compile(r"\s*namespace[\w\s:]*\{|\s*\}|\s+|\s*;").match(text, at):
            at = opened.end()
            continue
        end, depth = at, 0
        while True:
            sign = text[end]
            depth += (sign in "{(") - (sign in "})")
            end += 1
            if depth == 0 and sign == ";":
                break
            head = text[at:end]
            if depth == 0 and sign == "}" and not re.match(r"[^(){]*=|\s*(struct|class)\b", head):
                break
        pieces.append(text[at:end].strip())
        at = end
    return pieces


def zetas() -> list[float]:
    """Return the values zeta(n) / n of Riemann's zeta function for n from 2 to 41."""
    values = []
    for order in range(2, 42):
        start = Fraction(1, 1) * 30
        total = sum((Fraction(1, k**order) for k in range(1, 30)), Fraction(0))
        # The Euler-Maclaurin formula sums the terms of the series from k = 30 on.
        total += start ** (1 - order) / (order - 1) + start**-order / 2
        factor, power = Fraction(order), start ** (-order - 1)
        for index, number in enumerate((Fraction(1, 12), Fraction(-1, 720), Fraction(1, 30240), Fraction(-1, 1209600))):
            total += number * factor * power
            factor *= (order + 2 * index + 1) * (order + 2 * index + 2)
            power /= start * start
        values.append(float(total / order))
    return values


def origin(source: str, text: str) -> list[str]:
    """Return the lines that state a header's origin and licence."""
    if source == "mathematics.h":
        return ["Functions of C that are compiled once for all their callers; written by tools/trim_xsf.py."]
    return [f"From xsf/{source}, trimmed by tools/trim_xsf.py; licence: xsf/LICENSE.", *copyrights(text)]


def prepared(source: str, text: str) -> str:
    """Return a header's text in a form that `items` can parse, with PyGPU's changes to some functions."""
    text = without_comments(as_polynomials(text) if source == "faddeeva.h" else text)
    for name, number in re.findall(r"(ikv_temme_need_\w) = (0x\d)", text):
        text = f"constexpr int {name} = {number};\n" + text
    text = re.sub(r"enum \{ikv[^}]*\};|enum \{ ikv[^}]*\};", "", text)
    if source == "wright_bessel.h":  # Remove the variant of the function that computes the logarithm.
        text = re.sub(r"template <bool log_wb>|<log_wb>|\|\| \(log_wb[^)]*\)", "", text)
        text = re.sub(r"if \(!log_wb\) \{([^}]*)\} else \{[^}]*\}", r"\1", text)
        text = re.sub(r"if \(log_wb\)[^;]*;", "", text)
    if source == "cephes/expn.h":  # Replace an array of pointers to tables by one table with two axes.
        rows = [re.search(rf"expn_A{row}\[\] = (\{{.*?\}});", text, re.DOTALL)[1] for row in range(13)]  # type: ignore[index]
        text = re.sub(
            r"constexpr const double \*expn_A\[\] = .*?;",
            f"constexpr double expn_A[13][13] = {{{', '.join(rows)}}};",
            text,
            flags=re.DOTALL,
        )
        text = re.sub(r"constexpr double expn_A\d+\[\] = .*?;", "", text, flags=re.DOTALL)
    if source == "cephes/beta.h":  # Use PyGPU's `inverse_of_gamma`, which compiles in less time.
        text = text.replace("rgamma(", "inverse_of_gamma(")
        text = BETA + INVERSE_OF_GAMMA + text
        text = re.sub(
            r"(y = a \+ b;\s*)(if \(std::abs\(y\) > (?:detail::)?MAXGAM)",
            r"\1if (y > detail::MAXGAM && b > 0) return std::exp(lbeta_large(a, b));\n\2",
            text,
            count=1,
        )
    if order := re.fullmatch(r"cephes/j([01])\.h", source):
        text += NEAR[order[1]] + FAR.replace("jN", f"j{order[1]}")
        for name in (f"j{order[1]}", f"y{order[1]}"):
            text += f"XSF_HOST_DEVICE double call_{name}(double x) {{ return {name}(x); }}\n"
    if source == "cephes/fdtr.h":  # Pass `1 - w` as an exact quotient instead of a difference.
        text = text.replace("incbet(0.5 * b, 0.5 * a, w)", "incbet_of(0.5 * b, 0.5 * a, w, a * x / (b + a * x))")
        text = text.replace("w = w / (b + w);", "")
        text = text.replace("incbet(0.5 * a, 0.5 * b, w)", "incbet_of(0.5 * a, 0.5 * b, w / (b + w), b / (b + w))")
    if source == "cephes/scipy_iv.h":  # Scale I and K by opposite factors, so that neither overflows.
        text = text.replace("double *k_value)", "double *k_value, double shift = 0)", 1)
        text = text.replace("std::exp(v * eta)", "std::exp(v * eta - shift)")
        text = text.replace("std::exp(-v * eta)", "std::exp(shift - v * eta)")
    if source == "cephes/unity.h":
        text = f"constexpr double zeta_over_order[40] = {{{', '.join(map(repr, zetas()))}}};\n" + text
    if source == "cephes/incbet.h":  # Add the parameter `xxc`, which is 1 - xx, possibly more exact.
        text = text.replace(
            "double incbet(double aa, double bb, double xx)",
            "double incbet_of(double aa, double bb, double xx, double xxc)",
        )
        text = text.replace("w = 1.0 - xx;", f"w = xxc;\n{NEAR_ONE}")
        text += (
            "XSF_HOST_DEVICE inline double incbet(double a, double b, double x) { return incbet_of(a, b, x, 1.0 - x); }"
        )
    return text


def items(source: str, text: str) -> list[Item]:
    """Return the definitions of a header that compute in double precision."""
    definitions = []
    for part in parts(prepared(source, text)):
        head = part.split("{")[0].split("=")[0] if "(" not in part.split("=")[0] else part.split("{")[0]
        if part.startswith("template") and "digamma_zeta_series" in head:
            part = re.sub(r"\bT\b", "double", re.sub(r"template\s*<[^>]*>\s*", "", part))
            head = part.split("{")[0]
        is_other = part.startswith("template") or "complex" in head or re.search(r"\bfloat\b", head.split("(")[0])
        if is_other and "psi_Y" not in head:
            continue
        if "(" in head and re.search(r"\bfloat\b", head):
            continue
        name = re.search(r"(\w+)\s*(?:\(|\[|$)", head.strip())
        if name is None or (part.endswith(";") and "(" in head):  # Skip declarations.
            continue
        if name[1] in NATIVE:
            continue
        if name[1] in OWN:
            part = f"XSF_HOST_DEVICE {OWN[name[1]]}"
        definitions.append(Item(name[1], part, source))
    return definitions


def as_table(part: str, source: str) -> str:
    """Return a definition as device code: functions become device functions, tables are in constant memory."""
    is_light, is_heavy = source in LIGHT, source in HEAVY
    if "(" in part.split("{")[0].split("=")[0]:
        if not is_light and "call_" not in part.split("{")[0]:
            part = re.sub(r"::(lgamma|tgamma|pow|erfc)\(", r"call_\1(", part)
        if re.search(r" call_[jy][01]\(", part):
            return part.replace("__device__", "static __device__ __noinline__", 1)
        if source in ("cephes/jv.h", "cephes/yn.h"):
            part = re.sub(r"\b([jy][01])\(", r"call_\1(", part)
        is_long = len(part) > LONG or any(f" {name}(" in part.split("{")[0] for name in CALLED_OFTEN)
        if is_heavy or (is_long and not is_light):
            part = re.sub(r"^( *)(for|while|do) ?(?=[({])", r"#pragma unroll 1\n\1\2 ", part, flags=re.MULTILINE)
        if is_long and not is_light:
            part = re.sub(rf"::({'|'.join(CALLED_IN_HEAVY if is_heavy else CALLED)})\(", r"call_\1(", part)
            part = with_calls(part) if is_heavy else part
            return re.sub(r"^(?:__device__ )*(?:inline )?", "static __device__ __noinline__ ", part)
        return part if "inline" in part.split("{")[0] else "__device__ inline " + part.replace("__device__ ", "", 1)
    if "w_im" in part:  # Threads read different rows; constant memory would serve these reads one after another.
        return part.replace("constexpr", "__device__ const", 1)
    if "[" in part.split("=")[0]:
        return re.sub(r"(?:static )?(?:constexpr|const) (\w+)", r"__constant__ const \1", part, count=1)
    return part


def dedented(part: str) -> str:
    """Return a definition without blank lines and common indentation."""
    lines = [line.rstrip() for line in part.splitlines() if line.strip()]
    deep = [len(line) - len(line.lstrip()) for line in lines[1:]]
    last = len(lines[-1]) - len(lines[-1].lstrip()) if len(lines) > 1 else 0
    cut = min([last, *deep]) if deep else 0
    return "\n".join([lines[0], *(line[cut:] for line in lines[1:])])


def copyrights(text: str) -> list[str]:
    """Return the copyright lines of a header."""
    lines = [line.strip(" */\t") for line in text.splitlines()]
    kept_lines = [line for line in lines if re.search(r"Copyright|Translated|Original implementation|Author", line)]
    return list(dict.fromkeys(line for line in kept_lines if "information appears" not in line))


def as_polynomials(text: str) -> str:
    """Return the source of `w_im` with a table in place of a switch of 99 polynomials."""
    body = without_comments(text[text.index("double w_im_y100(double y100, double x) {") :])
    rows = []
    for case in re.finditer(r"case (\d+): \{\s*double t = 2 \* y100 - (\d+);\s*return (.*?);", body, re.DOTALL):
        assert int(case[1]) == len(rows)
        assert int(case[2]) == 2 * len(rows) + 1
        numbers = re.findall(r"-?\d+\.\d+(?:e[+-]?\d+)?", re.sub(r"([+-])\s+", r"\1", case[3]))
        rows.append(f"{{{', '.join([*numbers, *3 * ['0']][:10])}}}")
        assert len(numbers) in (7, 8, 9, 10)
        assert not re.search(r"-\s*\(", case[3])
    table = f"constexpr double w_im_polynomials[{len(rows)}][10] = {{{','.join(chr(10) + row for row in rows)}}};"
    value = """
double w_im_y100(double y100, double x) {
    if (!(y100 < 99)) {
        double x2 = x * x;
        return x * (1.1283791670955125739 -
                    x2 * (0.75225277806367504925 - x2 * (0.30090111122547001970 - x2 * 0.085971746064420005629)));
    }
    int k = (int)y100;
    double t = 2 * y100 - (2 * k + 1), sum = w_im_polynomials[k][9];
    for (int place = 8; place >= 0; place--) sum = sum * t + w_im_polynomials[k][place];
    return sum;
}
"""
    assert len(rows) == 99
    end = text.index("double w_im(double x) {")
    return table + value + text[end : text.index("\n}", end) + 3]


def main(folder: Path) -> None:
    """Write the headers and their list."""
    plain_calls = [name for name in CALLED_IN_HEAVY if name != "pow"]
    calls = [f"XSF_HOST_DEVICE double call_{name}(double x) {{ return std::{name}(x); }}" for name in plain_calls]
    calls.append("XSF_HOST_DEVICE double call_pow(double x, double y) { return std::pow(x, y); }")
    sources = [source for files in SOURCES.values() for source in files.split() if source != "mathematics.h"]
    texts = {"mathematics.h": "\n".join(calls)}
    texts |= {source: (folder / "include/xsf" / source).read_text(encoding="utf-8") for source in sources}
    home = {source: target for target, files in SOURCES.items() for source in files.split()}
    known: dict[str, Item] = {}
    order: list[Item] = []
    for source, text in texts.items():
        for item in items(source, text):
            if item.name in known:
                if known[item.name].source != source:
                    print(f"{item.name} of {source} also in {known[item.name].source}")
                else:
                    print(f"{item.name} twice in {source}")
                continue
            item.text = dedented(as_table(plain(item.text), source))
            if source == "mathematics.h":
                item.text = item.text.replace("__device__ inline", "static __device__ __noinline__")
            known[item.name] = item
            order.append(item)
    for item in order:
        calls = set(re.findall(r"(?<![:.\w])([A-Za-z_]\w*)\(", item.text))
        words = set(re.findall(r"(?<![:.\w])[A-Za-z_]\w*", item.text))
        is_function = {name: "(" in one.text.split("{")[0].split("=")[0] for name, one in known.items()}
        item.uses = {name for name in words if name in known and (name in calls or not is_function[name])} - {item.name}
    needed, todo = set(), ROOTS.split()
    while todo:
        name = todo.pop()
        if name not in known:
            print("missing", name)
            continue
        if name not in needed:
            needed.add(name)
            todo += known[name].uses
    headers: dict[str, list[Item]] = {}
    for item in order:
        if item.name in needed:
            headers.setdefault(item.source, []).append(item)
    uses = {source: sorted({known[use].source for item in members for use in item.uses if use in needed} - {source})
            for source, members in headers.items()}  # fmt: skip
    (TARGET / "basic/multiply_add.h").write_text(MULTIPLY_ADD, encoding="utf-8")
    (TARGET / "basic/division.h").write_text(DIVISION, encoding="utf-8")
    rust = [("MULTIPLY_ADD", "basic/multiply_add.h", []), ("DIVISION", "basic/division.h", [])]
    for source, members in headers.items():
        if any("multiply_add" in item.text for item in members):
            uses[source].append("multiply_add.h")
        if any("call_divide(" in item.text for item in members):
            uses[source].append("division.h")
        path = TARGET / home[source] / Path(source).name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"// {line}" for line in origin(source, texts[source])]
        lines += ["namespace pygpu_xsf {", *sorted_items(members), "}"]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        rust.append((constant(source), f"{home[source]}/{Path(source).name}", [constant(use) for use in uses[source]]))
    print(len(headers), "headers", sum(len(one.text) for members in headers.values() for one in members), "bytes")
    write_list(rust)


def constant(source: str) -> str:
    """Return the name of a header's constant."""
    return Path(source).stem.upper()


def sorted_items(members: list[Item]) -> list[str]:
    """Return the texts of definitions, each after definitions that it uses; declare functions that use each other."""
    names = {one.name: one for one in members}
    done: list[str] = []
    lines: list[str] = []
    active: set[str] = set()

    def add(item: Item) -> None:
        if item.name in done:
            return
        if item.name in active:
            head = item.text.split("{")[0].strip()
            lines.append(f"{head};")
            return
        active.add(item.name)
        for use in sorted(item.uses):
            if use in names:
                add(names[use])
        done.append(item.name)
        lines.append(item.text)

    for item in members:
        add(item)
    return lines


def write_list(rust: list[tuple[str, str, list[str]]]) -> None:
    """Write the list of headers for Rust."""
    lines = [
        "//! Contains the headers of xsf. tools/trim_xsf.py writes this file; do not edit it.",
        "",
        "use super::header::Header;",
        "",
    ]
    for name, path, used in sorted(rust):
        lines.append(f"pub static {name}: Header =")
        text = f'Header::of(include_str!("../../include/xsf/{path}"), &[{", ".join("&" + one for one in used)}]);'
        lines.append("    " + text)
    LIST.parent.mkdir(parents=True, exist_ok=True)
    LIST.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
