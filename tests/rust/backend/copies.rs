//! Tests that copies and fills have the same results on a GPU backend as on the CPU backend, for all driver calls that
//! the GPU backend uses.

use pygpu::backend::*;
use pygpu::error::Error;

const S: StreamHandle = StreamHandle::DEFAULT;

/// Copy direction of uploads in these tests. `promised` requires that the stream of the copy does not capture; no
/// stream in these tests captures.
pub const UP: Direction = Direction::HostToDevice(unsafe { HostUse::promised() });
pub const DOWN: Direction = Direction::DeviceToHost(unsafe { HostUse::promised() });

/// Distances in bytes from one row to the next, and from one plane to the next.
type Pitches = (usize, usize);

/// Allocates device memory that contains `values`, and returns its address.
fn place(backend: &dyn Backend, values: &[u8]) -> Address {
    let address = backend.allocate(0, values.len()).unwrap();
    let source = values.as_ptr() as usize;
    unsafe { backend.copy(0, UP, address, source, values.len(), S).unwrap() };
    address
}

/// Copies `bytes` bytes of device memory to the host, and frees the memory.
fn fetch(backend: &dyn Backend, address: Address, bytes: usize) -> Vec<u8> {
    let mut values = vec![0; bytes];
    let target = values.as_mut_ptr() as usize;
    unsafe {
        backend.copy(0, DOWN, target, address, bytes, S).unwrap();
        backend.free(0, address, bytes).unwrap();
    }
    values
}

/// Copies a box of bytes from a source with the values 0, 1, 2 and so on to a zeroed target, and returns the target.
fn copied(backend: &dyn Backend, direction: Direction, to: Pitches, from: Pitches, extent: Extent) -> Vec<u8> {
    let source: Vec<u8> = (0..=255).cycle().take(4096).collect();
    let mut target = vec![0; 4096];
    let (device_source, device_target) = (place(backend, &source), place(backend, &target));
    let (host_source, host_target) = (source.as_ptr() as usize, target.as_mut_ptr() as usize);
    let (first_source, first_target) = match direction {
        UP => (host_source, device_target),
        DOWN => (device_source, host_target),
        Direction::DeviceToDevice => (device_source, device_target),
    };
    let to = Pitched { address: first_target + 7, row_pitch: to.0, plane_pitch: to.1 };
    let from = Pitched { address: first_source + 3, row_pitch: from.0, plane_pitch: from.1 };
    unsafe { backend.copy_pitched(0, direction, to, from, extent, S).unwrap() };
    assert_eq!(fetch(backend, device_source, 4096), source);
    let on_device = fetch(backend, device_target, 4096);
    if direction == DOWN { target } else { on_device }
}

/// Tests that copies of boxes have equal results on `gpu` and on the CPU backend. The cases are all shapes for which a
/// backend uses different driver calls, in all directions.
pub fn boxes(gpu: &dyn Backend) {
    let cpu = by_name("cpu").unwrap();
    // Test pitches below and above 64 bytes, the largest pitch that the fake driver supports.
    let cases: [(Pitches, Pitches, (usize, usize, usize)); 9] = [
        ((8, 40), (8, 40), (8, 5, 3)),
        ((16, 96), (24, 120), (8, 5, 3)),
        ((16, 100), (24, 130), (8, 5, 3)),
        ((65, 325), (24, 120), (8, 5, 3)),
        ((16, 80), (24, 120), (8, 5, 3)),
        ((8, 64), (8, 40), (8, 5, 3)),
        ((3, 32), (5, 16), (8, 1, 3)),
        ((16, 0), (9, 0), (8, 5, 1)),
        ((16, 0), (9, 0), (8, 0, 1)),
    ];
    for (to, from, (width, height, depth)) in cases {
        let extent = Extent { width, height, depth };
        for direction in [UP, DOWN, Direction::DeviceToDevice] {
            let (found, expected) =
                (copied(gpu, direction, to, from, extent), copied(cpu, direction, to, from, extent));
            assert!(found == expected, "{to:?} {from:?} {extent:?} {direction:?}");
        }
    }
    let (source, target) = (place(gpu, &[1, 2, 3]), place(gpu, &[0; 3]));
    unsafe { gpu.copy_peer(1, target, 0, source, 3, S).unwrap() };
    assert_eq!((fetch(gpu, target, 3), fetch(gpu, source, 3)), (vec![1, 2, 3], vec![1, 2, 3]));
    let huge = Pitched { address: 8, row_pitch: usize::MAX / 2, plane_pitch: 0 };
    let extent = Extent { width: 8, height: 9, depth: 1 };
    let refused = unsafe { gpu.copy_pitched(0, Direction::DeviceToDevice, huge, huge, extent, S) };
    assert!(matches!(refused, Err(Error::Value(_))));
}

pub fn fills(gpu: &dyn Backend) {
    let cpu = by_name("cpu").unwrap();
    for pattern in [Pattern::U8(3), Pattern::U16(0x0102), Pattern::U32(0x0102_0304), Pattern::U32(0)] {
        for (pitch, count, height) in [(32, 4, 5), (16, 4, 5), (128, 4, 5), (0, 7, 1), (16, 0, 5), (16, 4, 0)] {
            let [found, expected] = [gpu, cpu].map(|backend| {
                let target = place(backend, &[0xaa; 2048]);
                unsafe { backend.fill(0, target, pitch, pattern, count, height, S).unwrap() };
                fetch(backend, target, 2048)
            });
            assert!(found == expected, "{pattern:?} {pitch} {count} {height}");
        }
    }
    let refused = unsafe { gpu.fill(0, 8, usize::MAX / 2, Pattern::U8(1), 1, 9, S) };
    assert!(matches!(refused, Err(Error::Value(_))));
}
