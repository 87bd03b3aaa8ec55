//! Acknowledgement policy: well before the server's window is full, and not for every envelope.

/// Envelopes per acknowledgement; an eighth of the server's window.
const PARCELS: usize = 64;
/// Octets per acknowledgement; a quarter of the server's window.
const BYTES: usize = 64 * 1_024;

/// What was received and not acknowledged yet.
#[derive(Debug, Default)]
pub(super) struct Taken {
    parcels: usize,
    bytes: usize,
}

impl Taken {
    /// One more was received; returns whether an acknowledgement is due.
    pub(super) fn is_due_with(&mut self, bytes: usize) -> bool {
        (self.parcels, self.bytes) = (self.parcels + 1, self.bytes + bytes);
        let is_due = self.parcels >= PARCELS || self.bytes >= BYTES;
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
        let mut taken = Taken::default();
        let told = |taken: &mut Taken, bytes, parcels| (0..parcels).filter(|_| taken.is_due_with(bytes)).count();
        assert_eq!((told(&mut taken, 10, 63), told(&mut taken, 10, 1), told(&mut taken, 40_000, 4)), (0, 1, 2));
    }
}
