//! Faulty adapters, each with one fault, around a correct one.

use std::collections::BTreeSet;

use adapters::{
    MarketFeed, OrderSession, ReportSink, SendLease, SendOutcome, SessionLost, SimulatedAdapter, VenueOrderRules,
};
use crossbeam_channel::Receiver;
use domain::command::MarketData;
use domain::order::OrderTerms;
use domain::report::{
    AdapterCapabilities, InquiryAnswer, InquiryResult, LineKind, ReportKind, VenueFill, VenueOrder, VenueOrderState,
    VenueSnapshot, VenueStatement,
};
use domain::{AccountId, Amount, Charge, ChargeKind, Currency, Order, OrderId, SecurityId, Source, Text, Timestamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// Reports requests as sent that it did not send.
    Pretends,
    /// Its snapshot has no fills.
    ForgetsFills,
    /// Never reports that an order was canceled.
    SwallowsCancels,
    /// Treats a known order as a new one.
    Doubles,
    /// Reports an order as accepted before the venue has it.
    SpeaksTooSoon,
    /// Does not notice that the connection is cut.
    HidesLostSessions,
    /// Keeps all prices to itself.
    WithholdsPrices,
    /// All fills have one id.
    ReusesIds,
    /// Answers with the terms of another order.
    AnswersOtherTerms,
    /// Its answers have no fills.
    AnswersWithoutFills,
    /// Its answers know open orders only.
    AnswersLive,
    /// Does not answer about an order that the venue does not have.
    SwallowsAbsence,
    /// Sends an order that it is asked about and that the venue does not have.
    SendsAgain,
    /// Its answers are as of their arrival.
    DatesAnswersLate,
    /// Reports inquiries as sent that it did not send.
    PretendsInquiries,
    /// Its snapshot does not say as of when it is.
    UndatedSnapshot,
    /// Does not tell that reports were lost.
    HidesGaps,
    /// Its statements do not say what open orders hold.
    StatesNoLocks,
    /// Its statements have no positions.
    StatesNoPositions,
    /// Reports fills without their fees, everywhere.
    DropsFees,
    /// Reports the fee of each fill in two ways, everywhere.
    ChargesTwice,
    /// Its statements are as of their arrival.
    DatesStatementsLate,
    /// Reports questions for statements as sent that it did not send.
    PretendsStatements,
    /// Does not tell that a line has failed or is back.
    HidesLines,
    /// Reports requests as sent on a line that is down.
    PretendsLine,
    /// Drops answers while its private line is down.
    AnswersPrivately,
    /// Brings no prices any more once their line has failed.
    LosesFeed,
    /// Lists orders that have ended as open.
    ListsEnded,
    /// Its list of open orders has none.
    ListsNothing,
    /// Its list of open orders never ends.
    ListsWithoutEnd,
    /// Its lists are as of their arrival.
    DatesListsLate,
    /// Lists no fills.
    ListsNoFills,
    /// Lists all fills, whatever the cursor.
    IgnoresCursors,
    /// Reports lists as asked for that it did not ask for.
    PretendsLists,
    /// Does not tell of an order that somebody else placed.
    HidesExternalOrders,
    /// Its snapshot has our own orders only.
    ForgetsExternalOrders,
    /// Reports orders of somebody else without their fills.
    HidesExternalFills,
    /// Never sends the cancel of an order that somebody else placed.
    KeepsExternalOrders,
    /// Asks about orders of somebody else by our number.
    MissesExternalOrders,
    /// Does not tell what the venue takes of a security.
    HidesListings,
    /// Does not tell what changed before the session.
    MissesListings,
    /// Tells every listing again after a log-on.
    RepeatsListings,
}

