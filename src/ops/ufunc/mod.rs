//! Functions that go element by element: one table of them, which loop serves which operands, and the kernels of the loops.

pub mod kernel;
pub mod promote;
pub mod table;

pub use kernel::{Given, kernel};
pub use promote::{Operand, can_cast, can_cast_same_kind, resolve};
pub use table::{ALIASES, Output, Row, TABLE, row};
