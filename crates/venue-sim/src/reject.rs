//! Reject reasons of the venue: a stable code and a sentence.

use std::fmt;

use domain::Text;
use domain::report::ReplaceKind;

use crate::book;
use crate::config::ICEBERG_PARTS_MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reject {
    Fault,
    Busy,
    IdTooLarge,
    WrongExchange,
    NotListed,
    NotTradeable,
    InstrumentExpired,
    Halted,
    Quantity,
    Price(&'static str),
    DateInThePast,
    NoSessionAhead,
    NoAuction(&'static str),
    OpeningOver,
    MarketClosed(&'static str),
    /// That kind of order cannot have that time in force.
    UnsupportedTif(&'static str),
    UnknownOrder,
    OrderDone,
    OrderInFlight,
    KindChanged,
    TifChanged,
    HasFills,
    /// The venue does not replace orders in this way.
    Replace(ReplaceKind),
    /// An order of that type and time in force cannot have this property.
    Property(&'static str),
    TooManyParts,
    Book(book::BookReject),
}

impl Reject {
    pub(crate) fn text(self) -> Text {
        self.to_string().into()
    }
}

impl From<book::BookReject> for Reject {
    fn from(refusal: book::BookReject) -> Self {
        Self::Book(refusal)
    }
}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fault => f.write_str("fault: rejected on purpose"),
            Self::Busy => f.write_str("busy: too many requests are underway"),
            Self::IdTooLarge => f.write_str("order-id: does not fit 63 bits"),
            Self::WrongExchange => f.write_str("exchange: this is another one"),
            Self::NotListed => f.write_str("security: not listed here"),
            Self::NotTradeable => f.write_str("security: not tradeable"),
            Self::InstrumentExpired => f.write_str("security: past its last trading day"),
            Self::Halted => f.write_str("halted: trading in the security is halted"),
            Self::Quantity => f.write_str("quantity: not a positive whole number of lots"),
            Self::Price(field) => write!(f, "{field}: not on a tick"),
            Self::DateInThePast => f.write_str("tif: the date has passed"),
            Self::NoSessionAhead => f.write_str("tif: no session is in sight"),
            Self::NoAuction(tif) => write!(f, "tif: no auction here for {tif}"),
            Self::OpeningOver => f.write_str("tif: the opening auction of the day is over"),
            Self::MarketClosed(what) => write!(f, "market-closed: {what} needs continuous trading"),
            Self::UnsupportedTif(tif) => write!(f, "tif: a stop cannot be {tif}"),
            Self::UnknownOrder => f.write_str("unknown-order"),
            Self::OrderDone => f.write_str("order-done: it is filled, canceled, expired or rejected"),
            Self::OrderInFlight => f.write_str("order-underway: it has not reached the book"),
            Self::KindChanged => f.write_str("type: a replace cannot change it"),
            Self::TifChanged => f.write_str("tif: a replace can change it among DAY, GTC and GTD only"),
            Self::HasFills => f.write_str("replace: an order with fills is not replaced"),
            Self::Replace(kind) => write!(f, "replace: {}", kind.refusal_text()),
            Self::TooManyParts => write!(f, "displayQuantity: shown in more than {ICEBERG_PARTS_MAX} parts"),
            Self::Property(name) => write!(f, "{name}: not possible for this order"),
            Self::Book(refusal) => write!(f, "{}: {refusal}", refusal.code()),
        }
    }
}
