//! What simulated markets list: the securities of their exchange that have opening quotes, those of the start and those
//! that are imported later.

use adapters::simulated::VenueControls;
use domain::{ExchangeId, ReferenceData};
use venue_sim::{ListedSecurity, OpeningQuotes};

use crate::reference::ReferenceSet;

/// The simulated markets that run, each with the exchange it is.
#[derive(Default)]
pub(super) struct SimulatedMarkets(Vec<(ExchangeId, VenueControls)>);

impl SimulatedMarkets {
    pub(super) fn add(&mut self, exchange: ExchangeId, controls: VenueControls) {
        self.0.push((exchange, controls));
    }

    /// Lists what `known` does not have yet. To be done before anybody asks for its prices.
    pub(super) fn list_new(&self, known: &ReferenceData, reference: &ReferenceSet) {
        for (exchange, controls) in &self.0 {
            let listed = listings(*exchange, &reference.data, reference);
            let is_new = |listing: &ListedSecurity| !known.securities.contains_key(&listing.security.id);
            listed.into_iter().filter(is_new).for_each(|listing| controls.list(listing));
        }
    }
}

/// The exchange's securities that have opening quotes.
pub(super) fn listings(exchange: ExchangeId, reference: &ReferenceData, desk: &ReferenceSet) -> Vec<ListedSecurity> {
    let listed = desk.openings.iter().filter_map(|opening| {
        let security = reference.securities.get(&opening.security)?;
        (security.exchange == exchange).then(|| ListedSecurity {
            security: security.clone(),
            opening: OpeningQuotes {
                mid: opening.mid,
                spread_ticks: opening.spread_ticks,
                size: opening.size,
                volatility: opening.volatility,
            },
        })
    });
    listed.collect()
}
