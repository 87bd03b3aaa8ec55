//! Plan of a certificate: what the client is to trade, and how each fault is armed meanwhile.

use domain::SeededRng;
use serde_json::{Value, json};

use crate::faults::catalogue::Fault;
use crate::faults::fault_request::FaultRequest;

/// The account whose books are compared.
pub(crate) const ACCOUNT: &str = "ALPHA";
/// Faults that last strike so many times, so that a client that tries again comes through.
const REPEATS: u64 = 3;
/// Longer than any run of a client.
const WHOLE_RUN_SECONDS: u32 = 3_600;

/// The steps are to be sent one after the other, each once, whatever comes of them.
pub(crate) fn plan(fault: &str) -> Value {
    let limit = |symbol: &str, id: &str, side: &str, quantity: &str, price: &str| {
        json!({
            "do": "place", "symbol": symbol, "clientOrderId": id, "side": side, "type": "LIMIT", "timeInForce": "GTC",
            "quantity": quantity, "price": price,
        })
    };
    let market = |symbol: &str, id: &str, side: &str, quantity: &str| {
        json!({
            "do": "place", "symbol": symbol, "clientOrderId": id, "side": side, "type": "MARKET", "quantity": quantity,
        })
    };
    let btc = "BTCUSDT";
    let mut steps = vec![
        limit(btc, "p-1", "BUY", "0.01", "59000"),
        market(btc, "p-2", "BUY", "0.01"),
        limit(btc, "p-3", "SELL", "0.01", "61000"),
        json!({ "do": "cancel", "symbol": btc, "clientOrderId": "p-1" }),
        json!({
            "do": "replace", "symbol": btc, "clientOrderId": "p-3", "newClientOrderId": "p-4", "side": "SELL", "type": "LIMIT",
            "timeInForce": "GTC", "quantity": "0.02", "price": "61500",
        }),
        market(btc, "p-5", "SELL", "0.02"),
        limit(btc, "p-6", "BUY", "0.02", "58000"),
    ];
    match fault {
        // An id is free again once its order has ended.
        "id-reused" => steps.push(market(btc, "p-2", "BUY", "0.02")),
        // Ids of orders and trades are those of one symbol.
        "trade-ids-repeat" => {
            steps.push(market("ETHUSDT", "p-7", "BUY", "0.1"));
            steps.push(market("BNBUSDT", "p-8", "BUY", "0.1"));
        }
        _ => {}
    }
    json!({ "account": ACCOUNT, "steps": steps })
}

/// How a fault is armed: the seed chooses the first request or event that it strikes. None for what needs no arming.
pub(crate) fn arming(fault: &str, seed: u64) -> Option<FaultRequest> {
    let known = Fault::parse(fault).ok()?;
    let chosen = SeededRng::new(seed, known.number()).below(3);
    let (from, count, seconds) = match known {
        // Requests of any kind: not the first ones, by which a client begins.
        Fault::RateLimited | Fault::KeyRevoked | Fault::SignatureRule => (4 + chosen, Some(REPEATS), None),
        // Places where one order at least has ended.
        Fault::OrderIdsReissued => (4 + chosen % 2, Some(1), None),
        Fault::StreamMute | Fault::OddValues => (1 + chosen, Some(u64::MAX), None),
        Fault::ClockOff => (1, None, Some(WHOLE_RUN_SECONDS)),
        // These strike at the first occasion: a client has few of them.
        Fault::LateQuery => (1, Some(REPEATS), None),
        Fault::StreamNever
        | Fault::FixNumbersReset
        | Fault::FixGapFlags
        | Fault::FixLogonBlocked
        | Fault::FixContradiction
        | Fault::ListPartial
        | Fault::ReplaceHalf
        | Fault::ReplaceCut
        | Fault::FillAfterCancel
        | Fault::KeyExpired
        | Fault::FillOnlyInList
        | Fault::FillsReplayed
        | Fault::OddFills => (1, Some(1), None),
        Fault::EndpointMoved | Fault::CancelOnly => (1 + chosen, Some(REPEATS), None),
        _ => (1 + chosen, Some(1), None),
    };
    Some(FaultRequest { fault: fault.to_owned(), from, face: None, count, seconds, seed: None })
}
