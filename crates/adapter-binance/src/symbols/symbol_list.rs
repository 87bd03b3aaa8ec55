//! The venue's list of symbols, asked for once and without a key, for reference data.

use adapters::venue_type::ListedSymbol;

use crate::protocol::answers::exchange_info::{BinanceSymbol, ExchangeInfo};
use crate::protocol::requests::BinanceRequest;
use crate::symbols::public_calls::PublicCalls;

pub(crate) fn ask_for_symbols(mut calls: PublicCalls) -> Result<Vec<ListedSymbol>, String> {
    let info: ExchangeInfo = calls.ask(&BinanceRequest::exchange_info())?;
    Ok(info.symbols.iter().map(listed).collect())
}

fn listed(symbol: &BinanceSymbol) -> ListedSymbol {
    ListedSymbol {
        symbol: symbol.symbol.as_str().into(),
        base: symbol.base.as_str().into(),
        quote: symbol.quote.as_str().into(),
        listing: symbol.listing().venue_listing(),
    }
}
