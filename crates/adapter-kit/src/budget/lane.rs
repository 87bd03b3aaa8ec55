//! Request lanes: which request goes first, and how much of the venue's rate limit each may use.

use std::fmt;

/// What a request is for. The order of the variants is the order of priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestLane {
    Cancel,
    Submit,
    Replace,
    /// One order is in doubt.
    Inquiry,
    Fills,
    /// Balances and positions.
    Statement,
    Listing,
    /// Snapshot of an order book.
    Depth,
}

impl RequestLane {
    pub const ALL: [Self; 8] = [
        Self::Cancel,
        Self::Submit,
        Self::Replace,
        Self::Inquiry,
        Self::Fills,
        Self::Statement,
        Self::Listing,
        Self::Depth,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Submit => "submit",
            Self::Replace => "replace",
            Self::Inquiry => "inquiry",
            Self::Fills => "fills",
            Self::Statement => "statement",
            Self::Listing => "listing",
            Self::Depth => "depth",
        }
    }

    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for RequestLane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Up to which part of a limit each lane may go, in percent. What a lane may not use is the reserve of those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneShares([u32; RequestLane::ALL.len()]);

impl LaneShares {
    /// For limits that cancels do not count against: no reserve.
    pub const WHOLE: Self = Self([100; RequestLane::ALL.len()]);

    /// A tenth is kept for cancels alone.
    pub const STANDARD: Self = Self([100, 90, 85, 80, 70, 60, 50, 40]);

    /// Percentages by lane, in the order of priority; `None` where one is above 100 or above that of an earlier lane.
    pub fn new(percent: [u32; RequestLane::ALL.len()]) -> Option<Self> {
        let falls = percent.windows(2).all(|pair| pair[0] >= pair[1]);
        (falls && percent[0] <= 100).then_some(Self(percent))
    }

    /// The use of a limit that the lane may cause.
    pub(crate) fn ceiling(self, lane: RequestLane, limit: u32) -> u64 {
        u64::from(limit) * u64::from(self.0[lane.index()]) / 100
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_lane_never_gets_more_than_an_earlier_one() {
        assert_eq!(LaneShares::new([100, 90, 90, 80, 80, 80, 80, 1]).map(|shares| shares.0[7]), Some(1));
        assert_eq!(LaneShares::new([100, 90, 91, 80, 80, 80, 80, 1]), None);
        assert_eq!(LaneShares::new([101, 90, 90, 80, 80, 80, 80, 1]), None);
        let ceilings = RequestLane::ALL.map(|lane| LaneShares::STANDARD.ceiling(lane, 6_000));
        assert_eq!(ceilings, [6_000, 5_400, 5_100, 4_800, 4_200, 3_600, 3_000, 2_400]);
    }
}
