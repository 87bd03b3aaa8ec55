//! What simulated markets list: the securities of their exchange that have opening quotes, those of the start and those
//! that are imported later.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use adapters::simulated::Controls;
use domain::{ExchangeId, ReferenceData};
use venue_sim::{Listing, Opening};

use crate::reference::Desk;

/// The simulated markets that run, each with the exchange it is.
#[derive(Clone, Default)]
pub(super) struct Markets(Arc<Mutex<Vec<(ExchangeId, Controls)>>>);

impl Markets {
    pub(super) fn add(&self, exchange: ExchangeId, controls: Controls) {
        self.lock().push((exchange, controls));
    }

    /// Lists what `known` does not have yet. To be done before anybody asks for its prices.
    pub(super) fn list_new(&self, known: &ReferenceData, desk: &Desk) {
        for (exchange, controls) in &*self.lock() {
            let listed = listings(*exchange, &desk.data, desk);
            let is_new = |listing: &Listing| !known.securities.contains_key(&listing.security.id);
            listed.into_iter().filter(is_new).for_each(|listing| controls.list(listing));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(ExchangeId, Controls)>> {
        // A list is whole between any two statements that hold the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The exchange's securities that have opening quotes.
pub(super) fn listings(exchange: ExchangeId, reference: &ReferenceData, desk: &Desk) -> Vec<Listing> {
    let listed = desk.openings.iter().filter_map(|opening| {
        let security = reference.securities.get(&opening.security)?;
        (security.exchange == exchange).then(|| Listing {
            security: security.clone(),
            opening: Opening {
                mid: opening.mid,
                spread_ticks: opening.spread_ticks,
                size: opening.size,
                volatility: opening.volatility,
            },
        })
    });
    listed.collect()
}
