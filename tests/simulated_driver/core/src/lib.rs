//! A simulated GPU: implements the operations of a driver independently of the vendors' names for them.
//!
//! `tests/simulated_driver/README.md` describes its purpose. These are the modules, from the innermost to the
//! outermost:
//!
//! - `value_types`: [`error_codes`], [`vector_clock`], [`byte_region`] and [`ranges`];
//! - `instrumentation`, which contains settings and findings: [`config`], [`fault`], [`finding`] and [`history`];
//! - `machine`: [`arena`] (memory), [`state`] (all state under one lock) and [`worker`] (asynchronous execution);
//! - `calls`, the operations of a driver, each as methods of [`Driver`]: [`device`], [`stream`], [`event`], [`memory`],
//!   [`pool`], [`host`], [`mod@pointer`], [`copy`], [`fill`], [`kernel`], [`texture`], [`graph`], [`conditional_nodes`],
//!   [`foreign_kernels`], and [`capture`], which defines calls by their names;
//! - [`control_functions`], the functions with the prefix `sim_`, and [`exit`], the report at process exit (both in
//!   `instrumentation` too).
//!
//! CUDA defines the order of operations completely at their submission. Therefore vector clocks detect races at that
//! time, independently of the timing of threads.

mod calls;
mod instrumentation;
mod machine;
mod value_types;

pub use calls::{
    argument, capture, copy, device, event, fill, foreign_kernels, graph, host, ipc, kernel, memory, module, pointer,
    pool, rtc, stream, texture,
};
pub(crate) use instrumentation::reorder;
pub use instrumentation::{config, control_functions, exit, fault, finding, history};
pub(crate) use machine::handles;
pub use machine::{arena, conditional_nodes, driver, state, worker};
pub use value_types::{byte_region, error_codes, ranges, vector_clock};

pub use driver::Driver;
pub use error_codes::Outcome;
