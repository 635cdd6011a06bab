#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
// For all calls of this file: every handle belongs to a module that stays loaded, and every pointer points to a live
// vector.
#![allow(clippy::undocumented_unsafe_blocks)]
//! Compiles and runs kernels, and compares their output with values that the tests state explicitly. A compilation
//! takes half a second, so one source contains many kernels.

mod failures;
mod features;
mod limits;
mod loops;

use std::ffi::{CString, c_void};

use super::*;
use crate::{Backend, CompileOption, CompileRequest, Compiled};
use pygpu_base::error::DriverError;

fn cpu() -> &'static dyn DeviceCode {
    crate::by_name("cpu").map(Backend::device_code).unwrap().unwrap()
}

fn try_compile(source: &str, options: &[CompileOption], expressions: &[&str]) -> Result<Compiled> {
    let expressions: Vec<String> = expressions.iter().map(|&text| text.to_owned()).collect();
    let request =
        CompileRequest { source, name: "kernel.cu", architecture: "x86_64", options, expressions: &expressions };
    cpu().compiler(&[])?.compile(&request)
}

/// Holds a compiled and loaded source, which is never unloaded.
struct Loaded(ModuleHandle);

impl Loaded {
    fn of(source: &str) -> Self {
        Self::with(source, &[], &[])
    }

    fn with(source: &str, options: &[CompileOption], expressions: &[&str]) -> Self {
        let compiled = try_compile(source, options, expressions).unwrap_or_else(|error| panic!("{error}"));
        Self(cpu().load(0, &compiled.image, &LoadOptions::default()).unwrap().module)
    }

    fn function(&self, name: &str) -> FunctionHandle {
        // SAFETY: the module is loaded.
        unsafe { cpu().function(0, self.0, &CString::new(name).unwrap()).unwrap() }
    }

    fn try_run(&self, name: &str, shape: LaunchShape, arguments: &mut [*mut c_void]) -> Result<()> {
        // SAFETY: each test passes the parameters that its kernel declares, and the launch is complete when it
        // returns.
        unsafe { cpu().launch(0, self.function(name), &shape, StreamHandle::DEFAULT, arguments.as_mut_ptr()) }
    }

    /// Launches a kernel with a pointer to `values` as its only parameter.
    fn run<T>(&self, name: &str, grid: impl Into<Dim>, block: impl Into<Dim>, values: &mut [T]) {
        self.try_run(name, shape(grid, block), &mut [argument(&mut values.as_mut_ptr())]).unwrap();
    }

    fn refused<T>(&self, name: &str, block: u32, values: &mut [T]) -> DriverError {
        match self.try_run(name, shape(1, block), &mut [argument(&mut values.as_mut_ptr())]) {
            Err(Error::Driver(error)) => *error,
            other => panic!("{name}: {other:?}"),
        }
    }
}

struct Dim([u32; 3]);

impl From<u32> for Dim {
    fn from(x: u32) -> Self {
        Self([x, 1, 1])
    }
}

impl From<[u32; 3]> for Dim {
    fn from(xyz: [u32; 3]) -> Self {
        Self(xyz)
    }
}

fn shape(grid: impl Into<Dim>, block: impl Into<Dim>) -> LaunchShape {
    LaunchShape { grid: grid.into().0, block: block.into().0, shared: 0, cooperative: false }
}

/// Returns the address of a parameter. Callers take the address within the expression that launches the kernel, because
/// the temporary value of a parameter is dropped with its statement.
fn argument<T>(value: &mut T) -> *mut c_void {
    std::ptr::from_mut(value).cast()
}
