//! What a simulated market lists: the securities of its exchange that have opening quotes, those of the start and those
//! that are imported later. After a restart its prices continue at the last ones that were seen.

use std::collections::BTreeMap;

use domain::{Decimal, ExchangeId, Price, ReferenceData, Security, SecurityId};
use venue_sim::{ListedSecurity, OpeningQuotes, UnitCosts};

use crate::simulated::VenueControls;
use crate::venue_type::ImportListener;

/// Lists imported securities at a market that runs.
pub(super) struct MarketListings {
    pub(super) exchange: ExchangeId,
    pub(super) controls: VenueControls,
}

impl ImportListener for MarketListings {
    fn on_import(
        &self,
        known: &ReferenceData,
        imported: &ReferenceData,
        opening_quotes: &BTreeMap<SecurityId, OpeningQuotes>,
    ) {
        let listed = opening(self.exchange, imported, opening_quotes);
        let is_new = |listing: &ListedSecurity| !known.securities.contains_key(&listing.security.id);
        listed.into_iter().filter(is_new).for_each(|listing| self.controls.list(listing));
    }
}

/// The exchange's securities that have opening quotes.
pub(super) fn opening(
    exchange: ExchangeId,
    reference: &ReferenceData,
    quotes: &BTreeMap<SecurityId, OpeningQuotes>,
) -> Vec<ListedSecurity> {
    let listed = quotes.iter().filter_map(|(id, opening)| {
        let security = reference.securities.get(id)?;
        let costs = || unit_costs(security, reference);
        (security.exchange == exchange).then(|| ListedSecurity {
            security: security.clone(),
            opening: *opening,
            costs: costs(),
        })
    });
    listed.collect()
}

/// As the family of the security says.
pub(crate) fn unit_costs(security: &Security, reference: &ReferenceData) -> UnitCosts {
    let family = reference.family_of(security);
    family.map_or_else(UnitCosts::default, |family| UnitCosts {
        commission: family.execution_commission.plus(family.clearing_commission).unwrap_or_default(),
        fee: family.fee,
    })
}

/// The same, at the last prices where there are any.
pub(super) fn resumed(
    exchange: ExchangeId,
    reference: &ReferenceData,
    quotes: &BTreeMap<SecurityId, OpeningQuotes>,
    last_prices: &BTreeMap<SecurityId, Price>,
) -> Vec<ListedSecurity> {
    let mut listed = opening(exchange, reference, quotes);
    for listing in &mut listed {
        if let Some(price) = last_prices.get(&listing.security.id) {
            listing.opening.mid = quotable(*price, &listing.opening, &listing.security);
        }
    }
    listed
}

/// On a tick, and high enough that the best bid is a price too.
fn quotable(price: Price, opening: &OpeningQuotes, security: &Security) -> Price {
    let lowest = Decimal::from(opening.spread_ticks / 2 + 1);
    let ticks = (price.0 / security.price_incr).round().max(lowest);
    Price(ticks * security.price_incr)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_between_two_ticks_or_too_low_for_a_bid_is_moved_to_one_that_can_be_quoted() {
        let opening = OpeningQuotes { mid: 5.into(), spread_ticks: 4, size: 1.into(), volatility: Decimal::ONE };
        let security = Security { price_incr: Decimal::new(5, 1), ..samples::stock(1, "ONE") };
        let quoted = |price: Decimal| quotable(Price(price), &opening, &security).to_string();
        assert_eq!([quoted(Decimal::new(1026, 1)), quoted(Decimal::new(1, 1))], ["102.5", "1.5"]);
    }
}
