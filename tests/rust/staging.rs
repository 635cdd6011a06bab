//! Tests copies of pageable memory through the ring of pinned slots, on a backend that records every call. The backend
//! can simulate a busy device.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::undocumented_unsafe_blocks)]

mod recording_backend;

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, OnceLock};

use proptest::prelude::*;
use pygpu::array::Array;
use pygpu::backend::StreamFlags;
use pygpu::copy::{self, HostBuffer, ring_transfer};
use pygpu::device::Device;
use pygpu::dtype::{DType, ScalarType};
use pygpu::layout::{Index, Layout, MemoryOrder};
use pygpu::stream::Stream;
use recording_backend::{Call, DOWN, Recording, UP};

/// Size of a slot in bytes, in these tests; `LIMIT` is the limit of pinned memory in bytes.
const SLOT: usize = 64;
const LIMIT: usize = 32 * SLOT;

struct Bench {
    driver: &'static Recording,
    device: Device,
    _turn: MutexGuard<'static, ()>,
}

/// Returns the recording backend, configured so that all copies go through the ring in chunks of `SLOT` bytes with
/// `threads` threads.
fn bench(threads: usize) -> Bench {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let turn = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    static DRIVER: OnceLock<&'static Recording> = OnceLock::new();
    let driver = *DRIVER.get_or_init(Recording::new);
    let device = Device::new(driver, 0).unwrap();
    driver.lazy.store(false, Relaxed);
    driver.refuse_host.store(false, Relaxed);
    driver.failing_copy.store(0, Relaxed);
    ring_transfer::tune(1, (SLOT, SLOT), threads).unwrap();
    ring_transfer::set_limit(device, 0).unwrap();
    ring_transfer::set_limit(device, LIMIT).unwrap();
    driver.pinned_peak.store(driver.pinned.load(Relaxed), Relaxed);
    driver.take();
    Bench { driver, device, _turn: turn }
}

impl Bench {
    fn stream(&self) -> Stream {
        Stream::create(self.device, StreamFlags::default()).unwrap()
    }

    fn array(&self, shape: &[i64], stream: &Stream) -> Array {
        Array::empty(shape, DType::new(ScalarType::Int32), MemoryOrder::C, stream.clone()).unwrap()
    }
}

fn numbers(count: i64) -> Vec<i32> {
    (0..count as i32).map(|number| number * 7 + 3).collect()
}

fn dense_side(values: &[i32]) -> HostBuffer {
    HostBuffer {
        address: values.as_ptr() as usize,
        layout: Layout::contiguous(&[values.len() as i64], 4, MemoryOrder::C).unwrap(),
    }
}

fn upload(array: &Array, values: &[i32], stream: &Stream) -> pygpu::error::Result<()> {
    unsafe { copy::to_device(array, &dense_side(values), stream) }
}

fn download(array: &Array, stream: &Stream) -> pygpu::error::Result<Vec<i32>> {
    let values = vec![-1; array.layout().size() as usize];
    unsafe { copy::to_host(&dense_side(&values), array, stream)? };
    Ok(values)
}

#[test]
fn chunked_copy_of_any_size_keeps_values() {
    for threads in [1, 2, 5] {
        let bench = bench(threads);
        let stream = bench.stream();
        for count in [1, 15, 16, 17, 100, 1000] {
            let (values, array) = (numbers(count), bench.array(&[count], &stream));
            bench.driver.take();
            upload(&array, &values, &stream).unwrap();
            let calls = bench.driver.take();
            let copies = calls.iter().filter(|call| **call == Call::Copy(UP)).count();
            let least = (count as usize * 4).div_ceil(SLOT);
            assert!((least..=least + 1).contains(&copies), "{copies} copies of {count} numbers");
            assert_eq!(download(&array, &stream).unwrap(), values);
        }
    }
}

#[test]
fn upload_to_busy_stream_copies_source_before_return() {
    let bench = bench(3);
    let stream = bench.stream();
    let (mut values, array) = (numbers(100), bench.array(&[100], &stream));
    let expected = values.clone();
    bench.driver.lazy.store(true, Relaxed);
    upload(&array, &values, &stream).unwrap();
    values.fill(-5);
    stream.synchronize().unwrap();
    assert_eq!(download(&array, &stream).unwrap(), expected);
}

