//! The conformance kit against a simulated venue that cancels an order and places another one, and against adapters with one
//! fault each in what they tell of legs.

use std::collections::BTreeMap;

use adapters::check;
use adapters::conformance::{RuleOutcome, RuleVerdict};
use adapters::{
    MarketFeed, OrderSession, ReportSink, SendLease, SendOutcome, SessionLost, SimulatedAdapter, VenueOrderRules,
};
use crossbeam_channel::Receiver;
use domain::command::MarketData;
use domain::order::OrderTerms;
use domain::report::{
    AdapterCapabilities, HalfOutcome, InquiryResult, ReplaceKind, ReportKind, VenueFill, VenueOrder, VenueSnapshot,
};
use domain::{AccountId, Order, OrderId, SecurityId, Text, Timestamp};

use crate::harness::SimulatedHarness;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LegFault {
    /// Tells a replace with the id of the first leg.
    KeepsFirstId,
    /// Its fills name no leg, everywhere.
    NamesNoLeg,
    /// Tells that nothing was done as if the order had been cancelled.
    CancelsUndone,
    /// Tells that only the cancel was done as if nothing had been.
    HidesCancel,
    /// Tells that only the new leg was placed as if both halves were done.
    HidesSecondLeg,
    /// Its answers know the newest leg alone.
    AnswersOneLeg,
    /// Lists the newest leg alone.
    ListsOneLeg,
    /// Its snapshot has the newest leg alone.
    ShowsOneLeg,
    /// Cancels the order where a leg is meant.
    CancelsOrder,
}

impl LegFault {
    const ALL: [Self; 9] = [
        Self::KeepsFirstId,
        Self::NamesNoLeg,
        Self::CancelsUndone,
        Self::HidesCancel,
        Self::HidesSecondLeg,
        Self::AnswersOneLeg,
        Self::ListsOneLeg,
        Self::ShowsOneLeg,
        Self::CancelsOrder,
    ];
}

fn not_kept(outcomes: &[RuleOutcome]) -> Vec<&'static str> {
    outcomes.iter().filter(|outcome| outcome.verdict != RuleVerdict::Passed).map(|outcome| outcome.rule).collect()
}

#[test]
fn the_simulated_venue_keeps_every_rule_with_legs() {
    let outcomes = check(|| SimulatedHarness::replacing(ReplaceKind::CancelReplace, |simulated| simulated));
    let told: Vec<String> = outcomes.iter().map(RuleOutcome::to_string).collect();
    assert_eq!(not_kept(&outcomes), [""; 0], "{told:#?}");
    assert!(outcomes.iter().any(|outcome| outcome.rule == "an inquiry finds both legs"));
}

#[test]
fn each_fault_in_what_is_told_of_legs_is_caught_by_the_rule_for_it_alone() {
    let broken_by = |fault| {
        let wrap = move |honest| LegFaulty { honest, fault, first_ids: BTreeMap::new() };
        not_kept(&check(|| SimulatedHarness::replacing(ReplaceKind::CancelReplace, wrap)))
    };
    let expected = [
        "a replaced order has a new id at the venue",
        "a fill names the leg that traded",
        "a replace of which nothing was done leaves the order",
        "a replace of which only the cancel was done is told so",
        "a replace of which only the new leg was done is told so",
        "an inquiry finds both legs",
        "the list of open orders has both legs",
        "the snapshot has both legs",
        "a leg is cancelled by its id, and the order stays",
    ];
    for (fault, rule) in LegFault::ALL.into_iter().zip(expected) {
        assert_eq!(broken_by(fault), [rule], "{fault:?}");
    }
}

struct LegFaulty {
    honest: SimulatedAdapter,
    fault: LegFault,
    first_ids: BTreeMap<OrderId, Text>,
}

impl OrderSession for LegFaulty {
    fn capabilities(&self) -> AdapterCapabilities {
        self.honest.capabilities()
    }

    fn order_rules(&self, security: SecurityId) -> VenueOrderRules {
        self.honest.order_rules(security)
    }

    fn set_lease(&mut self, lease: SendLease) {
        self.honest.set_lease(lease);
    }

    fn connect(&mut self, at: Timestamp) -> Result<(), SessionLost> {
        self.honest.connect(at)
    }

    fn snapshot(&mut self, at: Timestamp) -> Result<VenueSnapshot, SessionLost> {
        let mut snapshot = self.honest.snapshot(at)?;
        if self.fault == LegFault::ShowsOneLeg {
            keep_newest(&mut snapshot.orders);
        }
        if self.fault == LegFault::NamesNoLeg {
            snapshot.fills.iter_mut().for_each(forget_leg);
        }
        Ok(snapshot)
    }

    fn submit(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        self.honest.submit(at, order)
    }

