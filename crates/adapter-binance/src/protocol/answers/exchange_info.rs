//! Reference data of the venue: symbols with their filters, and rate limits.

use adapter_kit::listings::{Listing, ListingStatus};
use domain::{Amount, Decimal, Quantity};
use serde::Deserialize;

use super::WireRateLimit;
use crate::protocol::venue_enums::{BinanceOrderType, BinanceStpMode, BinanceSymbolStatus};
use crate::protocol::wire_values::{WireDecimal, WireInteger};

/// Everything that the venue states about itself. A list with a symbol that cannot be read is refused as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ExchangeInfo {
    #[serde(rename = "serverTime")]
    pub at: WireInteger,
    #[serde(default, rename = "rateLimits")]
    pub rate_limits: Vec<WireRateLimit>,
    pub symbols: Vec<BinanceSymbol>,
}

/// One symbol. What a symbol does not say that it allows is not allowed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct BinanceSymbol {
    pub symbol: String,
    pub status: BinanceSymbolStatus,
    #[serde(rename = "baseAsset")]
    pub base: String,
    #[serde(rename = "quoteAsset")]
    pub quote: String,
    #[serde(default, rename = "orderTypes")]
    pub order_types: Vec<BinanceOrderType>,
    #[serde(default, rename = "icebergAllowed")]
    pub has_icebergs: bool,
    #[serde(default, rename = "cancelReplaceAllowed")]
    pub has_cancel_replace: bool,
    #[serde(default, rename = "amendAllowed")]
    pub has_amend: bool,
    #[serde(default, rename = "isSpotTradingAllowed")]
    pub is_spot: bool,
    #[serde(default, rename = "allowedSelfTradePreventionModes")]
    pub stp_modes: Vec<BinanceStpMode>,
    #[serde(default)]
    pub filters: Vec<WireFilter>,
}

/// A filter with the fields of all its kinds. Kinds that are not known restrict what we cannot check: the venue does.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct WireFilter {
    pub filter_type: String,
    pub min_price: Option<WireDecimal>,
    pub max_price: Option<WireDecimal>,
    pub tick_size: Option<WireDecimal>,
    pub min_qty: Option<WireDecimal>,
    pub max_qty: Option<WireDecimal>,
    pub step_size: Option<WireDecimal>,
    pub min_notional: Option<WireDecimal>,
    pub max_notional: Option<WireDecimal>,
    pub limit: Option<WireDecimal>,
    /// The lowest price as a part of the average price: of both sides, or of a buy.
    pub multiplier_down: Option<WireDecimal>,
    pub bid_multiplier_down: Option<WireDecimal>,
    pub max_num_orders: Option<WireInteger>,
    pub max_num_algo_orders: Option<WireInteger>,
    pub max_num_iceberg_orders: Option<WireInteger>,
    pub max_num_order_amends: Option<WireInteger>,
}

impl BinanceSymbol {
    pub fn filter(&self, kind: &str) -> Option<&WireFilter> {
        self.filters.iter().find(|filter| filter.filter_type == kind)
    }

    pub fn offers(&self, kind: &BinanceOrderType) -> bool {
        self.order_types.contains(kind)
    }

    /// For the kit's check of orders. A bound of zero is switched off.
    pub fn listing(&self) -> Listing {
        let of = |kind: &str, field: fn(&WireFilter) -> Option<WireDecimal>| {
            self.filter(kind).and_then(field).map(|amount| amount.0).filter(|amount| *amount > Decimal::ZERO)
        };
        let min_notional =
            of("NOTIONAL", |filter| filter.min_notional).or_else(|| of("MIN_NOTIONAL", |filter| filter.min_notional));
        Listing {
            symbol: self.symbol.clone(),
            status: self.listing_status(),
            tick: of("PRICE_FILTER", |filter| filter.tick_size),
            lot: of("LOT_SIZE", |filter| filter.step_size),
            quantity_min: of("LOT_SIZE", |filter| filter.min_qty).map(Quantity),
            quantity_max: of("LOT_SIZE", |filter| filter.max_qty).map(Quantity),
            notional_min: min_notional.map(Amount),
            notional_max: of("NOTIONAL", |filter| filter.max_notional).map(Amount),
        }
    }

    /// A status that is not known takes no orders until somebody has read what it means.
    fn listing_status(&self) -> ListingStatus {
        match self.status {
            BinanceSymbolStatus::Trading if self.is_spot => ListingStatus::Trading,
            BinanceSymbolStatus::CancelOnly => ListingStatus::CancelOnly,
            BinanceSymbolStatus::Trading
            | BinanceSymbolStatus::EndOfDay
            | BinanceSymbolStatus::Halt
            | BinanceSymbolStatus::Break
            | BinanceSymbolStatus::Other(_) => ListingStatus::Halted,
        }
    }
}
