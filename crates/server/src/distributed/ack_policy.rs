//! Acknowledgement policy: well before the server's window is full, and not for every envelope.

/// Envelopes per acknowledgement; an eighth of the server's window.
const ACK_ENVELOPES: usize = 64;
/// Octets per acknowledgement; a quarter of the server's window.
const ACK_BYTES: usize = 64 * 1_024;

/// What was received and not acknowledged yet.
#[derive(Debug, Default)]
pub(super) struct AckPolicy {
    envelopes: usize,
    bytes: usize,
}

impl AckPolicy {
    /// One more was received; returns whether an acknowledgement is due.
    pub(super) fn is_ack_due(&mut self, bytes: usize) -> bool {
        (self.envelopes, self.bytes) = (self.envelopes + 1, self.bytes + bytes);
        let is_due = self.envelopes >= ACK_ENVELOPES || self.bytes >= ACK_BYTES;
        if is_due {
            *self = Self::default();
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_acknowledgement_is_due_after_many_small_envelopes_or_a_few_large_ones() {
        let mut taken = AckPolicy::default();
        let told = |taken: &mut AckPolicy, bytes, parcels| (0..parcels).filter(|_| taken.is_ack_due(bytes)).count();
        assert_eq!((told(&mut taken, 10, 63), told(&mut taken, 10, 1), told(&mut taken, 40_000, 4)), (0, 1, 2));
    }
}
