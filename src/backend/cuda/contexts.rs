//! What the driver keeps with a primary context.

use std::ffi::c_uint;

use super::context::Current;
use super::driver::Cuda;
use super::sys::{CUfunc_cache, CUlimit};
use crate::backend::{ContextLimit, Contexts};
use crate::error::{Error, Result};

fn number(limit: ContextLimit) -> CUlimit {
    match limit {
        ContextLimit::Stack => CUlimit::CU_LIMIT_STACK_SIZE,
        ContextLimit::PrintfBuffer => CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE,
        ContextLimit::MallocHeap => CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE,
        ContextLimit::SynchronizationDepth => CUlimit::CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH,
        ContextLimit::PendingLaunches => CUlimit::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT,
    }
}

fn preference_of(number: i32) -> Result<CUfunc_cache> {
    Ok(match number {
        0 => CUfunc_cache::CU_FUNC_CACHE_PREFER_NONE,
        1 => CUfunc_cache::CU_FUNC_CACHE_PREFER_SHARED,
        2 => CUfunc_cache::CU_FUNC_CACHE_PREFER_L1,
        3 => CUfunc_cache::CU_FUNC_CACHE_PREFER_EQUAL,
        other => return Err(Error::value(format!("{other} is no preference of a cache: 0 to 3 are"))),
    })
}

/// A function that the list of the driver's has as optional.
fn there<F>(function: Option<F>, operation: &str) -> Result<F> {
    function.ok_or_else(|| Error::not_supported(format!("{operation}: the driver does not have this function")))
}

impl Contexts for Cuda {
    fn handle(&self, device: i32) -> Result<usize> {
        Ok(self.context_of(device, "cuDevicePrimaryCtxRetain")?.expose_provenance())
    }

    fn version(&self, device: i32) -> Result<u32> {
        let operation = "cuCtxGetApiVersion";
        let ask = there(self.api.cuCtxGetApiVersion, operation)?;
        let mut version: c_uint = 0;
        // SAFETY: a retained primary context; the target is writable.
        self.call(device, operation, |on| unsafe { ask(on.context, &mut version) }, String::new)?;
        Ok(version)
    }

    fn limit(&self, device: i32, limit: ContextLimit) -> Result<usize> {
        let operation = "cuCtxGetLimit";
        let ask = there(self.api.cuCtxGetLimit, operation)?;
        let mut value = 0;
        // SAFETY: the target is writable.
        self.call(device, operation, |_| unsafe { ask(&mut value, number(limit)) }, || format!("{limit:?}"))?;
        Ok(value)
    }

    fn set_limit(&self, device: i32, limit: ContextLimit, value: usize) -> Result<()> {
        let operation = "cuCtxSetLimit";
        let set = there(self.api.cuCtxSetLimit, operation)?;
        let detail = || format!("{limit:?} to {value}");
        // SAFETY: no address is passed.
        self.call(device, operation, |_| unsafe { set(number(limit), value) }, detail)
    }

    fn cache_preference(&self, device: i32) -> Result<i32> {
        let operation = "cuCtxGetCacheConfig";
        let ask = there(self.api.cuCtxGetCacheConfig, operation)?;
        let mut preference: i32 = 0;
        // As a plain number: a value that the enum does not have would be undefined behaviour.
        let target = (&raw mut preference).cast::<CUfunc_cache>();
        // SAFETY: the target is writable, and as large as an enum of C.
        self.call(device, operation, |_| unsafe { ask(target) }, String::new)?;
        Ok(preference)
    }

    fn set_cache_preference(&self, device: i32, preference: i32) -> Result<()> {
        let operation = "cuCtxSetCacheConfig";
        let set = there(self.api.cuCtxSetCacheConfig, operation)?;
        let wanted = preference_of(preference)?;
        // SAFETY: no address is passed.
        self.call(device, operation, |_| unsafe { set(wanted) }, || preference.to_string())
    }

    fn disable_peer_access(&self, device: i32, peer: i32) -> Result<()> {
        let operation = "cuCtxDisablePeerAccess";
        let disable = there(self.api.cuCtxDisablePeerAccess, operation)?;
        let other = self.context_of(peer, operation)?;
        let detail = || format!("device {device}, peer {peer}");
        // SAFETY: a retained primary context.
        self.call(device, operation, |_: &Current<'_>| unsafe { disable(other) }, detail)
    }

    fn profile(&self, device: i32, on: bool) -> Result<()> {
        let (operation, function) = match on {
            true => ("cuProfilerStart", self.api.cuProfilerStart),
            false => ("cuProfilerStop", self.api.cuProfilerStop),
        };
        let call = there(function, operation)?;
        // SAFETY: has no preconditions beyond a current context.
        self.call(device, operation, |_| unsafe { call() }, String::new)
    }
}
