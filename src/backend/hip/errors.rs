//! The runtime's words for its refusals.

use super::driver::Hip;
use super::sys::{
    Api, hipErrorAssert, hipErrorECCNotCorrectable, hipErrorIllegalAddress, hipErrorLaunchFailure,
    hipErrorLaunchTimeOut,
};
use crate::vendor::{VendorErrors, spoken};

impl VendorErrors for Hip {
    const STICKY: &'static [u32] = &[
        hipErrorECCNotCorrectable,
        hipErrorIllegalAddress,
        hipErrorLaunchTimeOut,
        hipErrorAssert,
        hipErrorLaunchFailure,
    ];
    const STICKY_ADVICE: &'static str = "only a new process can use the device again";

    fn name(api: &Api, code: u32) -> String {
        // SAFETY: takes any number; the runtime gives a C string, which is copied before its next call.
        unsafe { spoken((api.hipGetErrorName)(code)) }
    }

    /// Old runtimes only repeat the name.
    fn text(api: &Api, code: u32) -> String {
        // SAFETY: as above.
        unsafe { spoken((api.hipGetErrorString)(code)) }
    }

    /// Another library of the thread that asks for the last error, as is usual after launching a kernel, would take it for its own.
    fn forget_last_error(api: &Api) {
        // SAFETY: has no preconditions. What it returns is known.
        unsafe { (api.hipGetLastError)() };
    }
}
