//! Contains settings, injected faults, findings, the report at exit, and the choice of legal execution orders.

pub mod config;
pub mod control_functions;
pub mod exit;
pub mod fault;
pub mod finding;
pub mod history;
pub(crate) mod reorder;
