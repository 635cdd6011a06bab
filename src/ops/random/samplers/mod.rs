//! Defines samplers: functions that compute one element of a distribution from the random words that belong to it.
//!
//! The host runs these functions. GPUs run their translation to CUDA, which `tools/random_kernels.py` writes. Both use
//! only operations that are exact or rounded once, so that every decision is the same on each backend.

mod reproducible_operations;

use super::stream_position::KEYS;
pub(super) use plain::inversion::{Row, Table, exponential_rows, normal_rows};
pub(super) use reproducible_operations::Words;
use reproducible_operations::{First, Shared};

/// CUDA source of the operations and elementary functions. Each part uses only the parts before it.
pub(super) const ELEMENTARY: [&str; 3] = [
    include_str!("reproducible_operations.cu"),
    include_str!("elementary_functions.cu"),
    include_str!("standard_distributions.cu"),
];
/// CUDA source of the samplers, which follows `ELEMENTARY`.
pub(super) const SAMPLERS: [&str; 3] =
    [include_str!("continuous.cu"), include_str!("discrete.cu"), include_str!("first_word_samplers.cu")];

/// Passes each sampler to a macro: the variant, the function with its parameters, and the type of the result.
macro_rules! with_samplers {
    ($macro:ident) => {
        $macro! {
            Beta = beta(0, 1): f64;
            Binomial = binomial(0, 1): i64;
            BoundedInteger = bounded(0, 1): i64;
            ChiSquare = chisquare(0): f64;
            Exponential = exponential(): f64;
            F = f(0, 1): f64;
            Gamma = gamma(0, 1): f64;
            Geometric = geometric(0): i64;
            Gumbel = gumbel(0, 1): f64;
            Hypergeometric = hypergeometric(0, 1, 2): i64;
            Laplace = laplace(0, 1): f64;
            Logistic = logistic(0, 1): f64;
            LogNormal = lognormal(0, 1): f64;
            LogSeries = logseries(0): i64;
            NegativeBinomial = negative_binomial(0, 1): i64;
            NoncentralChiSquare = noncentral_chisquare(0, 1): f64;
            NoncentralF = noncentral_f(0, 1, 2): f64;
            Pareto = pareto(0): f64;
            Poisson = poisson(0): i64;
            Power = power_distribution(0): f64;
            Rayleigh = rayleigh(0): f64;
            StandardCauchy = standard_cauchy(): f64;
            StandardGamma = standard_gamma(0): f64;
            StandardT = standard_t(0): f64;
            Triangular = triangular(0, 1, 2): f64;
            VonMises = vonmises(0, 1): f64;
            Wald = wald(0, 1): f64;
            Weibull = weibull(0): f64;
            Zipf = zipf(0): i64;
        }
    };
}

macro_rules! enumeration {
    ($($variant:ident = $function:ident($($index:literal),*): $result:ident;)*) => {
        /// Distributions whose elements are computed one by one, from up to three parameters.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Sampler {
            $(#[doc = concat!("`", stringify!($function), "`.")] $variant,)*
        }

        impl Sampler {
            #[cfg(test)]
            const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the sampler whose function has the given name.
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $(stringify!($function) => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Returns the name of the sampler's function.
            pub(super) const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($function),)*
                }
            }

            /// Returns the call of the sampler's function in CUDA.
            pub(super) const fn call(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!(
                        "pygpu_random::", stringify!($function), "(words", $(", parameters[", $index, "]",)* ")"
                    ),)*
                }
            }

            /// Whether the function draws so often that its kernel calls shared functions, instead of inlining their
            /// code at each draw.
            pub(super) const fn is_long(self) -> bool {
                use Sampler::*;
                !matches!(
                    self,
                    Exponential | Geometric | Gumbel | Laplace | LogNormal | Logistic | Pareto | Power | Rayleigh
                        | StandardCauchy | Triangular | Weibull
                )
            }

            /// Whether the kernel calls the functions that draw random words, too, instead of inlining them.
            const fn calls_draws(self) -> bool {
                matches!(self, Self::NoncentralChiSquare | Self::NoncentralF)
            }

            /// Returns the first random words of an element.
            fn first(self) -> First {
                match self {
                    Self::Binomial | Self::Poisson => First::Half,
                    Self::ChiSquare | Self::Gamma | Self::StandardGamma => First::Normal,
                    _ => First::Own,
                }
            }

            /// Whether the elements are integers.
            pub(super) const fn is_whole(self) -> bool {
                match self {
                    $(Self::$variant => matches!(stringify!($result).as_bytes(), b"i64"),)*
                }
            }
        }
    };
}

with_samplers!(enumeration);

