//! Types of the order book: orders, events, outcomes, rejects.

use std::fmt;

/// Most orders one book holds, whatever its rules allow: slots are named by 32 bits.
pub const MAX_ORDERS: u32 = 1 << 28;

/// No owner: self-trade prevention ignores it.
pub const ANONYMOUS: u32 = 0;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BookSide {
    Buy,
    Sell,
}

impl BookSide {
    #[must_use]
    pub fn opposite(self) -> BookSide {
        match self {
            BookSide::Buy => BookSide::Sell,
            BookSide::Sell => BookSide::Buy,
        }
    }

    /// A number that is lower for the better price, so that both sides are walked alike. `!price` reverses the order
    /// without overflow and is its own inverse.
    pub(crate) fn rank(self, price: i64) -> i64 {
        match self {
            BookSide::Buy => !price,
            BookSide::Sell => price,
        }
    }

    pub(super) fn price(self, rank: i64) -> i64 {
        self.rank(rank)
    }
}

/// An order as it comes in, and as it rests in the book: then `lots` are those still open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookOrder {
    pub key: u64,
    pub side: BookSide,
    /// In ticks; none is a market order, which rests only in the call phase of an auction.
    pub limit: Option<i64>,
    pub lots: u64,
    pub owner: u32,
    /// None: all lots are shown.
    pub iceberg: Option<Iceberg>,
}

/// How much of an order is shown in the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iceberg {
    /// Shown now; the other lots are hidden.
    pub shown: u64,
    /// Shown again, at the end of the queue, when all that was shown has traded.
    pub peak: u64,
}

impl Iceberg {
    /// With all that it ever shows.
    pub(super) fn refreshed(self) -> Self {
        Iceberg { shown: self.peak, ..self }
    }
}

/// What happens to lots without a counterparty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchPolicy {
    Rest,
    /// As `Rest`, and the order is refused where any of it would trade at once.
    PostOnly,
    Immediate,
    /// As `Immediate`, where at least so many lots trade; otherwise none do.
    ImmediateAtLeast(u64),
    FillOrKill,
}

/// Result of an order. The lots are those that did not trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchOutcome {
    Filled,
    Resting { lots: u64 },
    Expired { lots: u64 },
    Prevented { lots: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BookEvent {
    Traded(BookTrade),
    /// A resting order was cancelled, because a newer order of its owner would have traded with it.
    Prevented {
        key: u64,
        lots: u64,
    },
}

/// In an auction there is no taker: there the seller is named as maker and the buyer as taker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookTrade {
    pub maker: u64,
    pub taker: u64,
    pub price: i64,
    pub lots: u64,
    pub maker_left: u64,
    pub taker_left: u64,
}

/// Which of two orders of one owner is cancelled when they would trade with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelfTradeRule {
    CancelNewest,
    CancelOldest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookRules {
    pub self_trade: SelfTradeRule,
    pub max_orders: u32,
}

impl Default for BookRules {
    fn default() -> Self {
        BookRules { self_trade: SelfTradeRule::CancelNewest, max_orders: MAX_ORDERS }
    }
}

/// All orders at one price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthLevel {
    pub price: i64,
    pub lots: u64,
    pub orders: u32,
}

/// Result of an auction held now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuctionIndication {
    pub price: i64,
    pub lots: u64,
    /// Lots executable at the price without a counterparty; one of the two is zero.
    pub buy_surplus: u64,
    pub sell_surplus: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BookReject {
    UnknownKey,
    DuplicateKey,
    NoLots,
    NoLimit,
    TooManyLots,
    BookFull,
    WouldTake,
}

impl BookReject {
    /// A stable code for logs and tables.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            BookReject::UnknownKey => "unknown-key",
            BookReject::DuplicateKey => "duplicate-key",
            BookReject::NoLots => "no-lots",
            BookReject::NoLimit => "no-limit",
            BookReject::TooManyLots => "too-many-lots",
            BookReject::BookFull => "book-full",
            BookReject::WouldTake => "would-take",
        }
    }
}

impl fmt::Display for BookReject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BookReject::UnknownKey => "key: no resting order has it",
            BookReject::DuplicateKey => "key: a resting order has it already",
            BookReject::NoLots => "lots: must be positive",
            BookReject::NoLimit => "limit: an order without a price cannot rest outside an auction",
            BookReject::TooManyLots => "lots: one side of the book would hold more than 64 bits count",
            BookReject::BookFull => "book: holds as many orders as its rules allow",
            BookReject::WouldTake => "a post-only order would trade at once",
        })
    }
}

impl std::error::Error for BookReject {}
