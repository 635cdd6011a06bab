//! A GPU without a GPU: what a driver does, under no vendor's names.
//!
//! `tests/simulated_driver/README.md` says what it is for. The map, from the inside out:
//!
//! - arithmetic: [`code`], [`clock`], [`region`], [`ranges`];
//! - what was asked for and what was seen: [`config`], [`fault`], [`finding`], [`history`];
//! - the machine: [`arena`] (memory), [`state`] (everything behind one lock), [`worker`] (what runs later);
//! - what a driver does, each a few methods of [`Driver`]: [`device`], [`stream`], [`event`], [`memory`], [`pool`],
//!   [`host`], [`pointer`], [`copy`], [`fill`], [`kernel`], [`graph`], [`guest`], and [`capture`], its calls by name;
//! - [`control`]: the functions with the prefix `sim_`, and [`exit`]: the report.
//!
//! The order of operations is known in full when they are submitted, as CUDA's streams define it, so races are found
//! then, by vector clocks, whatever the threads happen to do.

pub mod arena;
pub mod argument;
pub mod capture;
pub mod clock;
pub mod code;
pub mod config;
pub mod control;
pub mod copy;
pub mod device;
pub mod driver;
pub mod event;
pub mod exit;
pub mod fault;
pub mod fill;
pub mod finding;
pub mod graph;
pub mod guest;
mod handles;
pub mod history;
pub mod host;
pub mod kernel;
pub mod memory;
pub mod module;
pub mod pointer;
pub mod pool;
pub mod ranges;
pub mod region;
mod reorder;
pub mod rtc;
pub mod shared;
pub mod state;
pub mod stream;
pub mod worker;

pub use code::Outcome;
pub use driver::Driver;
