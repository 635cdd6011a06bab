//! Captures and graphs.

use std::cell::Cell;

use simulated_core::Outcome;
use simulated_core::code::INVALID_VALUE;
use simulated_core::graph::Mode;

use crate::entry::{Call, Out, export};

thread_local! {
    /// The mode of the thread: global at first.
    static MODE: Cell<u32> = const { Cell::new(0) };
}

fn mode(number: u32) -> Outcome<Mode> {
    [Mode::Global, Mode::ThreadLocal, Mode::Relaxed].get(number as usize).copied().ok_or(INVALID_VALUE)
}

fn status(on: &Call, stream: u64) -> Outcome<(u32, u64)> {
    on.driver.capture_status(on.name, on.device()?, stream)
}

export! {
    fn hipStreamBeginCapture(on, stream: u64, kind: u32) {
        on.driver.begin_capture(on.name, on.device()?, stream, mode(kind)?)
    }

    fn hipStreamEndCapture(on, stream: u64, graph: Out<u64>) {
        graph.put(0)?;
        graph.put(on.driver.end_capture(on.name, on.device()?, stream)?)
    }

    fn hipStreamIsCapturing(on, stream: u64, answer: Out<u32>) {
        answer.put(status(on, stream)?.0)
    }

    fn hipStreamGetCaptureInfo_v2(
        on,
        stream: u64,
        answer: Out<u32>,
        id: Out<u64>,
        _graph: Out<u64>,
        _dependencies: Out<u64>,
        _count: Out<usize>,
    ) {
        let (code, capture) = status(on, stream)?;
        id.put_if_wanted(capture);
        answer.put(code)
    }

    // Kept for each thread; what a mode forbids is not refused.
    fn hipThreadExchangeStreamCaptureMode(_on, place: Out<u32>) {
        // SAFETY: the caller of the C function promises a place that can be read and written.
        let wanted = unsafe { place.read()? };
        mode(wanted)?;
        place.put(MODE.replace(wanted))
    }

    fn hipGraphInstantiateWithFlags(on, executable: Out<u64>, graph: u64, _flags: u64) {
        executable.check()?;
        executable.put(on.driver.instantiate_graph(on.name, on.device()?, graph)?)
    }

    fn hipGraphLaunch(on, executable: u64, stream: u64) {
        on.driver.launch_graph(on.name, on.device()?, executable, stream)
    }

    fn hipGraphUpload(on, executable: u64, _stream: u64) {
        on.driver.check_executable(executable)
    }

    fn hipGraphGetNodes(on, graph: u64, nodes: Out<u64>, count: Out<usize>) {
        // The nodes themselves have no names here.
        let _ = nodes;
        count.put(on.driver.graph_nodes(on.name, graph)?)
    }

    fn hipGraphExecDestroy(on, executable: u64) {
        on.driver.destroy_graph(on.name, executable, true)
    }

    fn hipGraphDestroy(on, graph: u64) {
        on.driver.destroy_graph(on.name, graph, false)
    }
}
