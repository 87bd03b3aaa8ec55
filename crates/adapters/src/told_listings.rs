//! What the engine was told of a venue's listings, so that only changes are told.

use std::collections::BTreeMap;

use domain::SecurityId;
use domain::report::{ReportKind, VenueListing};

/// Kept as long as the adapter lives: what changes while nobody is connected is told after the next log-on.
#[derive(Debug, Clone, Default)]
pub struct ToldListings(BTreeMap<SecurityId, VenueListing>);

impl ToldListings {
    /// The reports to deliver now, one for each listing that is not as it was told.
    pub fn changes(&mut self, now: impl IntoIterator<Item = (SecurityId, VenueListing)>) -> Vec<ReportKind> {
        let now = now.into_iter();
        let changed = now.filter(|(security, listing)| self.0.insert(*security, *listing) != Some(*listing));
        changed.map(|(security, listing)| ReportKind::Listed { security, listing }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::report::ListingStatus;

    #[test]
    fn a_listing_is_told_when_it_changes_and_not_again() {
        let mut told = ToldListings::default();
        let trading = VenueListing::new(ListingStatus::Trading);
        let finer = VenueListing { tick: Some("0.010".parse().unwrap()), ..trading };
        let same = VenueListing { tick: Some("0.01".parse().unwrap()), ..trading };
        let mut tell = |listings: &[(u64, VenueListing)]| -> Vec<_> {
            let now = listings.iter().map(|(security, listing)| (SecurityId(*security), *listing));
            told.changes(now)
                .into_iter()
                .map(|said| matches!(said, ReportKind::Listed { security, .. } if security.0 == 1))
                .collect()
        };
        assert_eq!(tell(&[(1, trading), (2, trading)]), [true, false]);
        assert_eq!(tell(&[(1, finer), (2, trading)]), [true]);
        assert_eq!(tell(&[(1, same), (2, trading)]), [false; 0], "the same number in other digits is no change");
        assert_eq!(tell(&[]), [false; 0], "what is not listed now is no change: it is told as unlisted");
    }
}