/// Enqueues a copy that runs only when a caller waits for the stream.
fn keep_busy(bench: &Bench, stream: &Stream) -> Array {
    let work = bench.array(&[4], stream);
    upload(&work, &[1, 2, 3, 4], stream).unwrap();
    work
}

#[test]
fn upload_waits_for_earlier_work_only_above_half_of_pinned_limit() {
    let bench = bench(2);
    let stream = bench.stream();
    let (values, array) = (numbers(200), bench.array(&[200], &stream));
    bench.driver.lazy.store(true, Relaxed);
    let _work = keep_busy(&bench, &stream);
    bench.driver.take();
    upload(&array, &values, &stream).unwrap();
    assert!(!bench.driver.take().contains(&Call::SynchronizeEvent));
    assert_eq!(download(&array, &stream).unwrap(), values);
    let (values, array) = (numbers(2000), bench.array(&[2000], &stream));
    let _work = keep_busy(&bench, &stream);
    bench.driver.take();
    upload(&array, &values, &stream).unwrap();
    assert!(bench.driver.take().contains(&Call::SynchronizeEvent));
    assert_eq!(download(&array, &stream).unwrap(), values);
    assert!(bench.driver.pinned_peak.load(Relaxed) <= LIMIT);
}

#[test]
fn asynchronous_upload_above_64_kib_goes_through_pinned_slots() {
    let bench = bench(2);
    let stream = bench.stream();
    ring_transfer::tune(usize::MAX, (64 << 10, 64 << 10), 2).unwrap();
    ring_transfer::set_limit(bench.device, 1 << 20).unwrap();
    for (count, is_staged) in [(16 << 10, false), ((16 << 10) + 1, true)] {
        let (values, array) = (numbers(count), bench.array(&[count], &stream));
        bench.driver.lazy.store(true, Relaxed);
        upload(&array, &values, &stream).unwrap();
        assert_eq!(ring_transfer::figures(bench.device).bytes > 0, is_staged);
        assert_eq!(download(&array, &stream).unwrap(), values);
    }
}

#[test]
fn item_larger_than_slot_is_copied_by_driver() {
    let bench = bench(2);
    let stream = bench.stream();
    for (itemsize, is_staged) in [(SLOT as u32, true), (SLOT as u32 + 1, false)] {
        let array = Array::empty(&[9], DType::opaque(itemsize, 0), MemoryOrder::C, stream.clone()).unwrap();
        let bytes: Vec<u8> = (0..9 * itemsize).map(|byte| byte as u8).collect();
        // The elements are in reverse order, so PyGPU's host code copies them one by one with every strategy.
        let layout = Layout::strided(&[9], &[-i64::from(itemsize)], 8 * i64::from(itemsize), itemsize.into()).unwrap();
        let side = |memory: &[u8]| HostBuffer { address: memory.as_ptr() as usize, layout: layout.clone() };
        unsafe { copy::to_device(&array, &side(&bytes), &stream).unwrap() };
        let back = vec![0; bytes.len()];
        unsafe { copy::to_host(&side(&back), &array, &stream).unwrap() };
        assert_eq!(back, bytes);
        assert_eq!(ring_transfer::figures(bench.device).bytes > 0, is_staged);
        ring_transfer::trim(bench.device, 0).unwrap();
    }
}

#[test]
fn synchronous_upload_on_busy_stream_uses_at_most_5_slots() {
    let bench = bench(2);
    let stream = bench.stream();
    let (values, array) = (numbers(200), bench.array(&[200], &stream));
    bench.driver.lazy.store(true, Relaxed);
    let _work = keep_busy(&bench, &stream);
    unsafe { copy::to_device_and_wait(&array, &dense_side(&values), &stream).unwrap() };
    assert!(bench.driver.pinned_peak.load(Relaxed) <= 5 * SLOT);
    assert_eq!(download(&array, &stream).unwrap(), values);
}

