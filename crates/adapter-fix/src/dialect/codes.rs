//! What ExecType (150) and OrdStatus (39) mean. The tables are those of the standard; a dialect may add to them.

/// What an Execution Report says has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecKind {
    PendingNew,
    New,
    Trade,
    /// The venue works on it and says no more.
    Pending,
    Canceled,
    Replaced,
    Expired,
    Rejected,
    /// The venue has changed the order by itself.
    Restated,
    Bust,
    Correct,
    Status,
}

impl ExecKind {
    pub(super) const WORDS: &[(&str, Self)] = &[
        ("pending-new", Self::PendingNew),
        ("new", Self::New),
        ("trade", Self::Trade),
        ("pending", Self::Pending),
        ("canceled", Self::Canceled),
        ("replaced", Self::Replaced),
        ("expired", Self::Expired),
        ("rejected", Self::Rejected),
        ("restated", Self::Restated),
        ("bust", Self::Bust),
        ("correct", Self::Correct),
        ("status", Self::Status),
    ];

    /// ExecTypes of the standard. 1 and 2 are those of FIX 4.2, which some later venues kept. Done for day (3) ends nothing: an
    /// order that is good till cancelled goes on tomorrow.
    pub(super) const STANDARD: &[(&str, Self)] = &[
        ("A", Self::PendingNew),
        ("0", Self::New),
        ("1", Self::Trade),
        ("2", Self::Trade),
        ("3", Self::Pending),
        ("4", Self::Canceled),
        ("5", Self::Replaced),
        ("6", Self::Pending),
        ("7", Self::Pending),
        ("8", Self::Rejected),
        ("9", Self::Pending),
        ("B", Self::Pending),
        ("C", Self::Expired),
        ("D", Self::Restated),
        ("E", Self::Pending),
    ];

    /// Those that came with FIX 4.3.
    pub(super) const SINCE_43: &[(&str, Self)] =
        &[("F", Self::Trade), ("G", Self::Correct), ("H", Self::Bust), ("I", Self::Status)];

    /// Whether the order itself begins, ends or has other terms: every execution before is reported by then.
    pub(crate) fn is_of_order(self) -> bool {
        matches!(self, Self::New | Self::Replaced | Self::Restated | Self::Canceled | Self::Expired)
    }
}

/// How an order stands at the venue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrdState {
    PendingNew,
    New,
    PartiallyFilled,
    Filled,
    /// A cancel or a replace is pending; fills go on.
    PendingRequest,
    /// Open; the status does not tell how much is filled.
    Working,
    /// Open, and nothing can happen to it today: LeavesQty (151) is 0 or what is left.
    DoneForDay,
    Canceled,
    Expired,
    Rejected,
}

impl OrdState {
    pub(super) const WORDS: &[(&str, Self)] = &[
        ("pending-new", Self::PendingNew),
        ("new", Self::New),
        ("partially-filled", Self::PartiallyFilled),
        ("filled", Self::Filled),
        ("pending-request", Self::PendingRequest),
        ("working", Self::Working),
        ("done-for-day", Self::DoneForDay),
        ("canceled", Self::Canceled),
        ("expired", Self::Expired),
        ("rejected", Self::Rejected),
    ];

    /// OrdStatuses of the standard. Replaced (5) is FIX 4.2's word for an order with new terms. Calculated (B) is done for the day too.
    pub(super) const STANDARD: &[(&str, Self)] = &[
        ("A", Self::PendingNew),
        ("0", Self::New),
        ("1", Self::PartiallyFilled),
        ("2", Self::Filled),
        ("3", Self::DoneForDay),
        ("4", Self::Canceled),
        ("5", Self::Working),
        ("6", Self::PendingRequest),
        ("7", Self::Working),
        ("8", Self::Rejected),
        ("9", Self::Working),
        ("B", Self::DoneForDay),
        ("C", Self::Expired),
        ("D", Self::Working),
        ("E", Self::PendingRequest),
    ];

    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, state)| *state == self).map_or("", |(word, _)| word)
    }

    /// Whether more can happen to the order.
    pub fn is_open(self) -> bool {
        !matches!(self, Self::Filled | Self::Canceled | Self::Expired | Self::Rejected)
    }
}
