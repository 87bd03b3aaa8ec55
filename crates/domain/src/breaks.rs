//! Breaks: differences between us and a venue, with both sides' values and evidence.

use std::fmt;
use std::str::FromStr;

use minicbor::{Decode, Encode};

use crate::amount::currency::Currency;
use crate::amount::{Amount, Quantity};
use crate::ids::{AccountId, AdapterName, IntId, OrderId, SecurityId, Text};
use crate::report::VenueFill;
use crate::time::Timestamp;

/// Written as `B17`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
#[cbor(transparent)]
pub struct BreakId(#[n(0)] pub u64);

/// The text is not the id of a break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidBreakId;

impl fmt::Display for BreakId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "B{}", self.0)
    }
}

impl FromStr for BreakId {
    type Err = InvalidBreakId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix('B').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        digits.and_then(|digits| digits.parse().ok()).map(Self).ok_or(InvalidBreakId)
    }
}

/// What differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum BreakKind {
    /// Whether an order is open.
    #[n(0)]
    Order,
    /// Price, quantity or another term of an open order.
    #[n(1)]
    Terms,
    /// Price or quantity of an execution, or whether it is booked.
    #[n(2)]
    Fill,
    /// What an execution costs.
    #[n(3)]
    Fee,
    /// The total of an asset.
    #[n(4)]
    Cash,
    /// The quantity of a position.
    #[n(5)]
    Position,
    /// An order that is not known here.
    #[n(6)]
    External,
}

impl BreakKind {
    /// All kinds.
    pub const ALL: [Self; 7] =
        [Self::Order, Self::Terms, Self::Fill, Self::Fee, Self::Cash, Self::Position, Self::External];

    /// As clients see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Order => "ORDER",
            Self::Terms => "TERMS",
            Self::Fill => "FILL",
            Self::Fee => "FEE",
            Self::Cash => "CASH",
            Self::Position => "POSITION",
            Self::External => "EXTERNAL",
        }
    }
}

/// What has become of a break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum BreakState {
    /// Nobody has settled it.
    #[n(0)]
    Open,
    /// Somebody knows why, or both sides agree again.
    #[n(1)]
    Explained,
    /// Our books follow the venue's, or the venue was told.
    #[n(2)]
    Repaired,
    /// It stays as it is.
    #[n(3)]
    Accepted,
}

impl BreakState {
    /// All states.
    pub const ALL: [Self; 4] = [Self::Open, Self::Explained, Self::Repaired, Self::Accepted];

    /// As clients see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "OPEN",
            Self::Explained => "EXPLAINED",
            Self::Repaired => "REPAIRED",
            Self::Accepted => "ACCEPTED",
        }
    }

    /// The only way in which a break changes its state; `None` where the table has no such step.
    pub fn after(self, step: BreakStep) -> Option<Self> {
        match (self, step) {
            (Self::Open, BreakStep::Explain | BreakStep::Agree) => Some(Self::Explained),
            (Self::Open | Self::Explained, BreakStep::Repair) => Some(Self::Repaired),
            (Self::Open | Self::Explained, BreakStep::Accept) => Some(Self::Accepted),
            (Self::Explained | Self::Repaired | Self::Accepted, _) => None,
        }
    }
}

/// What is done with a break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum BreakStep {
    /// A person says why.
    #[n(0)]
    Explain,
    /// A person says that it may stay.
    #[n(1)]
    Accept,
    /// The venue's side is taken over, or the venue is told.
    #[n(2)]
    Repair,
    /// Both sides agree again.
    #[n(3)]
    Agree,
}

impl BreakStep {
    /// All steps.
    pub const ALL: [Self; 4] = [Self::Explain, Self::Accept, Self::Repair, Self::Agree];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Explain => "explain",
            Self::Accept => "accept",
            Self::Repair => "repair",
            Self::Agree => "both sides agree",
        }
    }
}

/// A person settles a break.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct SettleBreak {
    /// The break.
    #[n(0)]
    pub id: BreakId,
    /// What is done with it.
    #[n(1)]
    pub step: BreakStep,
    /// Why.
    #[n(2)]
    pub comment: Text,
}

/// The values of one side, by name; the same names on both sides where both have one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
#[cbor(transparent)]
pub struct BreakSide(#[n(0)] pub Vec<(Text, Text)>);

impl BreakSide {
    /// From names and values.
    pub fn new<const N: usize>(values: [(&str, String); N]) -> Self {
        Self(values.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// The report that showed the difference.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct BreakEvidence {
    /// What the venue said.
    #[n(0)]
    pub report: Text,
    /// Of the report, in the journal.
    #[n(1)]
    pub sequence: u64,
    /// Of the report as it is in the journal.
    #[n(2)]
    pub hash: Text,
}

/// What a repair does.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum BreakRepair {
    /// The venue is asked to cancel the order.
    #[n(0)]
    CancelAtVenue,
    /// The order ends here.
    #[n(1)]
    EndHere,
    /// The fill is booked as the venue has it.
    #[n(2)]
    CorrectFill(#[n(0)] Box<VenueFill>),
    /// The difference of the costs is booked.
    #[n(3)]
    BookFee {
        /// Theirs less ours.
        #[n(0)]
        amount: Amount,
        /// Of the amount.
        #[n(1)]
        currency: Currency,
        /// The venue's id of the execution.
        #[n(2)]
        exec_id: Text,
    },
    /// The difference of the cash is booked as a correction.
    #[n(4)]
    BookCash {
        /// Theirs less ours.
        #[n(0)]
        amount: Amount,
        /// Of the amount.
        #[n(1)]
        currency: Currency,
    },
    /// The difference of the position is booked as a correction, without cash.
    #[n(5)]
    BookPosition {
        /// Theirs less ours.
        #[n(0)]
        quantity: Quantity,
        /// What is held.
        #[n(1)]
        security: SecurityId,
    },
}

impl fmt::Display for BreakRepair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CancelAtVenue => f.write_str("asks the venue to cancel the order"),
            Self::EndHere => f.write_str("ends the order here as CANCELED"),
            Self::CorrectFill(fill) => {
                write!(f, "undoes execution {} and books {} @ {}", fill.exec_id, fill.quantity, fill.price)
            }
            Self::BookFee { amount, currency, exec_id } => {
                write!(f, "books {amount} {currency} of fees for execution {exec_id}")
            }
            Self::BookCash { amount, currency } => write!(f, "books a correction of {amount} {currency}"),
            Self::BookPosition { quantity, security } => {
                write!(f, "books a correction of {quantity} of security {security}, without cash")
            }
        }
    }
}

