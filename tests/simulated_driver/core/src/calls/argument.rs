//! Wraps the pointers that a C caller passes to a call: pointers to which the call writes its results, and pointers
//! from which it reads values.

use std::ffi::{CStr, c_char};

use crate::error_codes::{INVALID_VALUE, NOT_FOUND, Outcome};

/// Pointer to which a call writes a result. C code passes the pointer: it is null, or writable as the vendor's manual
/// requires.
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Out<T> {
    /// Returns the same pointer for a result of type `U`.
    pub fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }

    /// Returns the pointer to element `index` of a list of results.
    ///
    /// # Safety
    /// The list must have more than `index` elements.
    pub unsafe fn at(self, index: usize) -> Self {
        // SAFETY: the caller of this function guarantees that the list has more than `index` elements.
        Self(unsafe { self.0.add(index) })
    }

    /// Writes the result.
    ///
    /// # Errors
    /// `INVALID_VALUE` if the pointer is null.
    pub fn put(self, value: T) -> Outcome<()> {
        self.check()?;
        // SAFETY: the pointer is not null, and the caller of the C function guarantees that it is writable.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// Reads the value at the pointer, for calls that replace the value and return the previous one.
    ///
    /// # Errors
    /// `INVALID_VALUE` if the pointer is null.
    ///
    /// # Safety
    /// The pointer is null or readable.
    pub unsafe fn read(self) -> Outcome<T> {
        self.check()?;
        // SAFETY: the pointer is not null, and the caller of this function guarantees that it is readable.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Checks that the pointer is not null.
    ///
    /// # Errors
    /// `INVALID_VALUE` if the pointer is null.
    pub fn check(self) -> Outcome<()> {
        if self.0.is_null() { Err(INVALID_VALUE) } else { Ok(()) }
    }

    /// Returns whether the address is a multiple of `alignment` bytes.
    pub fn is_aligned(&self, alignment: usize) -> bool {
        self.0.addr().is_multiple_of(alignment)
    }

    /// Writes a result, or does nothing if the pointer is null.
    pub fn put_if_wanted(self, value: T) {
        // Ignore the error `INVALID_VALUE` of a null pointer, by which the caller declines the result.
        let _ = self.put(value);
    }
}

/// Pointer from which a call reads a value. C code passes the pointer: it is null, or readable as the vendor's manual
/// requires.
#[repr(transparent)]
pub struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T: Copy> In<T> {
    /// Returns the same pointer for a value of type `U`.
    pub fn cast<U>(self) -> In<U> {
        In(self.0.cast())
    }

    /// Reads the value.
    ///
    /// # Errors
    /// `INVALID_VALUE` if the pointer is null.
    pub fn get(self) -> Outcome<T> {
        self.at(0)
    }

    /// Reads one element of an array.
    ///
    /// # Errors
    /// `INVALID_VALUE` if the pointer is null.
    pub fn at(self, position: usize) -> Outcome<T> {
        if self.0.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the pointer is not null, and the caller of the C function guarantees that the array is readable.
        Ok(unsafe { self.0.add(position).read_unaligned() })
    }
}

impl In<c_char> {
    /// Reads a C string that contains the name of a kernel or a variable.
    ///
    /// # Errors
    /// `INVALID_VALUE` if the pointer is null, `NOT_FOUND` if the text is not UTF-8.
    pub fn name(self) -> Outcome<String> {
        if self.0.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the pointer is not null, and the caller of the C function guarantees that it refers to a C string.
        unsafe { CStr::from_ptr(self.0) }.to_str().map(str::to_owned).map_err(|_| NOT_FOUND)
    }
}
