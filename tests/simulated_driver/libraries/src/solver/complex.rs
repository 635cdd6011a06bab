//! Defines complex numbers and their arithmetic for the solvers.

use std::iter::Sum;
use std::ops::{Add, Div, Mul, Sub};

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct C(pub f64, pub f64);

impl C {
    pub const ZERO: Self = Self(0.0, 0.0);
    pub const ONE: Self = Self(1.0, 0.0);

    pub fn conj(self) -> Self {
        Self(self.0, -self.1)
    }

    pub fn abs(self) -> f64 {
        self.0.hypot(self.1)
    }

    pub fn is_finite(self) -> bool {
        self.0.is_finite() && self.1.is_finite()
    }
}

impl Add for C {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1 + other.1)
    }
}

impl Sub for C {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0, self.1 - other.1)
    }
}

impl Mul for C {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self(self.0 * other.0 - self.1 * other.1, self.0 * other.1 + self.1 * other.0)
    }
}

impl Mul<f64> for C {
    type Output = Self;
    fn mul(self, other: f64) -> Self {
        Self(self.0 * other, self.1 * other)
    }
}

impl Div for C {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        if other.1 == 0.0 {
            return Self(self.0 / other.0, self.1 / other.0);
        }
        let square = other.0 * other.0 + other.1 * other.1;
        self * other.conj() * (1.0 / square)
    }
}

impl Sum for C {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::ZERO, Add::add)
    }
}
