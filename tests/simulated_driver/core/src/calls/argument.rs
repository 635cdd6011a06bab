//! What C gives by address: places for results, and values.

use std::ffi::{CStr, c_char};

use crate::code::{INVALID_VALUE, NOT_FOUND, Outcome};

/// Where the caller wants a result. Only C makes one: null, or writable as its manual says.
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Out<T> {
    /// The same place for a result of another type.
    pub fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }

    /// The place of a later result in a list.
    ///
    /// # Safety
    /// The list is longer than that.
    pub unsafe fn at(self, index: usize) -> Self {
        // SAFETY: the caller's promise is the same.
        Self(unsafe { self.0.add(index) })
    }

    /// Writes a result.
    ///
    /// # Errors
    /// A code.
    pub fn put(self, value: T) -> Outcome<()> {
        self.check()?;
        // SAFETY: not null, and the caller of the C function promises that the rest is right.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// What is there already, where a call exchanges.
    ///
    /// # Errors
    /// A code.
    ///
    /// # Safety
    /// The place is null or readable.
    pub unsafe fn read(self) -> Outcome<T> {
        self.check()?;
        // SAFETY: not null; the rest is the caller's promise.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Whether there is a place.
    ///
    /// # Errors
    /// A code.
    pub fn check(self) -> Outcome<()> {
        if self.0.is_null() { Err(INVALID_VALUE) } else { Ok(()) }
    }

    /// Whether the place is at a multiple of so many bytes.
    pub fn is_aligned(&self, alignment: usize) -> bool {
        self.0.addr().is_multiple_of(alignment)
    }

    /// Writes a result that may not be wanted.
    pub fn put_if_wanted(self, value: T) {
        // Null is a way to say that it is not wanted.
        let _ = self.put(value);
    }
}

/// What the caller gives by address. Only C makes one: null, or readable as its manual says.
#[repr(transparent)]
pub struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T: Copy> In<T> {
    /// The same place read as another type.
    pub fn cast<U>(self) -> In<U> {
        In(self.0.cast())
    }

    /// The value.
    ///
    /// # Errors
    /// A code.
    pub fn get(self) -> Outcome<T> {
        self.at(0)
    }

    /// The value of an array at a position.
    ///
    /// # Errors
    /// A code.
    pub fn at(self, position: usize) -> Outcome<T> {
        if self.0.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: not null, and the caller of the C function promises that the rest is right.
        Ok(unsafe { self.0.add(position).read_unaligned() })
    }
}

impl In<c_char> {
    /// The name of a kernel or a variable.
    ///
    /// # Errors
    /// A code.
    pub fn name(self) -> Outcome<String> {
        if self.0.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: not null, and the caller of the C function promises a C string.
        unsafe { CStr::from_ptr(self.0) }.to_str().map(str::to_owned).map_err(|_| NOT_FOUND)
    }
}
