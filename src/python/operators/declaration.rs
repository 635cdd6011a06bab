//! Macros that declare methods of `GPUArray` and module functions in short entries.
//!
//! A parameter list is written once, with its documentation, for all functions that share it. An entry of a function
//! adds its name, summary, examples and implementation. The resulting `__doc__` is the same as if each function were
//! defined without macros.

/// Defines one method of `GPUArray` (entry form `method`) or one module function (entry form `function`).
///
/// The defined function calls the Rust function `run` with three kinds of arguments: the entry's leading arguments
/// `first`, the array, and `options`. The expression `options` is computed from the values of the entry's parameters.
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
