//! When a process tells the server what it has taken: well before the server's window is full, and not for every parcel.

/// Parcels after which it is told; an eighth of the server's window.
const PARCELS: usize = 64;
/// Octets after which it is told; a quarter of the server's window.
const BYTES: usize = 64 * 1_024;

/// What was taken and not told yet.
#[derive(Debug, Default)]
pub(super) struct Taken {
    parcels: usize,
    bytes: usize,
}

impl Taken {
    /// One more was taken; says whether it is time to tell.
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
    fn it_is_told_after_many_small_parcels_or_a_few_large_ones() {
        let mut taken = Taken::default();
        let told = |taken: &mut Taken, bytes, parcels| (0..parcels).filter(|_| taken.is_due_with(bytes)).count();
        assert_eq!((told(&mut taken, 10, 63), told(&mut taken, 10, 1), told(&mut taken, 40_000, 4)), (0, 1, 2));
    }
}
