//! Adapters with one narrow fault each, which shows only where one rule looks.

use adapters::{
    MarketFeed, OrderSession, ReportSink, SendLease, SendOutcome, SessionLost, SimulatedAdapter, VenueOrderRules,
};
use crossbeam_channel::Receiver;
use domain::command::MarketData;
use domain::order::OrderTerms;
use domain::report::{AdapterCapabilities, ReportKind, VenueSnapshot};
use domain::{AccountId, Order, OrderId, SecurityId, Text, Timestamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NarrowFault {
    /// Serves no exchange.
    NamesNoExchange,
    /// Does not report the cancel of its only order.
    SwallowsOnlyCancel,
    /// Does not report that a cancel was refused.
    SwallowsCancelRejects,
    /// Does not report that a replace was refused.
    SwallowsReplaceRejects,
    /// Does not report that an order was rejected.
    SwallowsRejects,
    /// Forgets the new terms of its only order.
    ForgetsOnlyReplace,
    /// Gives the second fill of a session the id of the first.
    RepeatsIdInSession,
    /// Its second snapshot has the orders the other way round.
    ReordersSnapshot,
    /// Its snapshot after a lost session has only what was reported.
    ForgetsMissedFills,
    /// Reports requests without a session as sent.
    PretendsSession,
    /// Reports inquiries without a session as sent.
    PretendsSessionForInquiries,
    /// Goes on reporting after a disconnect.
    ReportsAfterDisconnect,
    /// Brings prices only after their line has failed.
    WithholdsFirstPrices,
    /// Never ends a subscription.
    KeepsSubscriptions,
    /// Reports a cancel before the venue has it, where it has several orders.
    CancelsTooSoon,
    /// Counts ids of fills from the beginning after a restart.
    RestartsIds,
    /// Tells listings only after a log-on.
    HidesListingsInSession,
}

impl NarrowFault {
    pub(crate) const ALL: [Self; 17] = [
        Self::NamesNoExchange,
        Self::SwallowsOnlyCancel,
        Self::SwallowsCancelRejects,
        Self::SwallowsReplaceRejects,
        Self::SwallowsRejects,
        Self::ForgetsOnlyReplace,
        Self::RepeatsIdInSession,
        Self::ReordersSnapshot,
        Self::ForgetsMissedFills,
        Self::PretendsSession,
        Self::PretendsSessionForInquiries,
        Self::ReportsAfterDisconnect,
        Self::WithholdsFirstPrices,
        Self::KeepsSubscriptions,
        Self::CancelsTooSoon,
        Self::RestartsIds,
        Self::HidesListingsInSession,
    ];
}

/// What an adapter has seen, on which its fault depends.
#[derive(Default)]
struct SeenTraffic {
    sessions: u32,
    is_connected: bool,
    orders: usize,
    replaced: Option<OrderTerms>,
    early_cancels: Vec<OrderId>,
    fills: Vec<Text>,
    inherited: Option<Text>,
    has_failed_line: bool,
    is_new_session: bool,
}

pub(crate) struct NarrowlyFaulty {
    honest: SimulatedAdapter,
    fault: NarrowFault,
    seen: SeenTraffic,
}

impl NarrowlyFaulty {
    pub(crate) fn new(honest: SimulatedAdapter, fault: NarrowFault) -> Self {
        Self { honest, fault, seen: SeenTraffic::default() }
    }

    fn is(&self, fault: NarrowFault) -> bool {
        self.fault == fault
    }

    /// Only a session that is missing is denied, not a line that has failed.
    fn pretend(&self, fault: NarrowFault, sending: SendOutcome) -> SendOutcome {
        if self.is(fault) && !self.seen.has_failed_line { SendOutcome::Sent } else { sending }
    }
}

impl OrderSession for NarrowlyFaulty {
    fn capabilities(&self) -> AdapterCapabilities {
        let mut capabilities = self.honest.capabilities();
        if self.is(NarrowFault::NamesNoExchange) {
            capabilities.exchanges.clear();
        }
        capabilities
    }

    fn order_rules(&self, security: SecurityId) -> VenueOrderRules {
        self.honest.order_rules(security)
    }

    fn set_lease(&mut self, lease: SendLease) {
        self.honest.set_lease(lease);
    }

    fn connect(&mut self, at: Timestamp) -> Result<(), SessionLost> {
        self.honest.connect(at)?;
        self.seen.sessions += 1;
        (self.seen.is_connected, self.seen.is_new_session) = (true, true);
        if self.seen.sessions == 1 {
            let before = self.honest.snapshot(at).ok();
            self.seen.inherited = before.and_then(|snapshot| Some(snapshot.fills.first()?.exec_id.clone()));
        }
        Ok(())
    }

    fn snapshot(&mut self, at: Timestamp) -> Result<VenueSnapshot, SessionLost> {
        let mut snapshot = self.honest.snapshot(at)?;
        match self.fault {
            NarrowFault::ForgetsOnlyReplace if self.seen.orders == 1 => {
                let before = self.seen.replaced;
                snapshot.orders.iter_mut().zip(before).for_each(|(order, before)| order.terms = before);
            }
            NarrowFault::ReordersSnapshot if self.seen.sessions > 1 => snapshot.orders.reverse(),
            NarrowFault::ForgetsMissedFills if self.seen.sessions > 1 => {
                snapshot.fills.retain(|fill| self.seen.fills.contains(&fill.exec_id));
            }
            _ => {}
        }
        Ok(snapshot)
    }

    fn submit(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        self.seen.orders += 1;
        let sending = self.honest.submit(at, order);
        self.pretend(NarrowFault::PretendsSession, sending)
    }

    fn modify(&mut self, at: Timestamp, order: &Order, terms: OrderTerms) -> SendOutcome {
        self.seen.replaced = Some(order.terms);
        let sending = self.honest.modify(at, order, terms);
        self.pretend(NarrowFault::PretendsSession, sending)
    }

    fn cancel(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        let sending = self.honest.cancel(at, order);
        if self.is(NarrowFault::CancelsTooSoon) && sending == SendOutcome::Sent && self.seen.orders > 2 {
            self.seen.early_cancels.push(order.id);
        }
        self.pretend(NarrowFault::PretendsSession, sending)
    }

    fn cancel_leg(&mut self, at: Timestamp, order: &Order, leg: &Text) -> SendOutcome {
        self.honest.cancel_leg(at, order, leg)
    }

    fn inquire(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        let sending = self.honest.inquire(at, order);
        self.pretend(NarrowFault::PretendsSessionForInquiries, sending)
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
        if self.is(NarrowFault::ReportsAfterDisconnect) && !self.seen.is_connected {
            sink.on_report(None, ReportKind::Gap);
        }
        let early = self.seen.early_cancels.clone();
        for order in &early {
            sink.on_report(Some(at), ReportKind::Canceled { order: *order, reason: None });
        }
        let mut sink = NarrowSink { fault: self.fault, seen: &mut self.seen, early, sink };
        let delivered = self.honest.deliver(at, &mut sink);
        self.seen.is_new_session = false;
        delivered
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.honest.next_due()
    }

    fn waker(&self) -> Receiver<()> {
        self.honest.waker()
    }

    fn disconnect(&mut self, at: Timestamp) {
        self.seen.is_connected = false;
        self.honest.disconnect(at);
    }
}

impl MarketFeed for NarrowlyFaulty {
    fn subscribe(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome {
        let sending = self.honest.subscribe(at, security);
        self.pretend(NarrowFault::PretendsSession, sending)
    }

    fn unsubscribe(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome {
        if self.is(NarrowFault::KeepsSubscriptions) { SendOutcome::Sent } else { self.honest.unsubscribe(at, security) }
    }
}

struct NarrowSink<'a> {
    fault: NarrowFault,
    seen: &'a mut SeenTraffic,
    /// Cancels that were reported already.
    early: Vec<OrderId>,
    sink: &'a mut dyn ReportSink,
}

impl ReportSink for NarrowSink<'_> {
    fn on_report(&mut self, at: Option<Timestamp>, mut said: ReportKind) {
        let is_only = self.seen.orders == 1;
        match (self.fault, &mut said) {
            (NarrowFault::SwallowsOnlyCancel, ReportKind::Canceled { .. }) if is_only => return,
            (NarrowFault::SwallowsCancelRejects, ReportKind::CancelRejected { .. })
            | (NarrowFault::SwallowsReplaceRejects, ReportKind::ReplaceRejected { .. })
            | (NarrowFault::SwallowsRejects, ReportKind::Rejected { .. }) => return,
            (NarrowFault::CancelsTooSoon, ReportKind::Canceled { order, .. }) if self.early.contains(order) => {
                self.seen.early_cancels.retain(|early| early != order);
                return;
            }
            (NarrowFault::HidesListingsInSession, ReportKind::Listed { .. }) if !self.seen.is_new_session => return,
            (NarrowFault::RepeatsIdInSession, ReportKind::Filled(fill)) => {
                let first = self.seen.fills.first().cloned();
                fill.exec_id = first.unwrap_or(fill.exec_id.clone());
            }
            (NarrowFault::RepeatsIdInSession, ReportKind::Fills(page)) => {
                let first = page.fills.first().map(|fill| fill.exec_id.clone());
                page.fills.iter_mut().zip(first.iter().cycle()).for_each(|(fill, id)| fill.exec_id = id.clone());
            }
            (NarrowFault::RestartsIds, ReportKind::Filled(fill)) => {
                fill.exec_id = self.seen.inherited.clone().unwrap_or(fill.exec_id.clone());
            }
            (_, ReportKind::Line { .. }) => self.seen.has_failed_line = true,
            _ => {}
        }
        if let ReportKind::Filled(fill) = &said {
            self.seen.fills.push(fill.exec_id.clone());
        }
        self.sink.on_report(at, said);
    }

    fn on_market_data(&mut self, data: MarketData) {
        if self.fault != NarrowFault::WithholdsFirstPrices || self.seen.has_failed_line {
            self.sink.on_market_data(data);
        }
    }
}
