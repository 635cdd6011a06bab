//! Macros that declare methods of `GPUArray` and module functions in short entries.
//!
//! A parameter list is written once, with its documentation, for all functions that share it. Each entry adds a name, a
//! summary, examples and the implementation. The text of `__doc__` is the same as with separate definitions.

/// Defines one method (`method`) or function (`function`) of an array.
///
/// The expansion calls `run` with the leading arguments of the entry, the array, and the options. The parameter list of
/// the entry builds the options from its values.
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
