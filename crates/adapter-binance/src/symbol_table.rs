//! What the venue lists, and which of our securities each symbol is.

use std::collections::BTreeMap;

use adapter_kit::listings::{ListingChange, Listings, ListingsRefused};
use bus::Catalogue;
use domain::{Currency, ExchangeId, Security, SecurityId, Text};

use crate::protocol::exchange_info::BinanceSymbol;

/// The venue's symbols and our reference data.
pub struct SymbolTable {
    venue: Text,
    exchange: ExchangeId,
    catalogue: Catalogue,
    listings: Listings,
    symbols: BTreeMap<String, BinanceSymbol>,
}

impl SymbolTable {
    pub fn new(venue: Text, exchange: ExchangeId, catalogue: Catalogue) -> Self {
        Self { venue, exchange, catalogue, listings: Listings::default(), symbols: BTreeMap::new() }
    }

    /// The venue's whole list; gives what changed.
    pub fn apply(&mut self, symbols: Vec<BinanceSymbol>) -> Result<Vec<ListingChange>, ListingsRefused> {
        let changes = self.listings.apply(symbols.iter().map(BinanceSymbol::listing).collect())?;
        self.symbols = symbols.into_iter().map(|symbol| (symbol.symbol.clone(), symbol)).collect();
        Ok(changes)
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

    /// How much one unit of quantity is.
    pub fn contract_size(&self, security: SecurityId) -> domain::Decimal {
        let reference = self.catalogue.current();
        reference
            .securities
            .get(&security)
            .map_or(domain::Decimal::ONE, |known: &std::sync::Arc<Security>| known.contract_size)
    }

    /// The asset of prices; the charge of a fill without a commission is in it.
    pub fn quote_of(&self, symbol: &str) -> Currency {
        let quote = self.symbols.get(symbol).and_then(|known| known.quote.parse().ok());
        quote.unwrap_or(Currency::USDT)
    }
}
