//! What was asked for and what was seen: settings, faults, findings, the report, orders that a device may choose.

pub mod config;
pub mod control;
pub mod exit;
pub mod fault;
pub mod finding;
pub mod history;
pub(crate) mod reorder;
