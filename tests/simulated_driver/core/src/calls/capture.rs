//! Defines the calls for stream captures and graphs. CUDA and HIP have the same calls under different names.

use std::cell::Cell;

use crate::argument::Out;
use crate::error_codes::{INVALID_VALUE, Outcome};
use crate::graph::Mode;

thread_local! {
    /// Capture mode of the calling thread; the initial mode is global.
    static MODE: Cell<u32> = const { Cell::new(0) };
}

/// Converts the number that the vendors use for a capture mode.
///
/// # Errors
/// `INVALID_VALUE` for any other number than 0, 1 and 2.
pub fn mode(number: u32) -> Outcome<Mode> {
    [Mode::Global, Mode::ThreadLocal, Mode::Relaxed].get(number as usize).copied().ok_or(INVALID_VALUE)
}

/// Returns the capture mode of the calling thread.
pub(crate) fn mode_of_thread() -> Mode {
    // When a thread terminates, its thread-local mode is no longer available, and the default mode applies.
    MODE.try_with(Cell::get).ok().and_then(|number| mode(number).ok()).unwrap_or(Mode::Global)
}

/// Sets the thread's capture mode to the mode in `place`, and stores the previous mode in `place`.
///
/// # Errors
/// `INVALID_VALUE` for a null pointer or an invalid mode.
pub fn exchange_mode(place: Out<u32>) -> Outcome<()> {
    // SAFETY: the caller of the C function guarantees a readable and writable pointer.
    let new_mode = unsafe { place.read()? };
    mode(new_mode)?;
    place.put(MODE.replace(new_mode))
}

/// Defines the calls for graphs in the simulated CUDA or HIP library, by the `export!` macro of that library and under
/// the names of its vendor. `$device` returns the device of a call.
#[macro_export]
macro_rules! export_graphs {
    (
        $export:ident, $device:path: $begin:ident $end:ident $is_capturing:ident $info:ident $exchange:ident
        $instantiate:ident $launch:ident $upload:ident $nodes:ident $destroy_executable:ident $destroy:ident
        $node_kind:ident $($get:ident $set:ident $kind:literal)* { $($own:tt)* }
    ) => {
        use $crate::argument::Out;

        $export! {
            fn $begin(on, stream: u64, kind: u32) {
                on.driver.begin_capture(on.name, $device(on)?, stream, $crate::capture::mode(kind)?)
            }

            fn $end(on, stream: u64, graph: Out<u64>) {
                graph.put(0)?;
                graph.put(on.driver.end_capture(on.name, $device(on)?, stream)?)
            }

            fn $is_capturing(on, stream: u64, answer: Out<u32>) {
                answer.put(on.driver.capture_status(on.name, $device(on)?, stream)?.0)
            }

            fn $info(
                on,
                stream: u64,
                answer: Out<u32>,
                id: Out<u64>,
                graph: Out<u64>,
                dependencies: Out<*const u64>,
                count: Out<usize>,
            ) {
                let (code, capture) = on.driver.capture_status(on.name, $device(on)?, stream)?;
                id.put_if_wanted(capture);
                if let Some(captured) = on.driver.captured(on.name, $device(on)?, stream)? {
                    graph.put_if_wanted(captured.graph);
                    dependencies.put_if_wanted(captured.dependencies);
                    count.put_if_wanted(captured.count);
                }
                answer.put(code)
            }

            fn $exchange(_on, place: Out<u32>) {
                $crate::capture::exchange_mode(place)
            }

            fn $instantiate(on, executable: Out<u64>, graph: u64, _flags: u64) {
                executable.check()?;
                executable.put(on.driver.instantiate_graph(on.name, $device(on)?, graph)?)
            }

            fn $launch(on, executable: u64, stream: u64) {
                on.driver.launch_graph(on.name, $device(on)?, executable, stream)
            }

            fn $upload(on, executable: u64, _stream: u64) {
                on.driver.check_executable(executable)
            }

            fn $nodes(on, graph: u64, nodes: Out<u64>, count: Out<usize>) {
                let found = on.driver.graph_nodes(on.name, graph)?;
                if nodes.check().is_ok() {
                    // SAFETY: the caller of the C function passes a list, and guarantees that `count` is readable and
                    // contains its length.
                    let room = unsafe { count.read()? };
                    // SAFETY: the list has `room` elements, as the caller of the C function guarantees.
                    found.iter().take(room).enumerate().try_for_each(|(at, node)| unsafe { nodes.at(at) }.put(*node))?;
                }
                count.put(found.len())
            }

            fn $node_kind(on, node: u64, kind: Out<u32>) {
                kind.put(on.driver.node_kind(node)?)
            }

            // The parameter structures differ from the vendors' structures: they contain only the handle of the node. A
            // program that copies a structure from one call to another without reading it cannot detect the difference.
            // Some of CUDA's functions have the context as their last parameter, which the simulated functions ignore.
            $(fn $get(on, node: u64, parameters: Out<u64>) {
                on.driver.node_kind(node)?;
                parameters.put(node)
            }

            fn $set(on, executable: u64, node: u64, parameters: Out<u64>) {
                // SAFETY: the caller of the C function guarantees that `parameters` is readable.
                let from = unsafe { parameters.read()? };
                on.driver.exchange_node(on.name, executable, node, from, $kind)
            })*

            $($own)*

            fn $destroy_executable(on, executable: u64) {
                on.driver.destroy_graph(on.name, executable, true)
            }

            fn $destroy(on, graph: u64) {
                on.driver.destroy_graph(on.name, graph, false)
            }
        }
    };
}
