//! A GPU without a GPU: what a driver does, under no vendor's names.
//!
//! `tests/simulated_driver/README.md` says what it is for. The map, from the inside out:
//!
//! - `arithmetic`: [`code`], [`clock`], [`region`], [`ranges`];
//! - `watching`, what was asked for and what was seen: [`config`], [`fault`], [`finding`], [`history`];
//! - the `machine`: [`arena`] (memory), [`state`] (everything behind one lock), [`worker`] (what runs later);
//! - `calls`, what a driver does, each a few methods of [`Driver`]: [`device`], [`stream`], [`event`], [`memory`], [`pool`],
//!   [`host`], [`pointer`], [`copy`], [`fill`], [`kernel`], [`texture`], [`graph`], [`condition`], [`guest`], and [`capture`], its calls by name;
//! - [`control`]: the functions with the prefix `sim_`, and [`exit`]: the report (in `watching` too).
//!
//! The order of operations is known in full when they are submitted, as CUDA's streams define it, so races are found
//! then, by vector clocks, whatever the threads happen to do.

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
