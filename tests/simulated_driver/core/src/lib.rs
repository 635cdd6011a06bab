//! A simulated GPU: implements the operations of a driver independently of the vendors' names for them.
//!
//! `tests/simulated_driver/README.md` describes its purpose. These are the modules, from the innermost to the
//! outermost:
//!
//! - `arithmetic`: [`code`], [`clock`], [`region`] and [`ranges`];
//! - `watching`, which contains settings and findings: [`config`], [`fault`], [`finding`] and [`history`];
//! - `machine`: [`arena`] (memory), [`state`] (all state under one lock) and [`worker`] (asynchronous execution);
//! - `calls`, the operations of a driver, each as methods of [`Driver`]: [`device`], [`stream`], [`event`], [`memory`],
//!   [`pool`], [`host`], [`mod@pointer`], [`copy`], [`fill`], [`kernel`], [`texture`], [`graph`], [`condition`],
//!   [`guest`], and [`capture`], which defines calls by their names;
//! - [`control`], the functions with the prefix `sim_`, and [`exit`], the report at process exit (both in `watching`
//!   too).
//!
//! CUDA defines the order of operations completely at their submission. Therefore vector clocks detect races at that
//! time, independently of the timing of threads.

mod arithmetic;
mod calls;
mod machine;
mod watching;

pub use arithmetic::{clock, code, ranges, region};
pub use calls::{
    argument, capture, copy, device, event, fill, graph, guest, host, kernel, memory, module, pointer, pool, rtc,
    shared, stream, texture,
};
pub(crate) use machine::handles;
pub use machine::{arena, condition, driver, state, worker};
pub(crate) use watching::reorder;
pub use watching::{config, control, exit, fault, finding, history};

pub use code::Outcome;
pub use driver::Driver;
