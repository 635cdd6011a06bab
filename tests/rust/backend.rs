//! Backends, through the public interface.
