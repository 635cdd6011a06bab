//! Converts between streams and the stream numbers of DLPack and of the CUDA array interface.
//!
//! DLPack: the argument `stream` of `__dlpack__`, by which the consumer identifies its stream:
//!
//! | value  | CUDA               | ROCm           | host        |
//! |--------|--------------------|----------------|-------------|
//! | absent | legacy default     | legacy default | nothing     |
//! | -1     | nothing            | nothing        | nothing     |
//! | 0      | legacy default     | default        | nothing     |
//! | 1      | legacy default     | error          | error       |
//! | 2      | per-thread default | error          | error       |
//! | > 2    | a handle           | a handle       | error       |
//!
//! CUDA array interface: the entry `stream`, by which the producer identifies its stream. If the entry is absent, no
//! synchronization is needed. 0 is forbidden, 1 is the legacy default stream, 2 is the per-thread default stream, and
//! any other value is a handle. On ROCm no stream is exported, because the values 1 and 2 crash HIP's runtime.

use pygpu_backend::{BackendKind, StreamHandle};
use pygpu_base::error::{Error, Result};
use pygpu_device::Device;
use pygpu_device::stream::Stream;

/// The handle of the per-thread default stream in CUDA and HIP.
const PER_THREAD: StreamHandle = StreamHandle(2);

/// Returns the stream on which a DLPack consumer uses the data; `None` if the consumer requests no synchronization.
///
/// # Errors
/// `ValueError` for a number that DLPack does not allow for the device: see the table at the top of this file.
pub fn of_dlpack_consumer(kind: BackendKind, value: Option<i64>) -> Result<Option<StreamHandle>> {
    match (kind, value) {
        // 0 is accepted because `default_stream()` returns it as the handle of the CPU backend.
        (BackendKind::Cpu, None | Some(0)) | (_, Some(-1)) => Ok(None),
        (BackendKind::Cpu, Some(value)) => {
            Err(Error::value(format!("__dlpack__: stream={value} for host memory, which has no streams: give None")))
        }
        // DLPack does not define 0 for CUDA, because it could mean either default stream. The legacy default stream is
        // correct in both cases, because the per-thread default stream synchronizes with it.
        (_, None) | (BackendKind::Cuda, Some(0 | 1)) | (BackendKind::Hip, Some(0)) => Ok(Some(StreamHandle::DEFAULT)),
        (BackendKind::Cuda, Some(2)) => Ok(Some(PER_THREAD)),
        (_, Some(value @ 3..)) => Ok(Some(StreamHandle(value as usize))),
        (BackendKind::Hip, Some(value @ (1 | 2))) => Err(Error::value(format!(
            "__dlpack__: stream={value} means nothing on ROCm: give 0 for the default stream, or a handle"
        ))),
        (_, Some(value)) => Err(Error::value(format!(
            "__dlpack__: stream={value} names no stream: give None, -1 (do not wait) or a stream's number"
        ))),
    }
}

/// Returns the `stream` argument for a DLPack producer whose data will be used on `stream`, and the stream on which the
/// data is then ready.
///
/// If `stream` belongs to another library, it may be destroyed before the data is used the next time. For the
/// per-thread stream, ROCm has no number. In both cases the function returns the number of the default stream for the
/// producer, and the default stream itself. A use of the data on `stream` then waits for the default stream by an
/// event.
pub fn as_dlpack_consumer(stream: &Stream) -> (Option<i64>, Stream) {
    let device = stream.device();
    let handle = stream.handle();
    match device.kind() {
        BackendKind::Cpu => (None, stream.clone()),
        BackendKind::Cuda if handle == StreamHandle::DEFAULT || stream.is_foreign() => {
            (Some(1), Stream::default_of(device))
        }
        BackendKind::Hip if handle.0 <= PER_THREAD.0 || stream.is_foreign() => (Some(0), Stream::default_of(device)),
        BackendKind::Cuda | BackendKind::Hip => (Some(handle.0 as i64), stream.clone()),
    }
}