/// CUDA code for those elements of a distribution, i.e. most of them, that are computed from their first random words
/// alone.
#[derive(Clone, Copy, Default)]
struct Quick {
    /// C++ type of the constants, and the expression that computes them from the distribution's parameters `of`.
    constants: [&'static str; 2],
    /// The element, computed from the constants `prepared`, the normal number `x` and the words `first`. It is below 0
    /// if further words are needed.
    element: &'static str,
}

impl Sampler {
    /// Returns the CUDA definitions of this sampler, which its kernel requires.
    pub(super) fn definitions(self, has_arrays: bool) -> String {
        let Quick { constants: [kind, value], element } = self.quick();
        let (first, stored) = (self.first() as u8, if self.is_whole() { "whole" } else { "" });
        format!(
            "#define PYGPU_IS_LONG {}\n#define PYGPU_CALLS_DRAWS {}\n#define PYGPU_DRAW {}\n\
             #define PYGPU_HAS_ARRAYS {}\n#define PYGPU_FIRST {first}\n\
             #define PYGPU_PREPARED_TYPE {kind}\n#define PYGPU_PREPARE(of) {value}\n\
             #define PYGPU_QUICK(prepared, of, x, first) {element}\n\
             #define PYGPU_STORED(element) (pygpu_out){stored}(element)\n",
            u8::from(self.is_long()),
            u8::from(self.calls_draws()),
            self.call(),
            u8::from(has_arrays),
        )
    }

    fn quick(self) -> Quick {
        let (constants, element) = match self {
            Self::Binomial => {
                (["Hat", "binomial_hat(of[0], of[1])"], "quick_binomial(prepared, of[0], of[1], first[1], first[2])")
            }
            Self::Poisson => (["Hat", "poisson_hat(of[0])"], "quick_count(prepared, first[1], first[2])"),
            Self::ChiSquare => {
                (["Cube", "gamma_cube(0.5 * of[0])"], "quick_gamma(prepared, 0.5 * of[0], 2.0, x, first[2])")
            }
            Self::Gamma => (["Cube", "gamma_cube(of[0])"], "quick_gamma(prepared, of[0], of[1], x, first[2])"),
            Self::StandardGamma => (["Cube", "gamma_cube(of[0])"], "quick_gamma(prepared, of[0], 1.0, x, first[2])"),
            _ => return Quick::default(),
        };
        Quick { constants, element }
    }
}

/// Parameters of one sampler: single values, or arrays with one value per element.
pub(super) struct Sampling<'a> {
    pub(super) sampler: Sampler,
    pub(super) keys: &'a [u64; KEYS],
    pub(super) counter: [u64; 4],
    pub(super) number: u64,
    pub(super) values: [f64; 3],
    pub(super) arrays: [Option<&'a [f64]>; 3],
}

impl Sampling<'_> {
    /// Returns the random words and the parameters of element `index`.
    #[inline]
    fn element(&self, index: usize, shared: &mut Shared) -> (Words<'_>, [f64; 3]) {
        let number = self.number + index as u64;
        let words = Words::of_element(self.counter, number, self.keys, self.sampler.first(), shared);
        let parameter = |i: usize| match self.arrays[i] {
            Some(array) => array.get(index).copied().unwrap_or(f64::NAN),
            None => self.values[i],
        };
        (words, [parameter(0), parameter(1), parameter(2)])
    }
}

/// The bits of an element, which is a double or an integer.
trait Bits {
    fn into_bits(self) -> u64;
}

impl Bits for f64 {
    #[inline]
    fn into_bits(self) -> u64 {
        self.to_bits()
    }
}

impl Bits for i64 {
    #[inline]
    fn into_bits(self) -> u64 {
        self as u64
    }
}

macro_rules! entry_points {
    ($($variant:ident = $function:ident($($index:literal),*): $result:ident;)*) => {
        functions! {
            /// Computes the bits of the elements from index `first` on.
            pub(super) fn sample(task: &Sampling<'_>, first: usize, bits: &mut [u64]) {
                let mut shared = None;
                for (i, bits) in bits.iter_mut().enumerate() {
                    let (mut words, parameters) = task.element(first + i, &mut shared);
                    let (words, _) = (&mut words, &parameters);
                    *bits = match task.sampler {
                        $(Sampler::$variant => $function(words, $(parameters[$index]),*).into_bits(),)*
                    };
                }
            }

            /// Converts each pair of uniform numbers into two normal numbers with a mean and a standard deviation.
            pub(super) fn normals(numbers: &[u64], [mean, deviation]: [f64; 2], elements: &mut [f64]) {
                for (to, from) in elements.chunks_exact_mut(2).zip(numbers.chunks_exact(2)) {
                    let (length, angle) = (deviation * radius(from[0]), turn(from[1]));
                    to[0] = length.mul_add(angle.cosine, mean);
                    to[1] = length.mul_add(angle.sine, mean);
                }
            }

            /// Converts halves of random numbers into normal numbers with a mean.
            pub(super) fn normals32(halves: &[u32], mean: f32, table: &Table<'_>, elements: &mut [f32]) {
                for (to, half) in elements.iter_mut().zip(halves) {
                    let number = *half as i32 as f32;
                    let interval = interval_of(number);
                    let [c0, c1, c2, c3] = table.row(interval, 0);
                    *to = negated_if(polynomial(number, interval, c0, c1, c2, c3), number);
                    if mean != 0.0 {
                        *to += mean;
                    }
                }
            }

            /// Converts random numbers into exponentially distributed numbers with a scale.
            pub(super) fn exponentials(numbers: &[u64], scale: f64, elements: &mut [f64]) {
                for (to, from) in elements.iter_mut().zip(numbers) {
                    *to = scale * waiting_time(*from);
                }
            }

            /// Converts halves of random numbers into exponentially distributed numbers.
            pub(super) fn exponentials32(halves: &[u32], table: &Table<'_>, elements: &mut [f32]) {
                for (to, half) in elements.iter_mut().zip(halves) {
                    let number = *half as i32 as f32;
                    let interval = interval_of(number);
                    let [c0, c1, c2, c3] = table.row(interval, *half >> 31);
                    *to = polynomial(number, interval, c0, c1, c2, c3);
                }
            }
        }
    };
}

