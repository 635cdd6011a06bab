//! Returns the runtime's names and explanations of error codes.

use super::driver::Hip;
use super::sys::{
    Api, hipErrorAssert, hipErrorECCNotCorrectable, hipErrorIllegalAddress, hipErrorLaunchFailure,
    hipErrorLaunchTimeOut,
};
use crate::cuda_and_hip::{VendorErrors, spoken};

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
        // SAFETY: the runtime accepts any number and returns a C string, which is copied before its next call.
        unsafe { spoken((api.hipGetErrorName)(code)) }
    }

    /// Returns the runtime's explanation of an error code. Old runtimes return only the code's name.
    fn text(api: &Api, code: u32) -> String {
        // SAFETY: the runtime accepts any number and returns a C string, which is copied before its next call.
        unsafe { spoken((api.hipGetErrorString)(code)) }
    }

    /// Clears the error that the runtime stores as the thread's last error. Otherwise another library could report this
    /// error as its own, because many libraries check the last error after a kernel launch.
    fn forget_last_error(api: &Api) {
        // SAFETY: the call has no preconditions. It returns the code of the failed call, which the caller already has.
        unsafe { (api.hipGetLastError)() };
    }
}
