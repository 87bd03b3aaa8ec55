//! Orders of the spot exchange, with the names that the venue's documentation gives to their fields and values.

use minicbor::{Decode, Encode};
use venue_sim::book::BookSide;

use super::units::Units;

/// A value with a name on the wire.
pub(crate) trait WireName: Sized + Copy + 'static {
    const ALL: &'static [(Self, &'static str)];

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, name)| *name == text).map(|(value, _)| *value)
    }
}

macro_rules! wire_names {
    ($(#[$meta:meta])* $name:ident { $($n:literal $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
        pub(crate) enum $name {
            $(#[n($n)] $variant),+
        }

        impl WireName for $name {
            const ALL: &'static [(Self, &'static str)] = &[$((Self::$variant, $text)),+];
        }

        impl $name {
            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text),+
                }
            }
        }
    };
}

wire_names!(SpotSide { 0 Buy = "BUY", 1 Sell = "SELL" });

wire_names!(SpotOrderType {
    0 Limit = "LIMIT",
    1 Market = "MARKET",
    2 StopLoss = "STOP_LOSS",
    3 StopLossLimit = "STOP_LOSS_LIMIT",
    4 TakeProfit = "TAKE_PROFIT",
    5 TakeProfitLimit = "TAKE_PROFIT_LIMIT",
    6 LimitMaker = "LIMIT_MAKER",
});

wire_names!(SpotTimeInForce { 0 Gtc = "GTC", 1 Ioc = "IOC", 2 Fok = "FOK" });

wire_names!(SpotStatus {
    0 New = "NEW",
    1 PartiallyFilled = "PARTIALLY_FILLED",
    2 Filled = "FILLED",
    3 Canceled = "CANCELED",
    4 Expired = "EXPIRED",
    5 ExpiredInMatch = "EXPIRED_IN_MATCH",
});

wire_names!(
    /// Self-trade prevention: the mode of the incoming order counts.
    PreventionMode {
        0 None = "NONE",
        1 ExpireTaker = "EXPIRE_TAKER",
        2 ExpireMaker = "EXPIRE_MAKER",
        3 ExpireBoth = "EXPIRE_BOTH",
        4 Decrement = "DECREMENT",
    }
);

/// Which orders a cancel may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(crate) enum CancelRestriction {
    #[n(0)]
    OnlyNew,
    #[n(1)]
    OnlyPartiallyFilled,
}

impl WireName for CancelRestriction {
    const ALL: &'static [(Self, &'static str)] =
        &[(Self::OnlyNew, "ONLY_NEW"), (Self::OnlyPartiallyFilled, "ONLY_PARTIALLY_FILLED")];
}

impl SpotSide {
    pub(crate) fn book(self) -> BookSide {
        match self {
            Self::Buy => BookSide::Buy,
            Self::Sell => BookSide::Sell,
        }
    }
}

impl SpotOrderType {
    pub(crate) fn is_triggered(self) -> bool {
        matches!(self, Self::StopLoss | Self::StopLossLimit | Self::TakeProfit | Self::TakeProfitLimit)
    }

    pub(crate) fn has_limit(self) -> bool {
        matches!(self, Self::Limit | Self::LimitMaker | Self::StopLossLimit | Self::TakeProfitLimit)
    }

    /// Whether a rising price triggers it; none where no price does.
    pub(crate) fn triggers_upwards(self, side: SpotSide) -> Option<bool> {
        match self {
            Self::StopLoss | Self::StopLossLimit => Some(side == SpotSide::Buy),
            Self::TakeProfit | Self::TakeProfitLimit => Some(side == SpotSide::Sell),
            Self::Limit | Self::Market | Self::LimitMaker => None,
        }
    }
}

impl SpotStatus {
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::New | Self::PartiallyFilled)
    }
}

/// An account by its place in the configuration.
pub(crate) type AccountIndex = u32;