/// A difference, and what has become of it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Break {
    /// Its id.
    #[n(0)]
    pub id: BreakId,
    /// Whether it is settled, and how.
    #[n(1)]
    pub state: BreakState,
    /// What differs.
    #[n(2)]
    pub difference: Difference,
    /// What showed it.
    #[n(3)]
    pub evidence: BreakEvidence,
    /// When it was found.
    #[n(4)]
    pub since: Timestamp,
    /// When its values or its state changed last.
    #[n(5)]
    pub changed_at: Timestamp,
    /// Absent where nobody did it.
    #[n(6)]
    pub changed_by: Option<Text>,
    /// What whoever settled it said.
    #[n(7)]
    pub comment: Option<Text>,
}

/// What differs, and by how much.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Difference {
    /// What is compared.
    #[n(0)]
    pub kind: BreakKind,
    /// The adapter of the venue.
    #[n(1)]
    pub adapter: AdapterName,
    /// The account, where one is known.
    #[n(2)]
    pub account: Option<AccountId>,
    /// The security, where it is about one.
    #[n(3)]
    pub security: Option<SecurityId>,
    /// Our number of the order.
    #[n(4)]
    pub order: Option<OrderId>,
    /// Our id of the order.
    #[n(5)]
    pub int_order_id: Option<IntId>,
    /// The venue's id of the order.
    #[n(6)]
    pub ext_order_id: Option<Text>,
    /// The venue's id of the execution.
    #[n(7)]
    pub exec_id: Option<Text>,
    /// The currency of what differs.
    #[n(8)]
    pub currency: Option<Currency>,
    /// Absent where we have nothing.
    #[n(9)]
    pub ours: Option<BreakSide>,
    /// Absent where the venue has nothing.
    #[n(10)]
    pub theirs: Option<BreakSide>,
    /// Theirs less ours.
    #[n(11)]
    pub amount: Option<Amount>,
    /// What it is worth in base currency, without a sign.
    #[n(12)]
    pub value: Option<Amount>,
    /// Absent where only a person can repair it.
    #[n(13)]
    pub repair: Option<BreakRepair>,
}

impl Difference {
    /// A difference without values yet.
    pub fn new(kind: BreakKind, adapter: &AdapterName) -> Self {
        Self {
            kind,
            adapter: adapter.clone(),
            account: None,
            security: None,
            order: None,
            int_order_id: None,
            ext_order_id: None,
            exec_id: None,
            currency: None,
            ours: None,
            theirs: None,
            amount: None,
            value: None,
            repair: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_breaks_has_the_table() {
        let row = |state: BreakState, step: BreakStep| {
            let next = state.after(step).map_or("–", BreakState::name);
            format!("| {} | {} | {next} |", state.name(), step.name())
        };
        let table = BreakState::ALL.iter().flat_map(|state| BreakStep::ALL.map(|step| row(*state, step)));
        let page = include_str!("../../../docs/breaks.md").lines();
        let rows = page.skip_while(|line| *line != "| State | Step | Next state |").skip(2);
        let rows: Vec<_> = rows.take_while(|line| line.starts_with('|')).collect();
        assert_eq!(rows, table.collect::<Vec<_>>(), "docs/breaks.md has another table than breaks.rs");
    }

    #[test]
    fn a_break_goes_its_way_once() {
        let way = |state: BreakState| {
            let after = |step: &BreakStep| state.after(*step).map(|next| format!("{} {}", step.name(), next.name()));
            format!("{}: {}", state.name(), BreakStep::ALL.iter().filter_map(after).collect::<Vec<_>>().join(", "))
        };
        let ways = BreakState::ALL.map(way);
        let expected = [
            "OPEN: explain EXPLAINED, accept ACCEPTED, repair REPAIRED, both sides agree EXPLAINED",
            "EXPLAINED: accept ACCEPTED, repair REPAIRED",
            "REPAIRED: ",
            "ACCEPTED: ",
        ];
        assert_eq!(ways, expected);
    }

    #[test]
    fn the_id_of_a_break_is_read_as_it_is_written() {
        assert_eq!((BreakId(17).to_string().parse(), BreakId(17).to_string().as_str()), (Ok(BreakId(17)), "B17"));
        for other in ["", "B", "17", "b17", "B-1", "B+1", "B17 ", "B99999999999999999999"] {
            assert_eq!(other.parse::<BreakId>(), Err(InvalidBreakId), "{other}");
        }
    }
}
