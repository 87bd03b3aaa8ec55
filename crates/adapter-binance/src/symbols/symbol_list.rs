//! The venue's list of symbols, asked for once and without a key, for reference data.

use std::path::Path;
use std::sync::Arc;

use adapter_kit::connection::{VenueHttp, VenueHttpLimits};
use adapter_kit::{NetworkVenue, RequestLane};
use adapters::thread::AdapterClock;
use adapters::venue_type::ListedSymbol;
use serde::Deserialize;

use crate::addresses::BinanceAddresses;
use crate::connection::RestClient;
use crate::protocol::answers::CallError;
use crate::protocol::answers::exchange_info::{BinanceSymbol, ExchangeInfo};
use crate::protocol::requests::BinanceRequest;
use crate::request_gate::RequestGate;

/// Requests of this kind are not signed, so the window does not matter.
const RECEIVE_WINDOW_MILLIS: u32 = 5_000;

/// Files of the venue begin with `files`: while it has told us to wait, nothing is asked.
pub(crate) fn ask_for_symbols(
    addresses: &BinanceAddresses,
    network: &NetworkVenue,
    files: &Path,
    clock: &AdapterClock,
) -> Result<Vec<ListedSymbol>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let http = VenueHttp::new(addresses.rest.clone(), network.dialer.clone(), VenueHttpLimits::default());
    let mut gate = RequestGate::open(files.with_extension("limits.json"), clock(), RECEIVE_WINDOW_MILLIS)?;
    let request = BinanceRequest::exchange_info();
    let (grant, stamp) = gate.admit(clock(), RequestLane::Listing, &request)?;
    let now = Arc::clone(clock);
    let answer = runtime.block_on(RestClient::public(http).call(&request, stamp, || now()));
    let answer = answer.map_err(|failure| failure.to_string())?;
    gate.on_answer(clock(), grant, &answer);
    let result = answer.outcome.as_ref().map_err(CallError::describe)?;
    let info = ExchangeInfo::deserialize(result).map_err(|reason| reason.to_string())?;
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
