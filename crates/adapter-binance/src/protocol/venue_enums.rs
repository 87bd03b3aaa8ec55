//! Enumerations of the venue. It adds values several times a year, so each has a place for those that are not known.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer};

macro_rules! venue_enum {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum $name {
            $($variant,)*
            /// A value that was not documented when this was written.
            Other(String),
        }

        impl $name {
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)*
                    Self::Other(text) => text,
                }
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                match text {
                    $($text => Self::$variant,)*
                    other => Self::Other(other.to_owned()),
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Cow::<str>::deserialize(deserializer).map(|text| Self::from(&*text))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

venue_enum!(BinanceSide { Buy = "BUY", Sell = "SELL" });

venue_enum!(BinanceOrderType {
    Limit = "LIMIT",
    LimitMaker = "LIMIT_MAKER",
    Market = "MARKET",
    StopLoss = "STOP_LOSS",
    StopLossLimit = "STOP_LOSS_LIMIT",
    TakeProfit = "TAKE_PROFIT",
    TakeProfitLimit = "TAKE_PROFIT_LIMIT",
});

venue_enum!(BinanceTif { Gtc = "GTC", Ioc = "IOC", Fok = "FOK" });

venue_enum!(BinanceOrderStatus {
    New = "NEW",
    PendingNew = "PENDING_NEW",
    PartiallyFilled = "PARTIALLY_FILLED",
    Filled = "FILLED",
    Canceled = "CANCELED",
    PendingCancel = "PENDING_CANCEL",
    Rejected = "REJECTED",
    Expired = "EXPIRED",
    ExpiredInMatch = "EXPIRED_IN_MATCH",
});

venue_enum!(
    /// What an execution report is about.
    BinanceExecutionType {
        New = "NEW",
        Canceled = "CANCELED",
        Replaced = "REPLACED",
        Rejected = "REJECTED",
        Trade = "TRADE",
        Expired = "EXPIRED",
        TradePrevention = "TRADE_PREVENTION",
    }
);

venue_enum!(
    /// Self-trade prevention.
    BinanceStpMode {
        None = "NONE",
        ExpireTaker = "EXPIRE_TAKER",
        ExpireMaker = "EXPIRE_MAKER",
        ExpireBoth = "EXPIRE_BOTH",
        Decrement = "DECREMENT",
        Transfer = "TRANSFER",
    }
);

venue_enum!(BinanceSymbolStatus {
    Trading = "TRADING",
    EndOfDay = "END_OF_DAY",
    Halt = "HALT",
    Break = "BREAK",
    CancelOnly = "CANCEL_ONLY",
});

venue_enum!(
    /// The outcome of one half of a cancel-replace.
    BinanceLegResult { Success = "SUCCESS", Failure = "FAILURE", NotAttempted = "NOT_ATTEMPTED" }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_not_known_keeps_its_name() {
        let read = |text: &str| serde_json::from_str::<BinanceOrderStatus>(text).ok();
        assert_eq!(read("\"FILLED\""), Some(BinanceOrderStatus::Filled));
        assert_eq!(read("\"AUCTION_\\u0041\""), Some(BinanceOrderStatus::Other("AUCTION_A".to_owned())));
        assert_eq!(read("\"AUCTION_A\"").unwrap().to_string(), "AUCTION_A");
        assert_eq!([read("null"), read("7")], [None, None]);
    }
}
