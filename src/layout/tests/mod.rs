//! Tests of layouts: shapes, strides, offsets and exact error messages. The expected values and messages are those of
//! NumPy 2.4.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use super::*;

mod axes;
mod construction;
mod copies;
mod views;

/// Returns a new C-contiguous layout of 4-byte elements.
fn fresh(shape: &[i64]) -> Layout {
    Layout::contiguous(shape, 4, MemoryOrder::C).unwrap()
}

fn shape(layout: &Layout) -> Vec<i64> {
    layout.shape().collect()
}

fn strides(layout: &Layout) -> Vec<i64> {
    layout.strides().collect()
}

#[track_caller]
fn value_error<T: std::fmt::Debug>(result: Result<T>, text: &str) {
    match result {
        Err(Error::Value(found)) => assert_eq!(found, text),
        other => panic!("expected a ValueError, got {other:?}"),
    }
}

#[track_caller]
fn axis_error<T: std::fmt::Debug>(result: Result<T>, text: &str) {
    match result {
        Err(error @ Error::Axis { .. }) => assert_eq!(error.to_string(), text),
        other => panic!("expected an AxisError, got {other:?}"),
    }
}

#[track_caller]
fn index_error<T: std::fmt::Debug>(result: Result<T>, text: &str) {
    match result {
        Err(Error::Index(found)) => assert_eq!(found, text),
        other => panic!("expected an IndexError, got {other:?}"),
    }
}

fn slice(start: impl Into<Option<i64>>, stop: impl Into<Option<i64>>, step: impl Into<Option<i64>>) -> Index {
    Index::Slice { start: start.into(), stop: stop.into(), step: step.into() }
}
