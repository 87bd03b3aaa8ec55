//! Security List Request (x) and Security List (y).

use std::sync::Arc;

use fix::{FixMessage, OutgoingMessage};

use super::scope::SessionScope;
use super::tags;
use crate::exchange::{SpotExchange, SymbolRules};
use crate::sequencer::Unavailable;

/// SecurityListRequestType (559).
const BY_SYMBOL: &str = "0";
const ALL: &str = "4";
/// SecurityRequestResult (560).
const VALID: &str = "0";
const UNSUPPORTED: &str = "1";
const NOT_FOUND: &str = "2";

impl SessionScope {
    pub(super) fn security_list(self: &Arc<Self>, message: &FixMessage<'_>) -> Result<(), Unavailable> {
        self.faults.count_request(false);
        let id = message.get(tags::SECURITY_REQ_ID).unwrap_or_default().to_vec();
        let symbol = message.text(tags::SYMBOL).map(ToOwned::to_owned);
        let wanted = match (message.text(tags::SECURITY_LIST_REQUEST_TYPE), symbol) {
            (Some(ALL), _) => None,
            (Some(BY_SYMBOL), Some(symbol)) => Some(symbol),
            _ => {
                self.inbox.send(encode(&id, UNSUPPORTED, &[]));
                return Ok(());
            }
        };
        let find = move |exchange: &SpotExchange| -> Vec<SymbolRules> {
            let rules = exchange.markets.iter().map(|market| &market.rules);
            rules.filter(|rules| wanted.as_ref().is_none_or(|symbol| *symbol == rules.name)).cloned().collect()
        };
        let scope = self.clone();
        self.exchange.query_then(find, move |found| {
            let result = if found.is_empty() { NOT_FOUND } else { VALID };
            scope.inbox.send(encode(&id, result, &found));
        })
    }
}

fn encode(id: &[u8], result: &str, found: &[SymbolRules]) -> OutgoingMessage {
    let mut out = OutgoingMessage::new("y");
    out.field(tags::SECURITY_REQ_ID, id).field(tags::SECURITY_RESPONSE_ID, id);
    out.field(tags::SECURITY_REQUEST_RESULT, result);
    if found.is_empty() {
        return out;
    }
    out.number(tags::TOT_NO_RELATED_SYM, found.len() as u64).number(tags::NO_RELATED_SYM, found.len() as u64);
    for rules in found {
        out.member(tags::SYMBOL, &rules.name).member(tags::SECURITY_DESC, format!("{}/{}", rules.base, rules.quote));
        out.member(tags::CURRENCY, &rules.quote).member(tags::ROUND_LOT, rules.order_step.to_string());
        out.member(tags::MIN_TRADE_VOL, rules.quantity_min.to_string());
        // FIX 4.4 has no fields for these.
        out.member(tags::TEXT, format!("tick {}, least notional {}", rules.order_tick, rules.notional_min));
    }
    out
}
