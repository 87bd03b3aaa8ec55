//! What the venue lists, and which of our securities each symbol is.

use std::collections::BTreeMap;
use std::sync::Arc;

use adapter_kit::listings::{ListingChange, ListingStatus, Listings, ListingsRefused};
use adapters::ToldListings;
use bus::Catalogue;
use domain::report::{ReplaceKind, ReportKind, VenueListing};
use domain::{Currency, ExchangeId, ReferenceData, Security, SecurityId, Text};

use crate::protocol::answers::exchange_info::BinanceSymbol;

/// The venue's symbols and our reference data.
pub struct SymbolTable {
    venue: Text,
    exchange: ExchangeId,
    catalogue: Catalogue,
    listings: Listings,
    symbols: BTreeMap<String, BinanceSymbol>,
    told: ToldListings,
    /// The reference data whose listings were told; absent where the venue's list is newer.
    told_for: Option<Arc<ReferenceData>>,
}

impl SymbolTable {
    pub fn new(venue: Text, exchange: ExchangeId, catalogue: Catalogue) -> Self {
        Self {
            venue,
            exchange,
            catalogue,
            listings: Listings::default(),
            symbols: BTreeMap::new(),
            told: ToldListings::default(),
            told_for: None,
        }
    }

    /// The venue's whole list; gives what changed.
    pub fn apply(&mut self, symbols: Vec<BinanceSymbol>) -> Result<Vec<ListingChange>, ListingsRefused> {
        let changes = self.listings.apply(symbols.iter().map(BinanceSymbol::listing).collect())?;
        self.symbols = symbols.into_iter().map(|symbol| (symbol.symbol.clone(), symbol)).collect();
        // How orders are replaced is no part of the changes; what is told already is not told again.
        self.told_for = None;
        Ok(changes)
    }

    /// For the engine: what the venue takes of our securities, where that is not as it was told. A symbol that is none of
    /// our securities is not told.
    pub fn untold_listings(&mut self) -> Vec<ReportKind> {
        let reference = self.catalogue.current();
        let is_told = self.told_for.as_ref().is_some_and(|told_for| Arc::ptr_eq(told_for, &reference));
        if is_told || self.symbols.is_empty() {
            return Vec::new();
        }
        let own = reference.securities.values().filter(|security| security.exchange == self.exchange);
        let now: Vec<_> = own.map(|security| (security.id, self.listing_of(security))).collect();
        self.told_for = Some(reference);
        self.told.changes(now)
    }

    fn listing_of(&self, security: &Security) -> VenueListing {
        let symbol = security.symbol_at(&self.venue);
        let Some(listed) = self.listings.get(symbol) else { return VenueListing::new(ListingStatus::Unlisted) };
        VenueListing { replace: self.symbols.get(&**symbol).and_then(replace_kind), ..listed.venue_listing() }
    }

    pub fn listings(&self) -> &Listings {
        &self.listings
    }

    pub fn get(&self, symbol: &str) -> Option<&BinanceSymbol> {
        self.symbols.get(symbol)
    }

    /// The venue's symbol of a security of its exchange.
    pub fn symbol_of(&self, security: SecurityId) -> Option<String> {
        let reference = self.catalogue.current();
        let known = reference.securities.get(&security).filter(|known| known.exchange == self.exchange)?;
        Some(known.symbol_at(&self.venue).to_string())
    }

    /// The security of a symbol of the venue.
    pub fn security_of(&self, symbol: &str) -> Option<SecurityId> {
        let reference = self.catalogue.current();
        let own = reference.securities.values().filter(|security| security.exchange == self.exchange);
        own.into_iter().find(|security| **security.symbol_at(&self.venue) == *symbol).map(|security| security.id)
    }

    /// How much one unit of quantity is.
    pub fn contract_size(&self, security: SecurityId) -> domain::Decimal {
        let reference = self.catalogue.current();
        reference.securities.get(&security).map_or(domain::Decimal::ONE, |known: &Arc<Security>| known.contract_size)
    }

    /// The asset of prices; the charge of a fill without a commission is in it.
    pub fn quote_of(&self, symbol: &str) -> Currency {
        let quote = self.symbols.get(symbol).and_then(|known| known.quote.parse().ok());
        quote.unwrap_or(Currency::USDT)
    }
}

/// What a symbol lacks of what the venue offers for most.
fn replace_kind(symbol: &BinanceSymbol) -> Option<ReplaceKind> {
    match (symbol.has_cancel_replace, symbol.has_amend) {
        (true, _) => None,
        (false, true) => Some(ReplaceKind::LowerQuantityOnly),
        (false, false) => Some(ReplaceKind::None),
    }
}