impl FaultKind {
    pub(crate) const ALL: [Self; 42] = [
        Self::Pretends,
        Self::ForgetsFills,
        Self::SwallowsCancels,
        Self::Doubles,
        Self::SpeaksTooSoon,
        Self::HidesLostSessions,
        Self::WithholdsPrices,
        Self::ReusesIds,
        Self::AnswersOtherTerms,
        Self::AnswersWithoutFills,
        Self::AnswersLive,
        Self::SwallowsAbsence,
        Self::SendsAgain,
        Self::DatesAnswersLate,
        Self::PretendsInquiries,
        Self::UndatedSnapshot,
        Self::HidesGaps,
        Self::StatesNoLocks,
        Self::StatesNoPositions,
        Self::DropsFees,
        Self::ChargesTwice,
        Self::DatesStatementsLate,
        Self::PretendsStatements,
        Self::HidesLines,
        Self::PretendsLine,
        Self::AnswersPrivately,
        Self::LosesFeed,
        Self::ListsEnded,
        Self::ListsNothing,
        Self::ListsWithoutEnd,
        Self::DatesListsLate,
        Self::ListsNoFills,
        Self::IgnoresCursors,
        Self::PretendsLists,
        Self::HidesExternalOrders,
        Self::ForgetsExternalOrders,
        Self::HidesExternalFills,
        Self::KeepsExternalOrders,
        Self::MissesExternalOrders,
        Self::HidesListings,
        Self::MissesListings,
        Self::RepeatsListings,
    ];
}

pub(crate) struct FaultyAdapter {
    honest: SimulatedAdapter,
    lie: FaultKind,
    known: BTreeSet<OrderId>,
    /// Orders that `SpeaksTooSoon` has not sent yet.
    held: Vec<(Timestamp, Order)>,
    /// Orders that `SendsAgain` was asked about.
    asked_about: Vec<Order>,
    /// Lines that have failed; those of prices stay here.
    failed: BTreeSet<LineKind>,
    listings: FaultyListings,
}

/// The listings that were told, and whether the session has just begun.
#[derive(Default)]
struct FaultyListings {
    told: Vec<ReportKind>,
    is_new_session: bool,
}

/// The copy of an order that `Doubles` makes has its id plus this.
const SECOND: u64 = 1_000_000;

impl FaultyAdapter {
    pub(crate) fn new(honest: SimulatedAdapter, lie: FaultKind) -> Self {
        Self {
            honest,
            lie,
            known: BTreeSet::new(),
            held: Vec::new(),
            asked_about: Vec::new(),
            failed: BTreeSet::new(),
            listings: FaultyListings::default(),
        }
    }

    fn send_held(&mut self, at: Timestamp, sink: &mut dyn ReportSink) {
        for (sent_at, order) in std::mem::take(&mut self.held) {
            sink.on_report(Some(at), ReportKind::Accepted { order: order.id, ext_id: None });
            self.honest.submit(sent_at, &order);
        }
    }
}