/// Compiles the functions of a file for any processor.
macro_rules! functions {
    ($($function:item)*) => { $($function)* };
}

#[path = "."]
#[allow(clippy::needless_return, clippy::neg_cmp_op_on_partial_ord, clippy::assign_op_pattern, reason = "also CUDA")]
#[allow(clippy::excessive_precision, clippy::nonminimal_bool, clippy::approx_constant, reason = "also CUDA")]
#[allow(clippy::manual_range_contains, reason = "also CUDA")]
mod plain {
    use super::{Bits, Sampler, Sampling, Table, reproducible_operations};
    use continuous::*;
    use discrete::*;
    use elementary_functions::*;
    use standard_distributions::*;

    mod continuous;
    mod discrete;
    mod elementary_functions;
    #[allow(dead_code, reason = "kernels call these functions")]
    mod first_word_samplers;
    pub(in super::super) mod inversion;
    mod standard_distributions;

    with_samplers!(entry_points);
}

/// Compiles the functions of a file for processors with fused multiply-add. On other processors fused multiply-add is a
/// function call.
#[cfg(target_arch = "x86_64")]
macro_rules! functions {
    ($($function:item)*) => { $(#[target_feature(enable = "fma")] $function)* };
}

#[path = "."]
#[cfg(target_arch = "x86_64")]
#[allow(clippy::needless_return, clippy::neg_cmp_op_on_partial_ord, clippy::assign_op_pattern, reason = "also CUDA")]
#[allow(clippy::excessive_precision, clippy::nonminimal_bool, clippy::approx_constant, reason = "also CUDA")]
#[allow(clippy::manual_range_contains, reason = "also CUDA")]
#[allow(clippy::duplicate_mod, reason = "the same functions, for another processor")]
mod fused {
    use super::{Bits, Sampler, Sampling, Table, reproducible_operations};
    use continuous::*;
    use discrete::*;
    use elementary_functions::*;
    use standard_distributions::*;

    mod continuous;
    mod discrete;
    mod elementary_functions;
    #[allow(dead_code, reason = "kernels call these functions")]
    mod first_word_samplers;
    mod standard_distributions;

    with_samplers!(entry_points);
}

macro_rules! dispatched {
    ($(fn $name:ident($($parameter:ident: $of:ty),*);)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` for this processor.")]
            pub(super) fn $name($($parameter: $of),*) {
                #[cfg(target_arch = "x86_64")]
                if std::arch::is_x86_feature_detected!("fma") {
                    // SAFETY: the function requires a processor with FMA, which the condition above has detected.
                    return unsafe { fused::$name($($parameter),*) };
                }
                plain::$name($($parameter),*)
            }
        )*
    };
}

dispatched! {
    fn sample(task: &Sampling<'_>, first: usize, bits: &mut [u64]);
    fn normals(numbers: &[u64], scale: [f64; 2], elements: &mut [f64]);
    fn normals32(halves: &[u32], mean: f32, table: &Table<'_>, elements: &mut [f32]);
    fn exponentials(numbers: &[u64], scale: f64, elements: &mut [f64]);
    fn exponentials32(halves: &[u32], table: &Table<'_>, elements: &mut [f32]);
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    #![allow(missing_docs)]
    use super::super::stream_position::keys;
    use super::*;

    #[test]
    fn samplers_have_the_same_bits_with_and_without_fma() {
        if !std::arch::is_x86_feature_detected!("fma") {
            return;
        }
        let keys = keys([36, 63]);
        for values in [[0.3, 0.4, 0.0], [9.0, 0.7, 4.0], [60.0, 0.25, 50.0], [3000.0, 900.0, 1200.0]] {
            for &sampler in Sampler::ALL {
                let counter = [u64::MAX - 9, 5, 0, 1];
                let task = Sampling { sampler, keys: &keys, counter, number: 3, values, arrays: [None; 3] };
                let (mut one, mut other) = ([0; 300], [0; 300]);
                plain::sample(&task, 7, &mut one);
                // SAFETY: the function requires a processor with FMA, which the condition above has detected.
                unsafe { fused::sample(&task, 7, &mut other) };
                assert_eq!(one, other, "{sampler:?} {values:?}");
            }
        }
    }
}
