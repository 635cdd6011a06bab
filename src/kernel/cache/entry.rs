//! Defines the format of a cache file: a checksum, then a module image, the compiler's log, and fingerprints of the
//! files from which the image was compiled.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::ImageKey;
use pygpu_backend::{Compiled, FileFingerprint, WitnessState};

/// First bytes of a cache file. They are changed with the format of cache files or cache keys.
const MAGIC: &[u8; 8] = b"PyGPU k2";
const CHECKSUM: usize = 32;

/// Writes byte strings to a buffer, each preceded by its length.
#[derive(Default)]
struct ByteWriter(Vec<u8>);

impl ByteWriter {
    fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytes);
    }

    fn count(&mut self, count: usize) {
        self.0.extend_from_slice(&(count as u64).to_le_bytes());
    }
}

struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    fn count(&mut self) -> Option<usize> {
        let (count, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        usize::try_from(u64::from_le_bytes(*count)).ok()
    }

    fn next(&mut self) -> Option<&'a [u8]> {
        let length = self.count()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.next()?.to_vec()).ok()
    }
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    Some(PathBuf::from(std::str::from_utf8(bytes).ok()?))
}

/// Encodes an image as a cache file; `None` if the image must not be cached.
pub fn encode(key: &ImageKey, compiled: &Compiled) -> Option<Vec<u8>> {
    let read = compiled.read.as_ref()?;
    let mut payload = ByteWriter(Vec::with_capacity(compiled.image.len() + compiled.log.len() + 256));
    payload.push(key.0.as_bytes());
    payload.push(&compiled.image);
    payload.push(compiled.log.as_bytes());
    payload.count(compiled.lowered.len());
    compiled.lowered.iter().for_each(|name| payload.push(name.as_bytes()));
    payload.count(read.len());
    for fingerprint in read {
        payload.push(fingerprint.path.as_os_str().as_encoded_bytes());
        match &fingerprint.state {
            WitnessState::Absent => payload.push(b"-"),
            WitnessState::Present => payload.push(b"+"),
            WitnessState::Read { mark, hash } => {
                payload.push(b"=");
                payload.push(mark);
                payload.push(hash);
            }
        }
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&Sha256::digest(&payload.0));
    bytes.extend_from_slice(&payload.0);
    Some(bytes)
}

/// Decodes a cache file; `None` if the file is incomplete or belongs to another key.
pub fn decode(key: &ImageKey, bytes: &[u8]) -> Option<Compiled> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (checksum, payload) = rest.split_at_checked(CHECKSUM)?;
    if Sha256::digest(payload).as_slice() != checksum {
        return None;
    }
    let mut payload = ByteReader(payload);
    if payload.next()? != key.0.as_bytes() {
        return None;
    }
    let (image, log) = (payload.next()?.to_vec(), payload.text()?);
    let lowered = (0..payload.count()?).map(|_| payload.text()).collect::<Option<_>>()?;
    let read = (0..payload.count()?).map(|_| fingerprint(&mut payload)).collect::<Option<_>>()?;
    Some(Compiled { image, log, lowered, read: Some(read) })
}

fn fingerprint(payload: &mut ByteReader<'_>) -> Option<FileFingerprint> {
    let path = path_of(payload.next()?)?;
    let state = match payload.next()? {
        b"-" => WitnessState::Absent,
        b"+" => WitnessState::Present,
        _ => WitnessState::Read { mark: payload.next()?.to_vec(), hash: payload.next()?.try_into().ok()? },
    };
    Some(FileFingerprint { path, state })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn cache_entry_roundtrips_and_corrupt_entry_is_rejected() {
        let state = |mark: &[u8]| WitnessState::Read { mark: mark.to_vec(), hash: [7; 32] };
        let states = [WitnessState::Absent, WitnessState::Present, state(b""), state(b"mark")];
        let read = states.into_iter().map(|state| FileFingerprint { path: "/a b".into(), state }).collect();
        let lowered = vec!["_Z1kv".into(), String::new()];
        let compiled = Compiled { image: vec![7; 100], log: "a warning".into(), lowered, read: Some(read) };
        let key = ImageKey::of([&b"a"[..]]);
        let good = encode(&key, &compiled).unwrap();
        assert_eq!(decode(&key, &good), Some(compiled.clone()));
        assert_eq!(decode(&ImageKey::of([&b"b"[..]]), &good), None, "of another key");
        for length in 0..good.len() {
            assert_eq!(decode(&key, &good[..length]), None);
        }
        for position in 0..good.len() {
            let mut flipped = good.clone();
            flipped[position] ^= 1;
            assert_eq!(decode(&key, &flipped), None);
        }
        assert_eq!(encode(&key, &Compiled { read: None, ..compiled }), None);
    }
}