/// Returns the stream after whose work the data of a CUDA array interface is ready; `None` if no synchronization is
/// requested.
///
/// # Errors
/// `ValueError` for 0, which the protocol forbids, and for negative numbers.
pub fn of_cai_producer(value: Option<i64>) -> Result<Option<StreamHandle>> {
    match value {
        None => Ok(None),
        Some(1) => Ok(Some(StreamHandle::DEFAULT)),
        Some(value @ 2..) => Ok(Some(StreamHandle(value as usize))),
        Some(0) => Err(Error::value(
            "__cuda_array_interface__: stream 0 is forbidden as ambiguous; a producer gives 1 for the legacy default \
             stream or 2 for the per-thread one",
        )),
        Some(value) => Err(Error::value(format!("__cuda_array_interface__: stream {value} names no stream"))),
    }
}

/// Returns the value of a CUDA array interface's `stream` entry for a PyGPU stream; `None` if the interface cannot
/// express the stream.
pub fn as_cai_producer(kind: BackendKind, handle: StreamHandle) -> Option<usize> {
    match kind {
        BackendKind::Cuda if handle == StreamHandle::DEFAULT => Some(1),
        BackendKind::Cuda => Some(handle.0),
        BackendKind::Cpu | BackendKind::Hip => None,
    }
}

/// Returns the stream of a handle that another library passed. The returned stream may be used only until the call that
/// received the handle returns.
pub fn borrowed(device: Device, handle: StreamHandle) -> Stream {
    Stream::foreign(device, handle, None)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use BackendKind::{Cpu, Cuda, Hip};

    #[test]
    fn dlpack_stream_number_is_interpreted_by_vendor_rules() {
        let nobody = Some(None);
        let stream = |handle| Some(Some(StreamHandle(handle)));
        let table = [
            (None, stream(0), stream(0), nobody),
            (Some(-1), nobody, nobody, nobody),
            (Some(0), stream(0), stream(0), nobody),
            (Some(1), stream(0), None, None),
            (Some(2), stream(2), None, None),
            (Some(3), stream(3), stream(3), None),
            (Some(0x7f00_dead_beef), stream(0x7f00_dead_beef), stream(0x7f00_dead_beef), None),
            (Some(-2), None, None, None),
            (Some(i64::MIN), None, None, None),
        ];
        for (value, cuda, hip, cpu) in table {
            for (kind, expected) in [(Cuda, cuda), (Hip, hip), (Cpu, cpu)] {
                assert_eq!(of_dlpack_consumer(kind, value).ok(), expected, "{kind:?} {value:?}");
            }
        }
    }

    #[test]
    fn cai_stream_number_0_is_neither_accepted_nor_exported() {
        assert_eq!(of_cai_producer(None).unwrap(), None);
        assert_eq!(of_cai_producer(Some(1)).unwrap(), Some(StreamHandle::DEFAULT));
        assert_eq!(of_cai_producer(Some(2)).unwrap(), Some(StreamHandle(2)));
        assert_eq!(of_cai_producer(Some(77)).unwrap(), Some(StreamHandle(77)));
        assert!(matches!(of_cai_producer(Some(0)), Err(Error::Value(_))));
        assert!(matches!(of_cai_producer(Some(-1)), Err(Error::Value(_))));
        assert_eq!(as_cai_producer(Cuda, StreamHandle::DEFAULT), Some(1));
        assert_eq!(as_cai_producer(Cuda, StreamHandle(77)), Some(77));
        assert_eq!(as_cai_producer(Hip, StreamHandle(77)), None);
        assert_eq!(as_cai_producer(Cpu, StreamHandle::DEFAULT), None);
    }

    #[test]
    fn dlpack_consumer_on_host_requests_no_stream() {
        let stream = Stream::default_of(Device::cpu().unwrap());
        let (value, ready) = as_dlpack_consumer(&stream);
        assert_eq!(value, None);
        assert!(ready == stream);
    }
}