impl OrderSession for FaultyAdapter {
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
        let connected = self.honest.connect(at);
        self.listings.is_new_session = true;
        if self.lie == FaultKind::HidesLostSessions { Ok(()) } else { connected }
    }

    fn snapshot(&mut self, at: Timestamp) -> Result<VenueSnapshot, SessionLost> {
        let mut snapshot = self.honest.snapshot(at)?;
        match self.lie {
            FaultKind::ForgetsFills => snapshot.fills.clear(),
            FaultKind::UndatedSnapshot => snapshot.as_of = None,
            FaultKind::ForgetsExternalOrders => snapshot.external.clear(),
            FaultKind::ReusesIds => snapshot.fills.iter_mut().for_each(|fill| fill.exec_id = "1".into()),
            lie => snapshot.fills.iter_mut().for_each(|fill| change_fee(lie, fill)),
        }
        Ok(snapshot)
    }

    fn submit(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        let is_new = self.known.insert(order.id);
        match self.lie {
            FaultKind::Doubles if !is_new => {
                self.honest.submit(at, &Order { id: OrderId(order.id.0 + SECOND), ..order.clone() })
            }
            FaultKind::SpeaksTooSoon if is_new && self.honest.snapshot(at).is_ok() => {
                self.held.push((at, order.clone()));
                SendOutcome::Sent
            }
            FaultKind::Pretends => {
                self.honest.submit(at, order);
                SendOutcome::Sent
            }
            _ => self.honest.submit(at, order),
        }
    }

    fn modify(&mut self, at: Timestamp, order: &Order, terms: OrderTerms) -> SendOutcome {
        self.honest.modify(at, order, terms)
    }

    fn cancel(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        if self.lie == FaultKind::KeepsExternalOrders && order.source == Source::External {
            return SendOutcome::Sent;
        }
        self.honest.cancel(at, order)
    }

    fn cancel_leg(&mut self, at: Timestamp, order: &Order, leg: &Text) -> SendOutcome {
        self.honest.cancel_leg(at, order, leg)
    }

    fn inquire(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        let asked = match self.lie {
            FaultKind::MissesExternalOrders => {
                self.honest.inquire(at, &Order { source: Source::Rest, ..order.clone() })
            }
            _ => self.honest.inquire(at, order),
        };
        if self.lie == FaultKind::SendsAgain && asked == SendOutcome::Sent {
            self.asked_about.push(order.clone());
        }
        match self.lie {
            FaultKind::PretendsInquiries => SendOutcome::Sent,
            FaultKind::PretendsLine if self.failed.contains(&LineKind::Trading) => SendOutcome::Sent,
            _ => asked,
        }
    }

    fn ask_statement(&mut self, at: Timestamp, account: AccountId) -> SendOutcome {
        let asked = self.honest.ask_statement(at, account);
        if self.lie == FaultKind::PretendsStatements { SendOutcome::Sent } else { asked }
    }

    fn list_open_orders(&mut self, at: Timestamp) -> SendOutcome {
        let asked = self.honest.list_open_orders(at);
        if self.lie == FaultKind::PretendsLists { SendOutcome::Sent } else { asked }
    }

    fn list_fills(&mut self, at: Timestamp, security: Option<SecurityId>, cursor: Option<&Text>) -> SendOutcome {
        let cursor = cursor.filter(|_| self.lie != FaultKind::IgnoresCursors);
        self.honest.list_fills(at, security, cursor)
    }

    fn deliver(&mut self, at: Timestamp, sink: &mut dyn ReportSink) -> Result<(), SessionLost> {
        self.send_held(at, sink);
        let ended = match self.lie {
            FaultKind::ListsEnded => self.honest.snapshot(at).map(ended_orders).unwrap_or_default(),
            _ => vec![],
        };
        if self.lie == FaultKind::RepeatsListings && self.listings.is_new_session {
            self.listings.told.iter().for_each(|said| sink.on_report(None, said.clone()));
        }
        let listings = &mut self.listings;
        let mut sink = FaultySink { lie: self.lie, ended, sink, failed: &mut self.failed, listings };
        let delivered = self.honest.deliver(at, &mut sink);
        self.listings.is_new_session = false;
        for order in std::mem::take(&mut self.asked_about) {
            self.honest.submit(at, &order);
        }
        if self.lie == FaultKind::HidesLostSessions { Ok(()) } else { delivered }
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

impl MarketFeed for FaultyAdapter {
    fn subscribe(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome {
        self.honest.subscribe(at, security)
    }

    fn unsubscribe(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome {
        self.honest.unsubscribe(at, security)
    }
}

/// As if they were open.
fn ended_orders(snapshot: VenueSnapshot) -> Vec<VenueOrder> {
    let ended = snapshot.orders.into_iter().filter(|order| order.state != VenueOrderState::Live);
    ended.map(|order| VenueOrder { state: VenueOrderState::Live, ..order }).collect()
}

/// The venue's reports, changed by the fault.
struct FaultySink<'a> {
    lie: FaultKind,
    /// Orders that `ListsEnded` lists as open.
    ended: Vec<VenueOrder>,
    sink: &'a mut dyn ReportSink,
    failed: &'a mut BTreeSet<LineKind>,
    listings: &'a mut FaultyListings,
}

impl FaultySink<'_> {
    /// Whether the answer is given at all.
    fn change_answer(&self, at: Option<Timestamp>, answer: &mut InquiryAnswer) -> bool {
        match (self.lie, &mut answer.result) {
            (FaultKind::SwallowsAbsence, InquiryResult::NotFound) => return false,
            (FaultKind::AnswersPrivately, _) if self.failed.contains(&LineKind::Private) => return false,
            (FaultKind::AnswersOtherTerms, InquiryResult::Found(seen, _)) => seen.terms.quantity = 1.into(),
            (FaultKind::AnswersWithoutFills, InquiryResult::Found(_, fills)) => fills.clear(),
            (FaultKind::AnswersLive, InquiryResult::Found(seen, _)) => seen.state = VenueOrderState::Live,
            (FaultKind::DatesAnswersLate, _) => answer.as_of = at.unwrap_or(answer.as_of),
            (FaultKind::ReusesIds, InquiryResult::Found(_, fills)) => {
                fills.iter_mut().for_each(|fill| fill.exec_id = "1".into());
            }
            (lie, InquiryResult::Found(_, fills)) => fills.iter_mut().for_each(|fill| change_fee(lie, fill)),
            _ => {}
        }
        true
    }
}

/// With the account's currency in the market of all tests.
fn change_fee(lie: FaultKind, fill: &mut VenueFill) {
    match (lie, fill.fee) {
        (FaultKind::DropsFees, _) => fill.fee = None,
        (FaultKind::ChargesTwice, Some(amount)) => {
            fill.charges = vec![Charge { amount, currency: Currency::USD, kind: ChargeKind::Fee }];
        }
        _ => {}
    }
}

fn change_statement(lie: FaultKind, at: Option<Timestamp>, statement: &mut VenueStatement) {
    match lie {
        FaultKind::StatesNoLocks => statement.cash.iter_mut().for_each(|balance| balance.locked = Amount::ZERO),
        FaultKind::StatesNoPositions => statement.positions.clear(),
        FaultKind::DatesStatementsLate => statement.as_of = at.unwrap_or(statement.as_of),
        _ => {}
    }
}

impl FaultySink<'_> {
    fn change_list(&self, at: Option<Timestamp>, said: &mut ReportKind) {
        match (self.lie, said) {
            (FaultKind::ListsEnded, ReportKind::OpenOrders(page)) => page.orders.extend_from_slice(&self.ended),
            (FaultKind::ListsNothing, ReportKind::OpenOrders(page)) => page.orders.clear(),
            (FaultKind::ListsWithoutEnd, ReportKind::OpenOrders(page)) => page.last = false,
            (FaultKind::DatesListsLate, ReportKind::OpenOrders(page)) => page.as_of = at.unwrap_or(page.as_of),
            (FaultKind::DatesListsLate, ReportKind::Fills(page)) => page.as_of = at.unwrap_or(page.as_of),
            (FaultKind::ListsNoFills, ReportKind::Fills(page)) => page.fills.clear(),
            (FaultKind::ReusesIds, ReportKind::Fills(page)) => {
                page.fills.iter_mut().for_each(|fill| fill.exec_id = "1".into());
            }
            (lie, ReportKind::Fills(page)) => page.fills.iter_mut().for_each(|fill| change_fee(lie, fill)),
            _ => {}
        }
    }
}

