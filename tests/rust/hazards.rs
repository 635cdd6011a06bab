//! Tests the waits between uses of a block on different streams, and the time of frees, on a backend that records every
//! call.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::undocumented_unsafe_blocks)]

mod bench;
mod recording_backend;

use std::sync::Arc;

use bench::bench;
use pygpu::array::Array;
use pygpu::backend::StreamHandle;
use pygpu::copy;
use pygpu::dtype::{DType, ScalarType};
use pygpu::error::Error;
use pygpu::layout::MemoryOrder;
use pygpu::memory::{self, Access, Allocation};
use pygpu::shutdown;
use pygpu::stream::Stream;
use recording_backend::Call;

fn use_on(block: &Arc<Allocation>, access: Access, stream: &Stream) {
    memory::ordered(&[(block, access)], stream, || Ok(())).unwrap();
}

#[test]
fn work_on_one_stream_needs_no_synchronization_call() {
    let bench = bench();
    let stream = bench.stream();
    let block = bench.block(&stream);
    for access in [Access::Write, Access::Read, Access::Read, Access::Write] {
        use_on(&block, access, &stream);
    }
    assert_eq!(bench.driver.take(), []);
}

#[test]
fn read_on_other_stream_waits_for_write() {
    let bench = bench();
    let (writer, reader) = (bench.stream(), bench.stream());
    let block = bench.block(&writer);
    use_on(&block, Access::Write, &writer);
    use_on(&block, Access::Read, &reader);
    assert_eq!(bench.waits(), [(reader.handle().0, writer.handle().0)]);
}

#[test]
fn write_waits_for_every_reader_and_reads_do_not_wait_for_reads() {
    let bench = bench();
    let (writer, first, second) = (bench.stream(), bench.stream(), bench.stream());
    let block = bench.block(&writer);
    use_on(&block, Access::Read, &first);
    use_on(&block, Access::Read, &second);
    let waits = bench.waits();
    assert_eq!(waits, [(first.handle().0, writer.handle().0), (second.handle().0, writer.handle().0)]);
    use_on(&block, Access::Write, &writer);
    assert_eq!(bench.waits(), [(writer.handle().0, first.handle().0), (writer.handle().0, second.handle().0)]);
}

#[test]
fn repeated_reads_wait_once_per_write() {
    let bench = bench();
    let (writer, reader) = (bench.stream(), bench.stream());
    let block = bench.block(&writer);
    use_on(&block, Access::Read, &reader);
    assert_eq!(bench.waits().len(), 1);
    for _ in 0..3 {
        use_on(&block, Access::Read, &reader);
        assert_eq!(bench.waits(), []);
    }
    use_on(&block, Access::Write, &writer);
    assert_eq!(bench.waits(), [(writer.handle().0, reader.handle().0)]);
    use_on(&block, Access::Read, &reader);
    assert_eq!(bench.waits(), [(reader.handle().0, writer.handle().0)]);
}

#[test]
fn memory_is_freed_after_its_last_use() {
    let bench = bench();
    let (home, other) = (bench.stream(), bench.stream());
    let block = bench.block(&home);
    use_on(&block, Access::Read, &other);
    bench.driver.take();
    drop(block);
    let calls = bench.driver.take();
    assert!(matches!(calls[0], Call::Record { stream, .. } if stream == other.handle().0), "{calls:?}");
    assert!(matches!(calls[1], Call::Wait { stream, .. } if stream == home.handle().0), "{calls:?}");
    assert_eq!(calls[2], Call::Free { stream: home.handle().0 });
}

#[test]
fn untracked_memory_is_freed_after_all_work_of_device() {
    let bench = bench();
    let home = bench.stream();
    let block = bench.block(&home);
    block.mark_untracked();
    drop(block);
    let calls = bench.driver.take();
    assert!(matches!(calls[0], Call::RecordDevice { .. }), "{calls:?}");
    assert!(matches!(calls[1], Call::Wait { stream, .. } if stream == home.handle().0), "{calls:?}");
    assert!(matches!(calls[2], Call::Free { .. }), "{calls:?}");
}

#[test]
fn event_of_foreign_stream_is_recorded_with_use_not_with_free() {
    let bench = bench();
    let home = bench.stream();
    let foreign = Stream::foreign(bench.device, StreamHandle(7), None);
    let block = bench.block(&home);
    use_on(&block, Access::Write, &foreign);
    assert_eq!(bench.waits(), [(7, home.handle().0)]);
    drop(foreign);
    drop(block);
    let calls = bench.driver.take();
    assert!(!calls.iter().any(|call| matches!(call, Call::Record { stream: 7, .. })), "{calls:?}");
    assert!(matches!(calls[0], Call::Wait { stream, .. } if stream == home.handle().0), "{calls:?}");
}

#[test]
fn memory_for_foreign_stream_is_allocated_on_default_stream() {
    let bench = bench();
    let foreign = Stream::foreign(bench.device, StreamHandle(7), None);
    let block = Arc::new(Allocation::new(64, foreign.clone()).unwrap());
    assert_eq!(bench.driver.take(), [Call::Allocate(0)]);
    use_on(&block, Access::Write, &foreign);
    assert_eq!(bench.waits(), [(7, 0)]);
    drop(block);
    assert!(bench.driver.take().contains(&Call::Free { stream: 0 }));
}

