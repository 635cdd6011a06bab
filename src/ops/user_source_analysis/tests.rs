#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
use super::*;
use pygpu_base::dtype::{DType, ScalarType};

fn vectors(names: &str) -> Vec<Argument> {
    let of = |name: &str| Argument {
        name: name.to_owned(),
        c_type: "float".to_owned(),
        dtype: DType::new(ScalarType::Float32),
        role: ArgumentRole::Vector { constant: false },
    };
    names.split(' ').map(of).collect()
}

fn of(names: &str, operation: &str) -> Analysis {
    Analysis::of(&vectors(names), &Texts { operation: operation.to_owned(), ..Texts::default() })
}

fn written(names: &str, operation: &str) -> Vec<WrittenNames> {
    of(names, operation).usages.iter().flatten().map(|usage| usage.written).collect()
}

#[test]
fn assignment_counts_as_write_and_comparison_does_not() {
    use WrittenNames::{Maybe, No, Yes};
    assert_eq!(written("z x y", "z[i] = 2 * x[i] + y[i]"), [Yes, No, No]);
    assert_eq!(written("z x", "z[i] = x[i] == 3 && x[i] != 1 && x[i] <= 2 && x[i] >= 4"), [Yes, No]);
    assert_eq!(written("z x y", "z[i] += 1; x[i]++; --y[i]"), [Yes, Yes, Maybe]);
    assert_eq!(written("z x", "z[i].x = x[i].y; z[i] <<= 2"), [Yes, No]);
    assert_eq!(written("z x y", "z[i] = f(&x[i], a & y[i])"), [Yes, Maybe, No]);
    assert_eq!(written("z x y", "z[i] = (a) && y[i]; atomicAdd(x + i, 1)"), [Yes, Maybe, No]);
    assert_eq!(written("z x", "float &r = x[i]; r = 1; q.z = 3; z[i] = 1"), [Yes, Maybe]);
    assert_eq!(written("z x", "z[i] = x[i].real() + x[i].imag()"), [Yes, No]);
    assert_eq!(written("z x", "z[i] = x[i].next()"), [Yes, Maybe]);
}

#[test]
fn argument_of_function_with_reference_parameter_may_be_written() {
    let with = |preamble: &str| {
        let texts = Texts { operation: "z[i] = f(x[i])".into(), preamble: preamble.into(), ..Texts::default() };
        Analysis::of(&vectors("z x"), &texts).usages[1].unwrap().written
    };
    assert_eq!(with("__device__ float f(float x) { return x; }"), WrittenNames::No);
    assert_eq!(with("__device__ float f(const float &x) { return x; }"), WrittenNames::No);
    assert_eq!(with("__device__ float f(float &x) { return x++; }"), WrittenNames::Maybe);
    assert_eq!(with("#define f(x) (x = 1)"), WrittenNames::Maybe);
    assert_eq!(with("#include <pycuda-complex.hpp>"), WrittenNames::No);
    assert_eq!(with("#include <mine.h>"), WrittenNames::Maybe);
}

#[test]
fn any_order_is_allowed_if_source_accesses_element_i_alone() {
    for (operation, any_order, in_packs) in [
        ("z[i] = x[i]", true, true),
        ("z[i] = i", false, true),
        ("z[i] = x[i - 1]", false, true),
        ("z[i] = x[0] + x[i]", false, false),
        ("z[i] = x[i] - x[i - 1]", false, false),
        ("z[i] = f(x, i)", false, true),
        ("for (int i = 0; i < 3; i++) z[i] = 1", false, false),
        ("z[i] = x[i] + tid", false, false),
        ("if (x[i] > 0) return; z[i] = 1", true, false),
        ("if (x[i] > 0) continue; z[i] = 1", true, true),
    ] {
        let found = of("z x", operation);
        assert_eq!((found.any_order, found.in_packs), (any_order, in_packs), "{operation}");
    }
}

#[test]
fn array_is_overwritten_if_each_element_is_assigned_first() {
    for (operation, expected) in [
        ("z[i] = x[i]", true),
        ("float t = x[i]; z[i] = t; if (t > 0) z[i] += 1", true),
        ("z[i] = z[i] + 1", false),
        ("z[i] += 1", false),
        ("if (x[i] > 0) z[i] = 1", false),
        ("if (x[i] > 0) { z[i] = 1; }", false),
        ("if (x[i] > 0) continue; z[i] = 1", false),
        ("if (x[i] > 0) { } else z[i] = 1", false),
        ("float t = z[i]; z[i] = t", false),
    ] {
        assert_eq!(of("z x", operation).usages[0].unwrap().overwritten, expected, "{operation}");
    }
}