#[test]
fn small_synchronous_copy_makes_one_copy_call_and_one_wait_call() {
    let bench = bench(2);
    let stream = bench.stream();
    ring_transfer::tune(usize::MAX, (SLOT, SLOT), 2).unwrap();
    let (values, array) = (numbers(5), bench.array(&[5], &stream));
    bench.driver.take();
    unsafe { copy::to_device_and_wait(&array, &dense_side(&values), &stream).unwrap() };
    let wait = Call::SynchronizeStream(stream.handle().0);
    assert_eq!(bench.driver.take(), [Call::Copy(UP), wait.clone()]);
    let back = vec![0; 5];
    unsafe { copy::to_host_and_wait(&dense_side(&back), &array, &stream).unwrap() };
    assert_eq!(bench.driver.take(), [Call::Copy(DOWN), wait]);
    assert_eq!(back, values);
}

#[test]
fn failed_copy_returns_error_and_next_copy_succeeds() {
    for (threads, after) in [(1, 1), (1, 4), (3, 1), (3, 7)] {
        let bench = bench(threads);
        let stream = bench.stream();
        let (values, array) = (numbers(500), bench.array(&[500], &stream));
        bench.driver.lazy.store(true, Relaxed);
        bench.driver.failing_copy.store(after, Relaxed);
        let error = upload(&array, &values, &stream).unwrap_err();
        assert_eq!(error.to_string(), "the copy was refused");
        upload(&array, &values, &stream).unwrap();
        bench.driver.failing_copy.store(after, Relaxed);
        assert_eq!(download(&array, &stream).unwrap_err().to_string(), "the copy was refused");
        assert_eq!(download(&array, &stream).unwrap(), values);
    }
}

#[test]
fn driver_copies_after_failed_pinning_until_limit_is_set() {
    let bench = bench(4);
    let stream = bench.stream();
    bench.driver.refuse_host.store(true, Relaxed);
    let (values, array) = (numbers(500), bench.array(&[500], &stream));
    bench.driver.take();
    upload(&array, &values, &stream).unwrap();
    assert_eq!(bench.driver.take(), [Call::Copy(UP)]);
    assert_eq!(download(&array, &stream).unwrap(), values);
    assert_eq!(ring_transfer::refusal().as_deref(), Some("no memory may be pinned"));
    // After a failure, PyGPU requests pinned memory again only when a limit is set.
    bench.driver.refuse_host.store(false, Relaxed);
    upload(&array, &values, &stream).unwrap();
    assert_eq!(ring_transfer::figures(bench.device).bytes, 0);
    ring_transfer::set_limit(bench.device, LIMIT).unwrap();
    upload(&array, &values, &stream).unwrap();
    assert!(ring_transfer::figures(bench.device).bytes > 0);
    assert_eq!(ring_transfer::refusal(), None);
}

#[test]
fn copy_with_fewer_slots_than_threads_keeps_values() {
    let bench = bench(4);
    let stream = bench.stream();
    ring_transfer::set_limit(bench.device, SLOT).unwrap();
    let (values, array) = (numbers(500), bench.array(&[500], &stream));
    for lazy in [false, true] {
        bench.driver.lazy.store(lazy, Relaxed);
        upload(&array, &values, &stream).unwrap();
        assert_eq!(download(&array, &stream).unwrap(), values);
    }
    assert_eq!(ring_transfer::figures(bench.device).bytes, SLOT);
    assert!(bench.driver.pinned_peak.load(Relaxed) <= SLOT);
}

#[test]
fn trim_of_ring_releases_slots_except_slots_of_pending_copies() {
    let bench = bench(2);
    let stream = bench.stream();
    let (values, array) = (numbers(200), bench.array(&[200], &stream));
    upload(&array, &values, &stream).unwrap();
    assert!(ring_transfer::figures(bench.device).bytes > 0);
    ring_transfer::trim(bench.device, 0).unwrap();
    assert_eq!(ring_transfer::figures(bench.device).bytes, 0);
    assert_eq!(bench.driver.pinned.load(Relaxed), 0);
    bench.driver.lazy.store(true, Relaxed);
    let _work = keep_busy(&bench, &stream);
    ring_transfer::trim(bench.device, 0).unwrap();
    assert_eq!(ring_transfer::figures(bench.device).bytes, SLOT);
    stream.synchronize().unwrap();
}

#[test]
fn device_reset_removes_slots_from_ring() {
    let bench = bench(2);
    let array = bench.array(&[200], &bench.stream());
    upload(&array, &numbers(200), &Stream::default_of(bench.device)).unwrap();
    unsafe { bench.device.reset().unwrap() };
    assert_eq!(ring_transfer::figures(bench.device).bytes, 0);
}

