//! Request lanes: which request goes first, and how much of the venue's rate limit each may use.

use std::fmt;

/// What a request is for. The order of the variants is the order of priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestLane {
    Cancel,
    Submit,
    Replace,
    /// What no session can do without: its log-on with what the venue shows then, and the venue's clock.
    Session,
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
    pub const ALL: [Self; 9] = [
        Self::Cancel,
        Self::Submit,
        Self::Replace,
        Self::Session,
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
            Self::Session => "session",
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

/// Up to which part of a limit each lane may go, in percent. What a lane may not use is the reserve of those before it. Lanes with a
/// fair share of their own cannot keep each other waiting without an end; see [`super::fair_share`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneShares {
    ceilings: [u32; RequestLane::ALL.len()],
    /// Nothing for lanes that take part by their ceiling alone.
    fair: [u32; RequestLane::ALL.len()],
}

const NO_FAIR_SHARES: [u32; RequestLane::ALL.len()] = [0; RequestLane::ALL.len()];

impl LaneShares {
    /// For limits that cancels do not count against: no reserve.
    pub const WHOLE: Self = Self { ceilings: [100; RequestLane::ALL.len()], fair: NO_FAIR_SHARES };

    /// A tenth is kept for cancels alone. Inquiries, lists and books share what fills may use at most; above it inquiries have another tenth.
    pub const STANDARD: Self =
        Self { ceilings: [100, 90, 85, 85, 80, 70, 60, 50, 40], fair: [0, 0, 0, 0, 10, 20, 5, 5, 30] };

    /// Percentages by lane, in the order of priority; `None` where one is above 100 or above that of an earlier lane. No lane has
    /// a fair share.
    pub fn new(percent: [u32; RequestLane::ALL.len()]) -> Option<Self> {
        let falls = percent.windows(2).all(|pair| pair[0] >= pair[1]);
        (falls && percent[0] <= 100).then_some(Self { ceilings: percent, fair: NO_FAIR_SHARES })
    }

    /// The use of a limit that the lane may cause.
    pub(crate) fn ceiling(self, lane: RequestLane, limit: u32) -> u64 {
        u64::from(limit) * u64::from(self.ceilings[lane.index()]) / 100
    }

    /// What the lane may use of a limit whichever other lanes wait; zero for lanes without a share of their own.
    pub(crate) fn fair_share(self, lane: RequestLane, limit: u32) -> u64 {
        u64::from(limit) * u64::from(self.fair[lane.index()]) / 100
    }

    /// The use of a limit up to which each lane may have its fair share.
    pub(crate) fn fair_ceiling(self, limit: u32) -> u64 {
        u64::from(limit) * u64::from(self.fair.iter().sum::<u32>()) / 100
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_lane_never_gets_more_than_an_earlier_one() {
        assert_eq!(LaneShares::new([100, 90, 90, 90, 80, 80, 80, 80, 1]).map(|shares| shares.ceilings[8]), Some(1));
        assert_eq!(LaneShares::new([100, 90, 91, 80, 80, 80, 80, 80, 1]), None);
        assert_eq!(LaneShares::new([101, 90, 90, 90, 80, 80, 80, 80, 1]), None);
        let ceilings = RequestLane::ALL.map(|lane| LaneShares::STANDARD.ceiling(lane, 6_000));
        assert_eq!(ceilings, [6_000, 5_400, 5_100, 5_100, 4_800, 4_200, 3_600, 3_000, 2_400]);
        let fills = LaneShares::STANDARD.ceiling(RequestLane::Fills, 6_000);
        assert_eq!(LaneShares::STANDARD.fair_ceiling(6_000), fills, "shares fill what fills may use at most");
    }
}