#[test]
fn stream_lives_as_long_as_blocks_used_on_it() {
    let bench = bench();
    let (home, other) = (bench.stream(), bench.stream());
    let handle = other.handle().0;
    let block = bench.block(&home);
    use_on(&block, Access::Read, &other);
    drop(other);
    assert!(!bench.driver.take().contains(&Call::DestroyStream(handle)));
    drop(block);
    assert!(bench.driver.take().contains(&Call::DestroyStream(handle)));
}

#[test]
fn failed_allocation_synchronizes_trims_pool_and_retries_once() {
    let bench = bench();
    bench.driver.refuse_allocations.store(1, std::sync::atomic::Ordering::Relaxed);
    let stream = Stream::default_of(bench.device);
    let block = Arc::new(Allocation::new(64, stream.clone()).unwrap());
    assert_eq!(bench.driver.take(), [Call::SynchronizeDevice, Call::Trim, Call::Allocate(0)]);
    drop(block);
    bench.driver.refuse_allocations.store(2, std::sync::atomic::Ordering::Relaxed);
    match Allocation::new(64, stream) {
        Err(Error::OutOfMemory(error)) => assert_eq!((error.requested, error.free), (64, Some(10))),
        other => panic!("{:?}", other.err()),
    };
}

#[test]
fn free_error_affects_no_other_operation_and_is_reported_once() {
    // Tests a fixed defect: after a failed free, the next allocation or launch of any thread failed.
    let bench = bench();
    let stream = Stream::default_of(bench.device);
    let (block, other) = (bench.block(&stream), bench.block(&stream));
    bench.driver.refuse_free.store(1, std::sync::atomic::Ordering::Relaxed);
    drop(block);
    assert!(Allocation::new(8, stream.clone()).is_ok());
    use_on(&other, Access::Write, &stream);
    assert!(matches!(shutdown::report_deferred(), Err(Error::Value(text)) if text.contains("free refused")));
    assert!(shutdown::report_deferred().is_ok());
}

#[test]
fn end_of_write_keeps_reads_recorded_since_begin_of_write() {
    // Tests a fixed defect: the end of a write removed all recorded uses, even the uses recorded after the write began.
    let bench = bench();
    let (home, other) = (bench.stream(), bench.stream());
    let block = bench.block(&home);
    memory::ordered(&[(&block, Access::Write)], &home, || {
        use_on(&block, Access::Read, &other);
        Ok(())
    })
    .unwrap();
    bench.driver.take();
    drop(block);
    assert_eq!(bench.waits(), [(home.handle().0, other.handle().0)]);
}

#[test]
fn free_waits_for_work_if_only_second_driver_call_of_launch_failed() {
    // Tests a fixed defect: if the second driver call of a launch or copy failed, the work of the first call was not
    // recorded.
    let bench = bench();
    let (home, other) = (bench.stream(), bench.stream());
    let block = bench.block(&home);
    let failed = memory::ordered(&[(&block, Access::Write)], &other, || Err::<(), _>(Error::value("the second call")));
    assert!(failed.is_err());
    bench.driver.take();
    drop(block);
    assert_eq!(bench.waits(), [(home.handle().0, other.handle().0)]);
}

#[test]
fn record_stream_keeps_recorded_uses_of_other_streams() {
    // Tests a fixed defect: `record_stream` recorded a write that had waited for all other uses, and replaced these
    // uses.
    let bench = bench();
    let (home, reader, unseen) = (bench.stream(), bench.stream(), bench.stream());
    let block = bench.block(&home);
    use_on(&block, Access::Read, &reader);
    block.record_stream(&unseen).unwrap();
    bench.driver.take();
    drop(block);
    let mut waits = bench.waits();
    waits.sort_unstable();
    assert_eq!(waits, [(home.handle().0, reader.handle().0), (home.handle().0, unseen.handle().0)]);
}

#[test]
fn per_thread_default_streams_are_distinct() {
    // Tests a fixed defect: the stream handle 2 means the default stream of the calling thread, but PyGPU treated it as
    // one stream in all threads.
    let bench = bench();
    let home = bench.stream();
    let per_thread = Stream::foreign(bench.device, StreamHandle(2), None);
    let block = bench.block(&home);
    use_on(&block, Access::Write, &per_thread);
    bench.driver.take();
    use_on(&block, Access::Write, &per_thread);
    assert_eq!(bench.waits(), []);
    std::thread::scope(|scope| scope.spawn(|| use_on(&block, Access::Read, &per_thread)).join().unwrap());
    let calls = bench.driver.take();
    assert!(calls.iter().any(|call| matches!(call, Call::Wait { stream: 2, .. })), "{calls:?}");
}

