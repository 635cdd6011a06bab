//! Implements CUDA contexts: only primary contexts exist, and each thread has a stack of contexts.

use std::cell::RefCell;

use simulated_core::Outcome;
use simulated_core::error_codes::{DEINITIALIZED, INVALID_CONTEXT, INVALID_VALUE};
use simulated_core::stream::PRIORITIES;

use crate::entry::{Out, export};

thread_local! {
    static STACK: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

fn with_stack<T>(change: impl FnOnce(&mut Vec<u64>) -> T) -> Outcome<T> {
    STACK.try_with(|stack| change(&mut stack.borrow_mut())).map_err(|_| DEINITIALIZED)
}

/// Returns the context on top of the stack.
pub fn top() -> Outcome<u64> {
    with_stack(|stack| stack.last().copied())?.ok_or(INVALID_CONTEXT)
}

export! {
    fn cuDevicePrimaryCtxRetain(on, context: Out<u64>, device: i32) {
        context.check()?;
        context.put(on.driver.retain(device)?)
    }

    fn cuDevicePrimaryCtxRelease_v2(on, device: i32) {
        on.driver.release(device)
    }

    fn cuDevicePrimaryCtxReset_v2(on, device: i32) {
        on.driver.reset(device)
    }

    fn cuDevicePrimaryCtxGetState(on, device: i32, flags: Out<u32>, active: Out<i32>) {
        let is_active = on.driver.is_active(device)?;
        flags.put_if_wanted(0);
        active.put_if_wanted(i32::from(is_active));
        Ok(())
    }

    fn cuCtxCreate_v2(on, context: Out<u64>, _flags: u32, device: i32) {
        context.check()?;
        let made = on.driver.create_context(device)?;
        with_stack(|stack| stack.push(made))?;
        context.put(made)
    }

    fn cuCtxDestroy_v2(on, context: u64) {
        on.driver.destroy_context(context)?;
        with_stack(|stack| stack.pop_if(|top| *top == context))?;
        Ok(())
    }

    fn cuCtxGetCurrent(_on, context: Out<u64>) {
        context.put(top().unwrap_or(0))
    }

    fn cuCtxSetCurrent(on, context: u64) {
        if context != 0 {
            on.driver.device_of_context(context)?;
        }
        with_stack(|stack| {
            stack.pop();
            stack.extend((context != 0).then_some(context));
        })
    }

    fn cuCtxPushCurrent_v2(on, context: u64) {
        on.driver.device_of_context(context)?;
        with_stack(|stack| stack.push(context))
    }

    fn cuCtxPopCurrent_v2(_on, context: Out<u64>) {
        let popped = with_stack(Vec::pop)?.ok_or(INVALID_CONTEXT)?;
        context.put_if_wanted(popped);
        Ok(())
    }

    fn cuCtxGetDevice(on, device: Out<i32>) {
        device.put(on.driver.device_of_context(top()?)? as i32)
    }

    fn cuCtxSynchronize(on) {
        on.driver.synchronize_device(on.device()?)
    }

    fn cuCtxGetStreamPriorityRange(on, least: Out<i32>, greatest: Out<i32>) {
        on.device()?;
        least.put_if_wanted(PRIORITIES.0);
        greatest.put_if_wanted(PRIORITIES.1);
        Ok(())
    }

    fn cuCtxEnablePeerAccess(on, peer: u64, flags: u32) {
        let device = on.device()?;
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        on.driver.enable_peer(device, on.driver.device_of_context(peer)?)
    }

    fn cuCtxDisablePeerAccess(on, peer: u64) {
        let device = on.device()?;
        on.driver.disable_peer(device, on.driver.device_of_context(peer)?)
    }

    fn cuCtxRecordEvent(on, context: u64, event: u64) {
        let device = on.driver.usable(context)?;
        on.driver.record_event_of_device(on.name, device, event)
    }
}