    fn modify(&mut self, at: Timestamp, order: &Order, terms: OrderTerms) -> SendOutcome {
        self.honest.modify(at, order, terms)
    }

    fn cancel(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        self.honest.cancel(at, order)
    }

    fn cancel_leg(&mut self, at: Timestamp, order: &Order, leg: &Text) -> SendOutcome {
        match self.fault {
            LegFault::CancelsOrder => self.honest.cancel(at, order),
            _ => self.honest.cancel_leg(at, order, leg),
        }
    }

    fn inquire(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        self.honest.inquire(at, order)
    }

    fn ask_statement(&mut self, at: Timestamp, account: AccountId) -> SendOutcome {
        self.honest.ask_statement(at, account)
    }

    fn list_open_orders(&mut self, at: Timestamp) -> SendOutcome {
        self.honest.list_open_orders(at)
    }

    fn list_fills(&mut self, at: Timestamp, security: Option<SecurityId>, cursor: Option<&Text>) -> SendOutcome {
        self.honest.list_fills(at, security, cursor)
    }

    fn deliver(&mut self, at: Timestamp, sink: &mut dyn ReportSink) -> Result<(), SessionLost> {
        let mut sink = LegSink { fault: self.fault, first_ids: &mut self.first_ids, sink };
        self.honest.deliver(at, &mut sink)
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.honest.next_due()
    }

    fn waker(&self) -> Receiver<()> {
        self.honest.waker()
    }

    fn disconnect(&mut self, at: Timestamp) {
        self.honest.disconnect(at);
    }
}

impl MarketFeed for LegFaulty {
    fn subscribe(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome {
        self.honest.subscribe(at, security)
    }

    fn unsubscribe(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome {
        self.honest.unsubscribe(at, security)
    }
}

fn forget_leg(fill: &mut VenueFill) {
    fill.ext_order = None;
}

/// Of the legs of each order the last one.
fn keep_newest(orders: &mut Vec<VenueOrder>) {
    let listed = std::mem::take(orders);
    for seen in listed {
        orders.retain(|known| known.order != seen.order);
        orders.push(seen);
    }
}

struct LegSink<'a> {
    fault: LegFault,
    first_ids: &'a mut BTreeMap<OrderId, Text>,
    sink: &'a mut dyn ReportSink,
}

impl LegSink<'_> {
    fn changed(&mut self, said: ReportKind) -> ReportKind {
        match (self.fault, said) {
            (LegFault::KeepsFirstId, ReportKind::Replaced { order, terms, .. }) => {
                ReportKind::Replaced { order, terms, ext_id: self.first_ids.get(&order).cloned() }
            }
            (LegFault::CancelsUndone, ReportKind::ReplaceRejected { order, reason })
                if self.first_ids.contains_key(&order) =>
            {
                ReportKind::Canceled { order, reason: Some(reason) }
            }
            (LegFault::HidesCancel, ReportKind::CancelReplaced(told)) if told.placed == HalfOutcome::Refused => {
                ReportKind::ReplaceRejected {
                    order: told.order,
                    reason: told.reason.unwrap_or_else(|| "refused".into()),
                }
            }
            (LegFault::HidesSecondLeg, ReportKind::CancelReplaced(mut told)) => {
                told.canceled = HalfOutcome::Done;
                ReportKind::CancelReplaced(told)
            }
            (_, said) => said,
        }
    }

    fn change_lists(&self, said: &mut ReportKind) {
        match (self.fault, said) {
            (LegFault::NamesNoLeg, ReportKind::Filled(fill)) => forget_leg(fill),
            (LegFault::NamesNoLeg, ReportKind::Fills(page)) => page.fills.iter_mut().for_each(forget_leg),
            (LegFault::NamesNoLeg, ReportKind::Inquiry(answer)) => {
                if let InquiryResult::Found(_, fills) = &mut answer.result {
                    fills.iter_mut().for_each(forget_leg);
                }
            }
            (LegFault::AnswersOneLeg, ReportKind::Inquiry(answer)) => answer.other_legs = None,
            (LegFault::ListsOneLeg, ReportKind::OpenOrders(page)) => keep_newest(&mut page.orders),
            _ => {}
        }
    }
}

impl ReportSink for LegSink<'_> {
    fn on_report(&mut self, at: Option<Timestamp>, said: ReportKind) {
        if let ReportKind::Accepted { order, ext_id: Some(ext_id) } = &said {
            self.first_ids.insert(*order, ext_id.clone());
        }
        let mut said = self.changed(said);
        self.change_lists(&mut said);
        self.sink.on_report(at, said);
    }

    fn on_market_data(&mut self, data: MarketData) {
        self.sink.on_market_data(data);
    }
}