impl ReportSink for FaultySink<'_> {
    fn on_report(&mut self, at: Option<Timestamp>, mut said: ReportKind) {
        self.change_list(at, &mut said);
        if let ReportKind::Inquiry(answer) = &mut said
            && !self.change_answer(at, answer)
        {
            return;
        }
        if let ReportKind::Line { line, up, .. } = said {
            match up && line != LineKind::Prices {
                true => self.failed.remove(&line),
                false => self.failed.insert(line),
            };
        }
        if matches!(said, ReportKind::Listed { .. }) {
            self.listings.told.push(said.clone());
        }
        match (self.lie, &mut said) {
            (FaultKind::HidesListings, ReportKind::Listed { .. }) => return,
            (FaultKind::MissesListings, ReportKind::Listed { .. }) if self.listings.is_new_session => return,
            (FaultKind::HidesGaps, ReportKind::Gap) | (FaultKind::HidesLines, ReportKind::Line { .. }) => return,
            (FaultKind::HidesExternalOrders, ReportKind::External(seen)) if seen.fills.is_empty() => return,
            (FaultKind::HidesExternalFills, ReportKind::External(seen)) => seen.fills.clear(),
            (FaultKind::SwallowsCancels, ReportKind::Canceled { .. })
            | (FaultKind::SpeaksTooSoon, ReportKind::Accepted { .. }) => return,
            (FaultKind::Doubles, ReportKind::Accepted { order, .. }) => order.0 %= SECOND,
            (FaultKind::Doubles, ReportKind::Filled(fill)) => fill.order.0 %= SECOND,
            (FaultKind::ReusesIds, ReportKind::Filled(fill)) => fill.exec_id = "1".into(),
            (lie, ReportKind::Filled(fill)) => change_fee(lie, fill),
            (lie, ReportKind::Statement(statement)) => change_statement(lie, at, statement),
            _ => {}
        }
        self.sink.on_report(at, said);
    }

    fn on_market_data(&mut self, data: MarketData) {
        let is_lost = self.lie == FaultKind::LosesFeed && self.failed.contains(&LineKind::Prices);
        if self.lie != FaultKind::WithholdsPrices && !is_lost {
            self.sink.on_market_data(data);
        }
    }
}
