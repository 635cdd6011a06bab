//! A simulated GPU: the operations of a driver, independent of the vendors' names.
//!
//! `tests/simulated_driver/README.md` describes its purpose. The modules, from the inside out:
//!
//! - `arithmetic`: [`code`], [`clock`], [`region`], [`ranges`];
//! - `watching`, settings and findings: [`config`], [`fault`], [`finding`], [`history`];
//! - `machine`: [`arena`] (memory), [`state`] (all state under one lock), [`worker`] (asynchronous execution);
//! - `calls`, the operations of a driver, each as a few methods of [`Driver`]: [`device`], [`stream`], [`event`],
//!   [`memory`], [`pool`], [`host`], [`mod@pointer`], [`copy`], [`fill`], [`kernel`], [`texture`], [`graph`],
//!   [`condition`], [`guest`], and [`capture`], which defines its calls by name;
//! - [`control`]: the functions with the prefix `sim_`, and [`exit`]: the report (in `watching` too).
//!
//! The order of operations is fully known at submission, as defined by CUDA's streams. Therefore races are detected
//! at that time by vector clocks, independent of the timing of threads.

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