#[test]
fn two_foreign_streams_with_equal_handle_and_no_owner_are_distinct() {
    // Tests a fixed defect: PyGPU treated two foreign streams with the same handle as one stream. Without an owner, a
    // stream may be destroyed between two uses, and its handle reused for another stream.
    let bench = bench();
    let home = bench.stream();
    let block = bench.block(&home);
    let foreign =
        |keeper: Option<Box<dyn std::any::Any + Send + Sync>>| Stream::foreign(bench.device, StreamHandle(7), keeper);
    use_on(&block, Access::Write, &foreign(None));
    bench.driver.take();
    use_on(&block, Access::Write, &foreign(None));
    let waits = |calls: &[Call]| calls.iter().filter(|call| matches!(call, Call::Wait { stream: 7, .. })).count();
    assert_eq!(waits(&bench.driver.take()), 1);
    // An owner keeps the stream alive, so its handle denotes one stream.
    let kept = foreign(Some(Box::new(())));
    use_on(&block, Access::Write, &kept);
    bench.driver.take();
    use_on(&block, Access::Write, &foreign(Some(Box::new(()))));
    assert_eq!(waits(&bench.driver.take()), 0);
}

#[test]
fn foreign_stream_with_handle_of_live_pygpu_stream_is_that_stream() {
    let bench = bench();
    let stream = bench.stream();
    let handle = stream.handle();
    let named = Stream::foreign(bench.device, handle, None);
    assert!(named == stream && !named.is_foreign());
    drop((stream, named));
    assert!(Stream::foreign(bench.device, handle, None).is_foreign());
}

#[test]
fn readers_of_exported_block_do_not_wait_for_each_other() {
    // Tests a fixed defect: readers of an exported block waited for each other.
    let bench = bench();
    let (home, first, second) = (bench.stream(), bench.stream(), bench.stream());
    let block = bench.block(&home);
    block.order_before(Access::Read, &first).unwrap();
    block.order_before(Access::Read, &second).unwrap();
    let (home, first, second) = (home.handle().0, first.handle().0, second.handle().0);
    assert_eq!(bench.waits(), [(first, home), (second, home)]);
}

#[test]
fn free_after_export_waits_only_for_consumer_stream() {
    // Tests a fixed defect: the free of an exported block waited for the whole device.
    let bench = bench();
    let (home, consumer) = (bench.stream(), bench.stream());
    let block = bench.block(&home);
    block.order_before(Access::Write, &consumer).unwrap();
    block.export();
    assert_eq!(block.exports(), 1);
    // This write on the block's allocation stream replaces the recorded uses. The consumer still uses the block at this
    // time.
    use_on(&block, Access::Write, &home);
    bench.driver.take();
    block.end_export(Access::Write, Some(&consumer)).unwrap();
    assert_eq!((block.exports(), bench.driver.take()), (0, vec![]));
    drop(block);
    let calls = bench.driver.take();
    assert!(matches!(calls[0], Call::Record { stream, .. } if stream == consumer.handle().0), "{calls:?}");
    assert!(matches!(calls[1], Call::Wait { stream, .. } if stream == home.handle().0), "{calls:?}");
    assert!(!calls.iter().any(|call| matches!(call, Call::RecordDevice { .. } | Call::SynchronizeDevice)), "{calls:?}");
}

#[test]
fn free_after_export_with_unknown_or_foreign_stream_waits_for_device() {
    let bench = bench();
    for consumer in [None, Some(Stream::foreign(bench.device, StreamHandle(7), None))] {
        let home = bench.stream();
        let block = bench.block(&home);
        block.export();
        block.end_export(Access::Read, consumer.as_ref()).unwrap();
        drop(block);
        let calls = bench.driver.take();
        assert!(matches!(calls[0], Call::RecordDevice { .. }), "{calls:?}");
    }
}

#[test]
fn empty_block_makes_no_driver_call() {
    let bench = bench();
    drop(Allocation::new(0, Stream::default_of(bench.device)).unwrap());
    assert_eq!(bench.driver.take(), []);
}

#[test]
fn block_from_before_reset_is_neither_used_nor_freed() {
    let bench = bench();
    let stream = Stream::default_of(bench.device);
    let block = bench.block(&stream);
    unsafe { bench.device.reset().unwrap() };
    assert!(
        matches!(memory::ordered(&[(&block, Access::Read)], &stream, || Ok(())), Err(Error::Value(text)) if text.contains("reset"))
    );
    drop(block);
    assert_eq!(bench.driver.take(), []);
}

#[test]
fn copy_on_third_stream_waits_for_streams_of_source_and_target() {
    let bench = bench();
    let (first, second, third) = (bench.stream(), bench.stream(), bench.stream());
    let source = Array::empty(&[8], DType::new(ScalarType::Int32), MemoryOrder::C, first.clone()).unwrap();
    let target = Array::empty(&[8], DType::new(ScalarType::Int32), MemoryOrder::C, second.clone()).unwrap();
    bench.driver.take();
    copy::between(&target, &source, &third).unwrap();
    let third_handle = third.handle().0;
    assert_eq!(bench.waits(), [(third_handle, first.handle().0), (third_handle, second.handle().0)]);
    assert_eq!(Arc::strong_count(source.allocation()), 1);
    assert!(bench.driver.take().iter().all(|call| *call != Call::Copy(recording_backend::UP)));
}
