//! `exchangeInfo`: symbols with their filters, and the rate limits.

use serde_json::{Value, json};

use super::super::ApiCall;
use crate::binance::api::encode::text;
use crate::binance::api::error::ApiError;
use crate::exchange::{AVERAGE_MINUTES, SpotExchange, SpotOrderType, SpotReject, SymbolRules, Units, WireName};
use crate::sequencer::now_micros;

const STATUS: &str = "TRADING";

impl ApiCall<'_> {
    pub(crate) async fn exchange_info(&self) -> Result<Value, ApiError> {
        let wanted = self.wanted_symbols()?;
        let shows_sets = !matches!(self.params.text("showPermissionSets")?, Some("false"));
        if wanted.is_some() && (self.params.has("permissions") || self.params.has("symbolStatus")) {
            return Err(ApiError::bad_request(-1128, "Combination of optional parameters invalid."));
        }
        let is_shown = self.is_shown_by_status()? && self.is_shown_by_permission()?;
        let list = move |exchange: &SpotExchange| match wanted {
            Some(names) => {
                let named = |name: &String| exchange.market(name).map(|market| symbol_info(&market.rules, shows_sets));
                names.iter().map(named).collect::<Result<Vec<_>, SpotReject>>()
            }
            None if !is_shown => Ok(Vec::new()),
            None => Ok(exchange.markets.iter().map(|market| symbol_info(&market.rules, shows_sets)).collect()),
        };
        let symbols: Vec<Value> = self.state.exchange.query(list).await??;
        Ok(json!({
            "timezone": "UTC",
            "serverTime": self.unit.encode(now_micros()),
            "rateLimits": self.state.rates.list(),
            "exchangeFilters": [],
            "symbols": symbols,
        }))
    }

    /// The symbols that `symbol` or `symbols` name; none means all.
    pub(crate) fn wanted_symbols(&self) -> Result<Option<Vec<String>>, ApiError> {
        match (self.params.text("symbol")?, self.params.text("symbols")?) {
            (Some(_), Some(_)) => Err(ApiError::bad_request(-1128, "Combination of optional parameters invalid.")),
            (Some(symbol), None) => Ok(Some(vec![symbol.to_owned()])),
            (None, Some(list)) => symbol_list(list).map(Some),
            (None, None) => Ok(None),
        }
    }

    fn is_shown_by_status(&self) -> Result<bool, ApiError> {
        match self.params.text("symbolStatus")? {
            None | Some(STATUS) => Ok(true),
            Some("HALT" | "BREAK") => Ok(false),
            Some(_) => Err(ApiError::bad_request(-1122, "Invalid symbolStatus.")),
        }
    }

    fn is_shown_by_permission(&self) -> Result<bool, ApiError> {
        let Some(text) = self.params.text("permissions")? else { return Ok(true) };
        let names = if text.starts_with('[') { json_list("permissions", text)? } else { vec![text.to_owned()] };
        Ok(names.iter().any(|name| name == "SPOT"))
    }
}

fn symbol_list(text: &str) -> Result<Vec<String>, ApiError> {
    let names = json_list("symbols", text)?;
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() < names.len() {
        return Err(ApiError::bad_request(-1151, "Symbol is present multiple times in the list."));
    }
    Ok(names)
}

fn json_list(name: &str, text: &str) -> Result<Vec<String>, ApiError> {
    let error = |_| ApiError::bad_request(-1135, format!("JSON sent for parameter '{name}' is not valid"));
    serde_json::from_str(text).map_err(error)
}

fn symbol_info(rules: &SymbolRules, shows_sets: bool) -> Value {
    let types: Vec<&str> = SpotOrderType::ALL.iter().map(|(_, name)| *name).collect();
    let mut info = json!({
        "symbol": rules.name,
        "status": STATUS,
        "baseAsset": rules.base,
        "baseAssetPrecision": 8,
        "quoteAsset": rules.quote,
        "quotePrecision": 8,
        "quoteAssetPrecision": 8,
        "baseCommissionPrecision": 8,
        "quoteCommissionPrecision": 8,
        "orderTypes": types,
        "icebergAllowed": false,
        "ocoAllowed": false,
        "otoAllowed": false,
        "opoAllowed": false,
        "quoteOrderQtyMarketAllowed": true,
        "allowTrailingStop": false,
        "cancelReplaceAllowed": true,
        "amendAllowed": true,
        "pegInstructionsAllowed": false,
        "isSpotTradingAllowed": true,
        "isMarginTradingAllowed": false,
        "filters": filters(rules),
        "permissions": [],
        "permissionSets": [["SPOT"]],
        "defaultSelfTradePreventionMode": "NONE",
        "allowedSelfTradePreventionModes": ["NONE", "EXPIRE_TAKER", "EXPIRE_MAKER", "EXPIRE_BOTH", "DECREMENT"],
    });
    if !shows_sets {
        info["permissionSets"] = json!([]);
    }
    info
}

pub(crate) fn filters(rules: &SymbolRules) -> Value {
    json!([
        {
            "filterType": "PRICE_FILTER",
            "minPrice": text(rules.price_min),
            "maxPrice": text(rules.price_max),
            "tickSize": text(rules.order_tick),
        },
        {
            "filterType": "LOT_SIZE",
            "minQty": text(rules.quantity_min),
            "maxQty": text(rules.quantity_max),
            "stepSize": text(rules.order_step),
        },
        {
            "filterType": "MARKET_LOT_SIZE",
            "minQty": text(Units::ZERO),
            "maxQty": text(rules.quantity_max),
            "stepSize": text(Units::ZERO),
        },
        {
            "filterType": "PERCENT_PRICE_BY_SIDE",
            "bidMultiplierUp": text(rules.percent_up),
            "bidMultiplierDown": text(rules.percent_down),
            "askMultiplierUp": text(rules.percent_up),
            "askMultiplierDown": text(rules.percent_down),
            "avgPriceMins": AVERAGE_MINUTES,
        },
        {
            "filterType": "NOTIONAL",
            "minNotional": text(rules.notional_min),
            "applyMinToMarket": true,
            "maxNotional": text(rules.notional_max),
            "applyMaxToMarket": false,
            "avgPriceMins": AVERAGE_MINUTES,
        },
        { "filterType": "MAX_NUM_ORDERS", "maxNumOrders": rules.orders_max },
        { "filterType": "MAX_NUM_ALGO_ORDERS", "maxNumAlgoOrders": rules.stops_max },
        { "filterType": "MAX_NUM_ORDER_AMENDS", "maxNumOrderAmends": rules.amends_max },
    ])
}
