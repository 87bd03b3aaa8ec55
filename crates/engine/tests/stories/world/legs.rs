//! Legs of orders in the script: a venue that cancels an order and places another one.

use domain::order::OrderLeg;
use domain::report::{
    AdapterCapabilities, CancelReplaceReport, HalfOutcome, ListingCapabilities, RefusesRepeatedIds, ReplaceKind,
    ReportKind, SessionState, VenueOrder, VenueSnapshot,
};
use domain::{ExchangeId, Order, OrderId};

use super::StoryEngine;
use super::external::state;
use super::language::terms;

impl StoryEngine {
    /// As `open`, with venue A replacing orders in this way; it lists its open orders.
    pub(crate) fn replacing(replace: ReplaceKind) -> Self {
        let mut world = Self::open();
        let profile = AdapterCapabilities {
            exchanges: vec![ExchangeId(1)],
            expires_orders: true,
            refuses_repeated_ids: RefusesRepeatedIds::Forever,
            simulated: true,
            lists: ListingCapabilities { open_orders: true, ..ListingCapabilities::default() },
            replace,
            ..AdapterCapabilities::default()
        };
        world.say("SIM-A", ReportKind::Attached(profile));
        world.say("SIM-A", ReportKind::Session(SessionState::Connected));
        world.say("SIM-A", ReportKind::Snapshot(VenueSnapshot { complete: true, ..VenueSnapshot::default() }));
        world.say("SIM-A", ReportKind::Session(SessionState::LoggedOn));
        world
    }

    /// With the terms that were asked for, where it is not the leg that the order works by.
    pub(super) fn leg(&self, id: &str, leg: &str, fate: &str) -> VenueOrder {
        let order = self.order(id);
        let of_leg = |order: &Order| {
            let asked = order.pending.replace().map_or(order.terms, |(_, terms)| terms);
            let is_working_leg = order.ext_id.as_deref().is_none_or(|working| working == leg);
            let known = order.legs.as_ref().and_then(|legs| legs.get(leg)).map(|leg| leg.terms);
            known.unwrap_or(if is_working_leg { order.terms } else { asked })
        };
        VenueOrder {
            order: self.number(id),
            ext_id: Some(leg.into()),
            terms: order.map_or(terms("1", "1"), |order| of_leg(&order)),
            state: state(fate),
            reason: None,
        }
    }

    /// With another limit.
    pub(super) fn leg_at(&self, id: &str, leg: &str, fate: &str, limit: &str) -> VenueOrder {
        let seen = self.leg(id, leg, fate);
        VenueOrder { terms: terms(&seen.terms.quantity.to_string(), limit), ..seen }
    }

    /// `V1 ENDED 0 of 100, V2 LIVE 40 of 100`
    pub(crate) fn legs(&self, id: &str) -> String {
        let order = self.order(id).unwrap();
        let legs = order.legs.iter().flat_map(|legs| &legs.0);
        let line =
            |leg: &OrderLeg| format!("{} {} {} of {}", leg.ext_id, leg.state.name(), leg.filled, leg.terms.quantity);
        legs.map(line).collect::<Vec<_>>().join(", ")
    }
}

/// `halves 1 done refused`, `halves 1 refused done V2`
pub(super) fn halves(order: OrderId, canceled: &str, placed: &str, new_leg: &[&str]) -> ReportKind {
    let outcome = |word: &str| match word {
        "done" => HalfOutcome::Done,
        "refused" => HalfOutcome::Refused,
        _ => HalfOutcome::Unknown,
    };
    ReportKind::CancelReplaced(Box::new(CancelReplaceReport {
        order,
        old_leg: None,
        canceled: outcome(canceled),
        new_leg: new_leg.first().map(|leg| (*leg).into()),
        placed: outcome(placed),
        reason: Some("no funds".into()),
        dead_after: None,
    }))
}
