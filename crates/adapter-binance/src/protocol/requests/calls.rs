//! Calls of the venue: their names over both ways, whether they are signed, and what they weigh.

/// What is asked of the venue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BinanceCall {
    Time,
    ExchangeInfo,
    Depth,
    Klines,
    Place,
    PlaceTest,
    Cancel,
    CancelReplace,
    Amend,
    OrderStatus,
    OpenOrders,
    AllOrders,
    MyTrades,
    Account,
    OrderCount,
    KeyRestrictions,
    LogOn,
    SubscribeUser,
    SubscribeUserSigned,
    Tickers,
}

/// Whether a call needs an API key and a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallSecurity {
    Public,
    Signed,
    /// By the session that was logged on.
    Session,
}

/// Weight of a request; some weigh more without a symbol, without an order, or by their limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallWeight {
    Fixed(u32),
    /// With the narrowing parameter, and without.
    Narrowed(u32, u32),
    ByDepth,
}

/// A row of the table.
struct CallRow {
    call: BinanceCall,
    /// Method and path; absent where REST does not have it.
    rest: Option<(&'static str, &'static str)>,
    /// Method of the WebSocket API.
    socket: &'static str,
    security: CallSecurity,
    weight: CallWeight,
    /// How many orders it adds to the count of unfilled orders.
    orders: u32,
}

const fn row(
    call: BinanceCall,
    rest: Option<(&'static str, &'static str)>,
    socket: &'static str,
    security: CallSecurity,
    weight: CallWeight,
    orders: u32,
) -> CallRow {
    CallRow { call, rest, socket, security, weight, orders }
}

const TABLE: [CallRow; 20] = {
    use BinanceCall as C;
    use CallSecurity::{Public, Session, Signed};
    use CallWeight::{ByDepth, Fixed, Narrowed};
    [
        row(C::Time, Some(("GET", "/api/v3/time")), "time", Public, Fixed(1), 0),
        row(C::ExchangeInfo, Some(("GET", "/api/v3/exchangeInfo")), "exchangeInfo", Public, Fixed(20), 0),
        row(C::Depth, Some(("GET", "/api/v3/depth")), "depth", Public, ByDepth, 0),
        row(C::Klines, Some(("GET", "/api/v3/klines")), "klines", Public, Fixed(2), 0),
        row(C::Place, Some(("POST", "/api/v3/order")), "order.place", Signed, Fixed(1), 1),
        row(C::PlaceTest, Some(("POST", "/api/v3/order/test")), "order.test", Signed, Fixed(1), 0),
        row(C::Cancel, Some(("DELETE", "/api/v3/order")), "order.cancel", Signed, Fixed(1), 0),
        row(
            C::CancelReplace,
            Some(("POST", "/api/v3/order/cancelReplace")),
            "order.cancelReplace",
            Signed,
            Fixed(1),
            1,
        ),
        row(
            C::Amend,
            Some(("PUT", "/api/v3/order/amend/keepPriority")),
            "order.amend.keepPriority",
            Signed,
            Fixed(4),
            0,
        ),
        row(C::OrderStatus, Some(("GET", "/api/v3/order")), "order.status", Signed, Fixed(4), 0),
        row(C::OpenOrders, Some(("GET", "/api/v3/openOrders")), "openOrders.status", Signed, Narrowed(6, 80), 0),
        row(C::AllOrders, Some(("GET", "/api/v3/allOrders")), "allOrders", Signed, Fixed(20), 0),
        row(C::MyTrades, Some(("GET", "/api/v3/myTrades")), "myTrades", Signed, Narrowed(5, 20), 0),
        row(C::Account, Some(("GET", "/api/v3/account")), "account.status", Signed, Fixed(20), 0),
        row(C::OrderCount, Some(("GET", "/api/v3/rateLimit/order")), "account.rateLimits.orders", Signed, Fixed(40), 0),
        // Of the wallet, which the WebSocket API does not have; the name is for texts.
        row(
            C::KeyRestrictions,
            Some(("GET", "/sapi/v1/account/apiRestrictions")),
            "account.apiRestrictions",
            Signed,
            Fixed(1),
            0,
        ),
        row(C::LogOn, None, "session.logon", Signed, Fixed(2), 0),
        row(C::SubscribeUser, None, "userDataStream.subscribe", Session, Fixed(2), 0),
        row(C::SubscribeUserSigned, None, "userDataStream.subscribe.signature", Signed, Fixed(2), 0),
        // Of at most twenty symbols.
        row(C::Tickers, Some(("GET", "/api/v3/ticker/24hr")), "ticker.24hr", Public, Fixed(2), 0),
    ]
};

