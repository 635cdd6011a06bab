//! stub
pub struct Attempt; pub struct Library;