#[test]
fn staged_copy_waits_for_work_of_other_streams() {
    let bench = bench(2);
    let (first, second) = (bench.stream(), bench.stream());
    let array = bench.array(&[200], &first);
    bench.driver.take();
    upload(&array, &numbers(200), &second).unwrap();
    let calls = bench.driver.take();
    let wait = calls.iter().position(|call| matches!(call, Call::Wait { stream, .. } if *stream == second.handle().0));
    let copy = calls.iter().position(|call| *call == Call::Copy(UP));
    assert!(wait.unwrap() < copy.unwrap());
}

#[test]
fn concurrent_copies_of_six_threads_keep_values() {
    let bench = bench(4);
    std::thread::scope(|scope| {
        for worker in 0..6 {
            let bench = &bench;
            scope.spawn(move || {
                let stream = bench.stream();
                for round in 0..30 {
                    let count = 50 + 37 * worker + round;
                    let (values, array) = (numbers(count), bench.array(&[count], &stream));
                    upload(&array, &values, &stream).unwrap();
                    assert_eq!(download(&array, &stream).unwrap(), values);
                }
            });
        }
    });
    assert!(bench.driver.pinned_peak.load(Relaxed) <= LIMIT);
}

/// Generates a random view with gaps, permuted axes and negative steps.
fn views() -> impl Strategy<Value = (Vec<i64>, Vec<i64>, Vec<usize>)> {
    prop::collection::vec((1i64..9, prop::sample::select(vec![1, 1, 2, 3, -1, -2])), 1..4).prop_flat_map(|axes| {
        let (lengths, steps): (Vec<i64>, Vec<i64>) = axes.into_iter().unzip();
        let order: Vec<usize> = (0..lengths.len()).collect();
        (Just(lengths), Just(steps), Just(order).prop_shuffle())
    })
}

/// Returns a layout whose axes have the memory order `order`, and whose elements have the distance `steps` along each
/// axis.
fn strided(lengths: &[i64], steps: &[i64], order: &[usize]) -> Layout {
    let large: Vec<i64> = order.iter().map(|&axis| lengths[axis] * steps[axis].abs()).collect();
    let whole = Layout::contiguous(&large, 4, MemoryOrder::C).unwrap();
    let keys: Vec<Index> =
        order.iter().map(|&axis| Index::Slice { start: None, stop: None, step: Some(steps[axis]) }).collect();
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &axis)| back[axis] = place as i64);
    whole.index(&keys).unwrap().transpose(Some(&back)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_layout_on_either_side_keeps_values_and_gaps(
        (lengths, steps, order) in views(),
        device_steps in prop::collection::vec(prop::sample::select(vec![1i64, 1, 1, 2, -1]), 4),
        turn in prop::bool::ANY,
        threads in 1usize..4,
        lazy in prop::bool::ANY,
    ) {
        let bench = bench(threads);
        let stream = bench.stream();
        bench.driver.lazy.store(lazy, Relaxed);
        let host = strided(&lengths, &steps, &order);
        let mut device_order: Vec<usize> = (0..lengths.len()).collect();
        if turn {
            device_order.reverse();
        }
        let device = strided(&lengths, &device_steps[..lengths.len()], &device_order);
        let whole = bench.array(&[device.extent().unwrap().1.max(4) / 4 + 64], &stream);
        let array = whole.view(device).unwrap();
        let room = host.extent().unwrap().1 as usize / 4 + 1;
        let source = numbers(room as i64);
        let side = |memory: &[i32]| HostBuffer { address: memory.as_ptr() as usize, layout: host.clone() };
        unsafe { copy::to_device(&array, &side(&source), &stream).unwrap() };
        let target = vec![-1; room];
        unsafe { copy::to_host(&side(&target), &array, &stream).unwrap() };
        stream.synchronize().unwrap();
        let mut expected = vec![-1; room];
        pygpu::layout::for_each_run(&host, &host, |_, at, bytes| {
            let (first, last) = (at as usize / 4, (at + bytes) as usize / 4);
            expected[first..last].copy_from_slice(&source[first..last]);
        }).unwrap();
        prop_assert_eq!(target, expected);
    }
}
