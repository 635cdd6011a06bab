//! Arguments that C passes by address: pointers for results, and values.

use std::ffi::{CStr, c_char};

use crate::code::{INVALID_VALUE, NOT_FOUND, Outcome};

/// Pointer for a result. Only C code creates it: null, or writable as documented in its manual.
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Out<T> {
    /// Returns the pointer for a result of another type.
    pub fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }

    /// Returns the pointer for a later element of a list.
    ///
    /// # Safety
    /// The list has more than `index` elements.
    pub unsafe fn at(self, index: usize) -> Self {
        // SAFETY: the caller guarantees the conditions of the called function.
        Self(unsafe { self.0.add(index) })
    }

    /// Writes a result.
    ///
    /// # Errors
    /// An error code.
    pub fn put(self, value: T) -> Outcome<()> {
        self.check()?;
        // SAFETY: not null; the caller of the C function guarantees that it is writable.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// Reads the existing value, for calls that exchange one.
    ///
    /// # Errors
    /// An error code.
    ///
    /// # Safety
    /// The pointer is null or readable.
    pub unsafe fn read(self) -> Outcome<T> {
        self.check()?;
        // SAFETY: not null; the caller guarantees that it is readable.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Fails for a null pointer.
    ///
    /// # Errors
    /// An error code.
    pub fn check(self) -> Outcome<()> {
        if self.0.is_null() { Err(INVALID_VALUE) } else { Ok(()) }
    }

    /// Returns whether the pointer has an alignment in bytes.
    pub fn is_aligned(&self, alignment: usize) -> bool {
        self.0.addr().is_multiple_of(alignment)
    }

    /// Writes an optional result.
    pub fn put_if_wanted(self, value: T) {
        // A null pointer means that the result is not needed.
        let _ = self.put(value);
    }
}

/// Pointer to a value that the caller passes. Only C code creates it: null, or readable as documented in its manual.
#[repr(transparent)]
pub struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T: Copy> In<T> {
    /// Returns the pointer for another type.
    pub fn cast<U>(self) -> In<U> {
        In(self.0.cast())
    }

    /// Returns the value.
    ///
    /// # Errors
    /// An error code.
    pub fn get(self) -> Outcome<T> {
        self.at(0)
    }

    /// Returns an element of an array.
    ///
    /// # Errors
    /// An error code.
    pub fn at(self, position: usize) -> Outcome<T> {
        if self.0.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: not null; the caller of the C function guarantees that it is readable.
        Ok(unsafe { self.0.add(position).read_unaligned() })
    }
}

impl In<c_char> {
    /// Returns the name of a kernel or a variable.
    ///
    /// # Errors
    /// An error code.
    pub fn name(self) -> Outcome<String> {
        if self.0.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: not null; the caller of the C function guarantees a C string.
        unsafe { CStr::from_ptr(self.0) }.to_str().map(str::to_owned).map_err(|_| NOT_FOUND)
    }
}