/// Weights of a depth snapshot: up to so many levels, so much.
const DEPTH_WEIGHTS: [(u32, u32); 4] = [(100, 5), (500, 25), (1_000, 50), (5_000, 250)];

impl BinanceCall {
    fn row(self) -> &'static CallRow {
        // Every variant has its row; a test shows it.
        TABLE.iter().find(|row| row.call == self).unwrap_or(&TABLE[0])
    }

    /// Whether it places, changes or cancels an order.
    pub fn trades(self) -> bool {
        matches!(self, Self::Place | Self::Cancel | Self::CancelReplace | Self::Amend)
    }

    /// The call of that method and path.
    pub fn of_rest(method: &str, path: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.rest == Some((method, path))).map(|row| row.call)
    }

    /// The call of that method of the WebSocket API.
    pub fn of_socket(method: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.socket == method).map(|row| row.call)
    }

    /// Method and path, where REST has the call.
    pub fn rest(self) -> Option<(&'static str, &'static str)> {
        self.row().rest
    }

    pub fn socket(self) -> &'static str {
        self.row().socket
    }

    pub fn security(self) -> CallSecurity {
        self.row().security
    }

    /// How many orders it adds to the count of unfilled orders.
    pub fn orders(self) -> u32 {
        self.row().orders
    }

    /// `is_narrowed`: for one symbol (open orders) or one order (trades).
    pub fn weight(self, is_narrowed: bool) -> u32 {
        match self.row().weight {
            CallWeight::Fixed(weight) => weight,
            CallWeight::Narrowed(narrowed, _) if is_narrowed => narrowed,
            CallWeight::Narrowed(_, whole) => whole,
            CallWeight::ByDepth => depth_weight(DEPTH_WEIGHTS[3].0),
        }
    }

    /// Whether it can change an order: a lost answer leaves that order in doubt.
    pub fn changes_orders(self) -> bool {
        matches!(self, Self::Place | Self::Cancel | Self::CancelReplace | Self::Amend)
    }
}

pub fn depth_weight(levels: u32) -> u32 {
    let found = DEPTH_WEIGHTS.iter().find(|(limit, _)| levels <= *limit);
    found.unwrap_or(&DEPTH_WEIGHTS[3]).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_has_its_own_row_and_names() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.call as usize, index, "the rows are in the order of the variants");
        }
        assert_eq!(BinanceCall::Tickers as usize + 1, TABLE.len());
        let mut names: Vec<_> = TABLE.iter().map(|row| row.socket).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TABLE.len());
    }

    #[test]
    fn weights_are_those_of_the_documentation() {
        let weights = [1, 100, 101, 500, 1_000, 1_001, 5_000, 9_999].map(depth_weight);
        assert_eq!(weights, [5, 5, 25, 25, 50, 250, 250, 250]);
        let of = |call: BinanceCall| (call.weight(true), call.weight(false));
        assert_eq!([of(BinanceCall::OpenOrders), of(BinanceCall::MyTrades)], [(6, 80), (5, 20)]);
        let orders = TABLE.iter().filter(|row| row.orders > 0).map(|row| row.socket);
        assert_eq!(orders.collect::<Vec<_>>(), ["order.place", "order.cancelReplace"]);
    }
}
