//! Candidates: the id by which a process leads. It says which member the process is and how long its lease is; the rest is new for each
//! process, so that none takes the record of its own earlier life for its own.
//!
//! ```text
//! member [8] · mark [2] · lease in milliseconds u16 · random [4]
//! ```
//!
//! It stands in the epoch record, in marks and in the file `replication`: a member that knows the leader knows its lease, whatever its own file says.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use ring::digest::{SHA256, digest};
use storage::replication::CandidateId;

use crate::exit_failure::ExitFailure;

/// Bytes that say which member it is.
pub(super) const MEMBER_BYTES: usize = 8;
/// Candidates of older builds have random bytes here, and say nothing of their lease.
const LEASE_MARK: [u8; 2] = *b"LE";
const LEASE_AT: usize = MEMBER_BYTES + LEASE_MARK.len();
const RANDOM_AT: usize = LEASE_AT + 2;
const RANDOM: &str = "/dev/urandom";

/// A takeover comes so much later than the end of the lease, for clocks that run at different speeds: a quarter.
const TAKEOVER_MARGIN_PART: u32 = 4;

pub(super) fn member_bytes(name: &str) -> [u8; MEMBER_BYTES] {
    let hash = digest(&SHA256, name.as_bytes());
    hash.as_ref().first_chunk().copied().unwrap_or_default()
}

/// `lease` is that of the cluster file, which has a minute at most.
pub(super) fn new_candidate(member: &str, lease: Duration) -> Result<CandidateId, ExitFailure> {
    let mut candidate = [0; 16];
    let lease = u16::try_from(lease.as_millis()).unwrap_or(u16::MAX);
    candidate[..MEMBER_BYTES].copy_from_slice(&member_bytes(member));
    candidate[MEMBER_BYTES..LEASE_AT].copy_from_slice(&LEASE_MARK);
    candidate[LEASE_AT..RANDOM_AT].copy_from_slice(&lease.to_le_bytes());
    let read = File::open(RANDOM).and_then(|mut file| file.read_exact(&mut candidate[RANDOM_AT..]));
    read.map_err(|error| ExitFailure::io("read", Path::new(RANDOM), &error))?;
    Ok(CandidateId(candidate))
}

/// None of a candidate of an older build.
pub(super) fn lease_of(CandidateId(bytes): CandidateId) -> Option<Duration> {
    let has_lease = bytes[MEMBER_BYTES..LEASE_AT] == LEASE_MARK;
    let millis = u16::from_le_bytes([bytes[LEASE_AT], bytes[LEASE_AT + 1]]);
    has_lease.then(|| Duration::from_millis(millis.into()))
}

/// Before this time without an entry, a leader with this lease may still send.
pub(super) fn takeover_min(lease: Duration) -> Duration {
    lease + lease / TAKEOVER_MARGIN_PART
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_says_which_member_it_is_and_how_long_its_lease_is() {
        let [one, other] = [(); 2].map(|()| new_candidate("a", Duration::from_mins(1)).unwrap());
        assert_ne!(one, other, "each process has one of its own");
        assert_eq!(one.0[..MEMBER_BYTES], member_bytes("a"));
        assert_eq!(lease_of(one), Some(Duration::from_mins(1)));
        assert_eq!(lease_of(CandidateId([7; 16])), None, "of an older build");
    }
}
