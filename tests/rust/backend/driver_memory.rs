//! Tests the driver calls of a GPU backend for pitched, managed and shared memory, and shared events.

use std::ffi::c_void;

use pygpu::backend::{Advice, Attachment, Backend, EventFlags, Residence, StreamHandle};

pub fn kinds(gpu: &dyn Backend) {
    let memory = gpu.driver_memory().unwrap();
    let (rows, pitch) = memory.allocate_pitched(1, 100, 3, 8).unwrap();
    assert_eq!(pitch, 512);
    unsafe { gpu.free(1, rows, 3 * pitch).unwrap() };
    assert_eq!(memory.allocate_pitched(1, 100, 3, 5).unwrap_err().code(), Some(1));
    assert_eq!(memory.allocate_pitched(1, 1 << 41, 3, 4).unwrap_err().code(), Some(2));

    let managed = memory.allocate_managed(0, 100, Attachment::Host).unwrap();
    for attachment in [Attachment::Global, Attachment::Host, Attachment::Single] {
        unsafe { memory.attach_managed(0, managed, attachment, StreamHandle::DEFAULT).unwrap() };
    }
    for place in [Residence::Host, Residence::Device(0), Residence::Device(1)] {
        unsafe { memory.prefetch_managed(0, managed, 100, place, StreamHandle::DEFAULT).unwrap() };
        memory.advise_managed(0, managed, 100, Advice::UnsetAccessedBy, place).unwrap();
    }
    assert_eq!(memory.advise_managed(0, 64, 100, Advice::SetReadMostly, Residence::Host).unwrap_err().code(), Some(1));
    let nowhere = unsafe { memory.prefetch_managed(0, managed, 100, Residence::Device(9), StreamHandle::DEFAULT) };
    assert_eq!(nowhere.unwrap_err().code(), Some(101));
    assert_eq!(memory.allocate_managed(0, 1 << 41, Attachment::Global).unwrap_err().code(), Some(2));
    assert_eq!(memory.address_range(0, managed).unwrap(), (managed & !63, 4096));
    assert!(memory.address_range(0, 64).is_err());

    let handle = memory.share_memory(0, managed).unwrap();
    assert_eq!(memory.open_shared_memory(1, &handle).unwrap(), managed);
    unsafe { memory.close_shared_memory(1, managed).unwrap() };
    assert!(memory.share_memory(0, 64).is_err());
    assert!(memory.open_shared_memory(0, &[0; 64]).is_err());
    unsafe { gpu.free(0, managed, 100).unwrap() };

    assert_eq!(memory.device_address(0, 4096).unwrap(), 4096);
    assert_eq!(memory.device_address(0, 0).unwrap_err().code(), Some(1));
    assert_eq!(gpu.current_device().unwrap(), 0);
}

extern "C" fn note(data: *mut c_void) {
    unsafe { *data.cast::<u32>() += 1 };
}

/// Tests that a host function receives its argument. If `is_old` is set, the driver lacks the call that enqueues host
/// functions, and the result must be an error.
pub fn host_calls(gpu: &dyn Backend, is_old: bool) {
    let mut calls = 0_u32;
    let data = (&raw mut calls).cast();
    let called = unsafe { gpu.call_host(0, StreamHandle(0x1000), note, data) };
    let refused = unsafe { gpu.call_host(0, StreamHandle::DEFAULT, note, data) };
    if is_old {
        assert!(called.unwrap_err().to_string().contains("too old"));
        assert_eq!(calls, 0);
    } else {
        called.unwrap();
        assert_eq!(refused.unwrap_err().code(), Some(400));
        assert_eq!(calls, 1);
    }
}

pub fn events(gpu: &dyn Backend) {
    let memory = gpu.driver_memory().unwrap();
    let event = gpu.create_event(0, EventFlags { timing: false, blocking_sync: false, interprocess: true }).unwrap();
    let handle = unsafe { memory.share_event(0, event).unwrap() };
    assert_eq!(memory.open_shared_event(0, &handle).unwrap(), event);
    assert_eq!(memory.open_shared_event(0, &[0; 64]).unwrap_err().code(), Some(1));
    unsafe { gpu.destroy_event(0, event).unwrap() };
}
