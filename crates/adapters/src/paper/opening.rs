//! How a venue type opens paper mode, from its own settings.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use domain::{Exchange, ExchangeId, ReferenceData, SecurityId};
use venue_sim::book::SelfTradeRule;
use venue_sim::{Faults, ListedSecurity, OpeningQuotes, ParticipantActivity, VenueConfig};

use super::adapter::PaperAdapter;
use super::price_session::PriceSession;
use crate::simulated::{LEDGER_COMPACT_BYTES, SimulatedAdapter, SimulatedVenueSettings, VenueControls};
use crate::simulated_venue::{deposits, fees, unit_costs};
use crate::venue_type::{
    ImportListener, OpenVenue, OpenVenueError, SettingForm, VenueContext, VenueSetting, VenueSettings,
};

/// Settings of paper mode; a type that offers it puts them beside its own.
pub const PAPER_SETTINGS: &[VenueSetting] = &[
    VenueSetting::optional(
        "makerFeePercent",
        SettingForm::Decimal(-10, 10),
        "",
        "In paper mode: what an order that rested is charged, in percent of the trade's worth; below zero it is paid. Blank, as \
         the next one: the fee of the security's family.",
    ),
    VenueSetting::optional(
        "takerFeePercent",
        SettingForm::Decimal(-10, 10),
        "",
        "In paper mode: what the order that came and took is charged.",
    ),
];

/// The extension of the simulated venue's ledger.
const LEDGER: &str = "ledger";

/// What the simulated venue of paper mode is made of.
pub struct PaperVenue<'a> {
    /// The exchange that the real venue is.
    pub exchange: &'a Arc<Exchange>,
    /// With [`PAPER_SETTINGS`].
    pub settings: &'a VenueSettings,
}

/// Opens the prices of a real venue with a simulated one behind them.
pub fn open(
    prices: impl PriceSession + 'static,
    paper: &PaperVenue<'_>,
    context: &VenueContext<'_>,
) -> Result<OpenVenue, OpenVenueError> {
    let settings = SimulatedVenueSettings {
        ledger: context.file(LEDGER),
        venue: venue_config(paper, context),
        compact_at_bytes: LEDGER_COMPACT_BYTES,
    };
    let venue =
        SimulatedAdapter::open(settings, (context.clock)()).map_err(|error| OpenVenueError(error.to_string()))?;
    let (exchange, controls) = (paper.exchange.id, venue.controls());
    let imports = Some(Box::new(PaperListings { exchange, controls }) as _);
    let adapter = PaperAdapter::new(prices, venue, exchange, context.catalogue.clone());
    Ok(OpenVenue { imports, ..OpenVenue::new(adapter) })
}

/// A venue's books are either paper or real: under one name they would be compared with each other. `real` are files that only
/// orders at the real venue leave.
pub fn check_books(is_paper: bool, real: &[PathBuf], context: &VenueContext<'_>) -> Result<(), OpenVenueError> {
    let adapter = &context.adapter;
    if is_paper && real.iter().any(|file| file.exists()) {
        return Err(OpenVenueError(format!(
            "{adapter} has traded at the real venue; paper mode needs a venue of another name"
        )));
    }
    if !is_paper && context.file(LEDGER).exists() {
        return Err(OpenVenueError(format!("{adapter} has traded on paper; the real venue needs another name")));
    }
    Ok(())
}

fn venue_config(paper: &PaperVenue<'_>, context: &VenueContext<'_>) -> VenueConfig {
    let reference = context.catalogue.current();
    VenueConfig {
        name: context.adapter.0.clone(),
        feed: context.adapter.0.clone(),
        exchange: paper.exchange.clone(),
        listings: listings(paper.exchange.id, &reference),
        seed: 1,
        activity: ParticipantActivity::Followed,
        latency_nanos: 0,
        request_life_nanos: 0,
        fees: fees(paper.settings),
        self_trade: SelfTradeRule::CancelNewest,
        deposits: deposits(context, &reference),
        replace: domain::report::ReplaceKind::InPlace,
        faults: Faults::default(),
    }
}

/// Every security of the exchange.
fn listings(exchange: ExchangeId, reference: &ReferenceData) -> Vec<ListedSecurity> {
    let own = reference.securities.values().filter(|security| security.exchange == exchange);
    let listed = own.map(|security| ListedSecurity {
        security: security.clone(),
        opening: OpeningQuotes::NONE,
        costs: unit_costs(security, reference),
    });
    listed.collect()
}

/// Lists imported securities while the venue runs.
struct PaperListings {
    exchange: ExchangeId,
    controls: VenueControls,
}

impl ImportListener for PaperListings {
    fn on_import(&self, known: &ReferenceData, imported: &ReferenceData, _: &BTreeMap<SecurityId, OpeningQuotes>) {
        let is_new = |listing: &ListedSecurity| !known.securities.contains_key(&listing.security.id);
        let listed = listings(self.exchange, imported).into_iter().filter(is_new);
        listed.for_each(|listing| self.controls.list(listing));
    }
}
