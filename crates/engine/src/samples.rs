//! Securities for tests.

use domain::{Currency, Decimal, ExchangeId, Security, SecurityId, SecurityKind};

pub(crate) fn security(id: u64, kind: SecurityKind, currency: &str, contract_size: &str) -> Security {
    Security {
        id: SecurityId(id),
        kind,
        symbol: format!("S{id}").into(),
        description: None,
        isin: None,
        bbgid: None,
        ric: None,
        conid: None,
        adapter_ticker: None,
        underlying: None,
        family: None,
        exchange: ExchangeId(1),
        currency: currency.parse::<Currency>().unwrap(),
        contract_size: contract_size.parse::<Decimal>().unwrap(),
        min_qty: None,
        max_qty: None,
        qty_incr: Decimal::ZERO,
        min_price: None,
        max_price: None,
        price_incr: Decimal::ZERO,
        min_notional: None,
        tradeable: true,
        venue_symbols: Default::default(),
    }
}
