//! Binance's FIX 4.4: order entry, drop copy and market data. Each connection is a session that begins at 1; there are no resends.

mod connection;
mod link;
mod logon;
mod market_data;
mod registry;
mod reject;
mod reports;
mod requests;

use std::sync::Arc;

use super::BinanceState;
pub(crate) use connection::serve;
pub(crate) use registry::CompIds;

/// Our CompID, as clients must name it.
const VENUE: &str = "SPOT";

/// What a port is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FixService {
    OrderEntry,
    DropCopy,
    MarketData,
}

/// So many in so many seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Quota {
    count: usize,
    seconds: i64,
}

impl FixService {
    pub(crate) const ALL: [Self; 3] = [Self::OrderEntry, Self::DropCopy, Self::MarketData];

    /// The name of its address in the ready line.
    pub(crate) fn face(self) -> &'static str {
        match self {
            Self::OrderEntry => "binanceFixOrderEntry",
            Self::DropCopy => "binanceFixDropCopy",
            Self::MarketData => "binanceFixMarketData",
        }
    }

    /// Messages of a client on one connection; with more it is logged out.
    fn messages(self) -> Quota {
        match self {
            Self::OrderEntry => Quota { count: 10_000, seconds: 10 },
            Self::DropCopy => Quota { count: 60, seconds: 60 },
            Self::MarketData => Quota { count: 2_000, seconds: 60 },
        }
    }

    /// Attempts to connect of an account.
    fn attempts(self) -> Quota {
        match self {
            Self::OrderEntry | Self::DropCopy => Quota { count: 15, seconds: 30 },
            Self::MarketData => Quota { count: 300, seconds: 300 },
        }
    }

    /// Connections of an account at the same time.
    fn connections_max(self) -> usize {
        match self {
            Self::OrderEntry | Self::DropCopy => 10,
            Self::MarketData => 100,
        }
    }
}

/// What the connections of all three services share.
#[derive(Clone)]
pub(crate) struct BinanceFixState {
    pub(crate) api: Arc<BinanceState>,
    pub(crate) comp_ids: Arc<CompIds>,
    /// Every symbol and its market.
    pub(crate) markets: Arc<std::collections::BTreeMap<String, usize>>,
}
