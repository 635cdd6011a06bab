//! Contains macros that declare methods of `GPUArray` and module functions in a few lines each.
//!
//! A parameter list is written once, with its documentation, for all functions that share it. The declaration of a
//! function adds its name, summary, examples and implementation. The resulting `__doc__` is the same as if each
//! function were defined without macros.

/// Defines one method of `GPUArray` (first word `method`) or one module function (first word `function`).
///
/// The defined function calls the Rust function `run` with the constant arguments `first` of the declaration, then the
/// array, then `options`, an expression that is computed from the values of the declared parameters.
macro_rules! entry {
    (method $name:ident {$($documentation:tt)*} ($($signature:tt)*) [$($text:tt)*] ($($parameter:ident: $type:ty),*)
     $result:ty, $run:path, [$($first:expr),*], $options:expr) => {
        #[pymethods]
        impl GpuArray {
            $($documentation)*
            #[pyo3(signature = ($($signature)*) $($text)*)]
            #[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
            fn $name<'py>(slf: &Bound<'py, Self>, $($parameter: $type),*) -> PyResult<$result> {
                $run($($first,)* slf, $options)
            }
        }
    };
    (function $name:ident {$($documentation:tt)*} ($($signature:tt)*) [$($text:tt)*] ($($parameter:ident: $type:ty),*)
     $result:ty, $run:path, [$($first:expr),*], $options:expr) => {
        $($documentation)*
        #[pyfunction]
        #[pyo3(signature = (a: "GPUArray", $($signature)*) $($text)*)]
        #[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
        fn $name<'py>(a: ArrayArg<'py>, $($parameter: $type),*) -> PyResult<$result> {
            $run($($first,)* &a, $options)
        }
    };
}
pub(super) use entry;