/// A request for a new order, read but not yet checked against the state of the exchange.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct NewSpotOrder {
    #[n(0)]
    pub(crate) account: AccountIndex,
    #[n(1)]
    pub(crate) symbol: String,
    #[n(2)]
    pub(crate) side: SpotSide,
    #[n(3)]
    pub(crate) kind: SpotOrderType,
    #[n(4)]
    pub(crate) time_in_force: SpotTimeInForce,
    #[n(5)]
    pub(crate) quantity: Option<Units>,
    #[n(6)]
    pub(crate) quote_quantity: Option<Units>,
    #[n(7)]
    pub(crate) price: Option<Units>,
    #[n(8)]
    pub(crate) stop_price: Option<Units>,
    #[n(9)]
    pub(crate) client_id: Option<String>,
    #[n(10)]
    pub(crate) prevention: PreventionMode,
    #[n(11)]
    pub(crate) strategy_id: Option<i64>,
    #[n(12)]
    pub(crate) strategy_type: Option<i32>,
    /// The client's id must never have been used before; otherwise it is free again once its order has ended.
    #[n(13)]
    #[cbor(default)]
    pub(crate) has_unique_id: bool,
}

/// An order as the exchange has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SpotOrder {
    pub(crate) id: u64,
    pub(crate) account: AccountIndex,
    pub(crate) symbol: String,
    pub(crate) client_id: String,
    pub(crate) side: SpotSide,
    pub(crate) kind: SpotOrderType,
    pub(crate) time_in_force: SpotTimeInForce,
    pub(crate) price: Units,
    pub(crate) quantity: Units,
    /// What was asked for in the quote asset; zero where it was asked for in the base asset.
    pub(crate) quote_quantity: Units,
    pub(crate) stop_price: Option<Units>,
    pub(crate) prevention: PreventionMode,
    pub(crate) strategy_id: Option<i64>,
    pub(crate) strategy_type: Option<i32>,
    pub(crate) executed: Units,
    pub(crate) cumulative_quote: Units,
    pub(crate) status: SpotStatus,
    /// What is still reserved for it: of the quote asset for a buy, of the base asset for a sell.
    pub(crate) locked: Units,
    pub(crate) prevented: Units,
    pub(crate) prevented_match: Option<u64>,
    pub(crate) time_micros: i64,
    pub(crate) update_micros: i64,
    /// When it reached the book; none for a stop that was not triggered.
    pub(crate) working_micros: Option<i64>,
    pub(crate) amendments: Vec<Amendment>,
}

/// A reduction of the quantity that kept the queue position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Amendment {
    pub(crate) execution_id: u64,
    pub(crate) old_client_id: String,
    pub(crate) new_client_id: String,
    pub(crate) old_quantity: Units,
    pub(crate) new_quantity: Units,
    pub(crate) time_micros: i64,
}

impl SpotOrder {
    pub(crate) fn open_quantity(&self) -> Units {
        Units(self.quantity.0 - self.executed.0 - self.prevented.0)
    }
}

/// A trade as one of its accounts sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AccountTrade {
    pub(crate) account: AccountIndex,
    pub(crate) symbol: String,
    pub(crate) trade_id: u64,
    /// Of the report of it.
    pub(crate) execution_id: u64,
    pub(crate) order_id: u64,
    pub(crate) price: Units,
    pub(crate) quantity: Units,
    pub(crate) quote: Units,
    pub(crate) commission: Units,
    pub(crate) commission_asset: String,
    pub(crate) is_buyer: bool,
    pub(crate) is_maker: bool,
    pub(crate) time_micros: i64,
}

/// A trade as everyone sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PublicTrade {
    pub(crate) id: u64,
    /// Trades of one order at one price and time share it.
    pub(crate) aggregate_id: u64,
    pub(crate) price: Units,
    pub(crate) quantity: Units,
    pub(crate) quote: Units,
    pub(crate) buyer_is_maker: bool,
    pub(crate) time_micros: i64,
}

/// Two orders of one account that would have traded with each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PreventedMatch {
    pub(crate) id: u64,
    pub(crate) account: AccountIndex,
    pub(crate) taker: u64,
    pub(crate) maker: u64,
    pub(crate) mode: PreventionMode,
    pub(crate) price: Units,
    pub(crate) maker_quantity: Units,
    pub(crate) time_micros: i64,
}
