//! Words of the scenarios for orders that were not placed here.

use domain::report::{ExternalFill, ExternalOrder, VenueOrderState};
use domain::{AccountId, Side};

use super::fixture::security;
use super::language::{price, terms};
use super::money::charge;

pub(super) fn state(fate: &str) -> VenueOrderState {
    match fate {
        "live" => VenueOrderState::Live,
        "canceled" => VenueOrderState::Canceled,
        "expired" => VenueOrderState::Expired,
        _ => VenueOrderState::Rejected,
    }
}

/// `E1 buy 100 AAPL @ 10 live 40@10:t1 by CLIENT-ID`, in account 1.
pub(super) fn external(parts: &[&str]) -> ExternalOrder {
    let (parts, client_id) = match parts {
        [parts @ .., "by", client_id] => (parts, Some((*client_id).into())),
        parts => (parts, None),
    };
    let [ext_id, side, quantity, symbol, "@", limit, fate, fills @ ..] = parts else {
        panic!("not an external order: {parts:?}")
    };
    ExternalOrder {
        ext_id: (*ext_id).into(),
        client_id,
        account: AccountId(1),
        security: security(symbol),
        side: if *side == "buy" { Side::Buy } else { Side::Sell },
        terms: terms(quantity, limit),
        state: state(fate),
        fills: fills.iter().map(|fill| external_fill(fill)).collect(),
        reason: None,
    }
}

/// `40@10:t1`, or `40@10:t1:FEE:0.0002:BNB` with a charge.
fn external_fill(words: &str) -> ExternalFill {
    let parts: Vec<_> = words.split(['@', ':']).collect();
    let [quantity, at, exec_id, charged @ ..] = &parts[..] else { panic!("no fill: {words}") };
    let (quantity, price) = (quantity.parse().unwrap(), price(at));
    let charges = charged.chunks(3).map(charge).collect();
    ExternalFill { exec_id: (*exec_id).into(), quantity, price, at: None, fee: None, charges, liquidity: None }
}
