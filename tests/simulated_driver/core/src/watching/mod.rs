//! Settings, injected faults, findings, the report, and legal reorderings.

pub mod config;
pub mod control;
pub mod exit;
pub mod fault;
pub mod finding;
pub mod history;
pub(crate) mod reorder;
