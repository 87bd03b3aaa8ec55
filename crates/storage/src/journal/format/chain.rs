//! The identity of a journal and the hashes that link its frames.

use std::fmt;
use std::str::FromStr;

/// The hash of a frame, contained in the next one: no frame can be changed, dropped or inserted without notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainHash(pub [u8; 32]);

impl ChainHash {
    /// What the first segment of a journal continues from.
    pub(crate) const GENESIS: Self = Self([0; 32]);

    pub(crate) fn compute(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
}

/// A frame that is known from elsewhere: its last sequence and its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainAnchor {
    pub sequence: u64,
    pub hash: ChainHash,
}

impl ChainAnchor {
    /// Before the first frame of a journal.
    pub const START: Self = Self { sequence: 0, hash: ChainHash::GENESIS };
}

/// Which journal a segment belongs to; random, given once by the owner of a new data folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstanceId(pub [u8; 16]);

impl fmt::Display for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

impl FromStr for ChainHash {
    type Err = InvalidHash;

    fn from_str(text: &str) -> Result<Self, InvalidHash> {
        blake3::Hash::from_hex(text).map(|hash| Self(*hash.as_bytes())).map_err(|_| InvalidHash)
    }
}

/// A text that is not 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidHash;

fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}
