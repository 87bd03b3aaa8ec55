//! Requests of the engine: checked, admitted and handed to the network. What the venue would refuse is refused here.

use adapter_kit::connection::RequestFailure;
use adapter_kit::{RequestLane, check_first_day};
use adapters::SendOutcome;
use domain::order::OrderTerms;
use domain::report::ReportKind;
use domain::{AccountId, Order, OrderId, OrderKind, Refusal, SecurityId, Source, Text, TimeInForce, Timestamp, WireId};

use tokio::sync::mpsc::error::TrySendError;

use super::state::BinanceAdapter;
use super::waiting::{RequestPurpose, RequestWay, UnansweredRequest};
use crate::market_streams::StreamCommand;
use crate::network::{TaggedRequest, call_rest};
use crate::order_tracker::{OrderRequestKind, Replacing, ReplacingBy};
use crate::orders::client_id::{client_id, replace_cancel_id};
use crate::orders::order_mapping::{ReplaceWay, replace_way, ticket_of};
use crate::protocol::requests::{BinanceRequest, OrderReference, OrderTicket};
use crate::symbols::symbol_rules::check_ticket;

impl BinanceAdapter {
    /// Admits a request and hands it to the network.
    pub(super) fn send(
        &mut self,
        at: Timestamp,
        (lane, way): (RequestLane, RequestWay),
        purpose: RequestPurpose,
        request: BinanceRequest,
    ) -> Result<(), Text> {
        let way = self.way_now(way);
        let Some(session) = self.session.as_ref().filter(|_| self.outbox.lost.is_none()) else {
            return Err("not logged on".into());
        };
        let connection = (way == RequestWay::Socket).then_some(session.api.connection);
        let (grant, stamp) = self.gate.admit(at, lane, &request)?;
        self.next_tag += 1;
        let lease = self.lease.clone().filter(|_| request.call.trades());
        let sent = TaggedRequest { tag: self.next_tag, request, stamp, lease };
        let handed = match way {
            RequestWay::Socket => session.api.try_send(sent).map_err(|full| refusal_of(&full)),
            RequestWay::Rest => {
                let clock = std::sync::Arc::clone(&self.setup.clock);
                self.runtime.spawn(call_rest(std::sync::Arc::clone(&self.rest), sent, clock, session.out.clone()));
                Ok(())
            }
        };
        if let Err(reason) = handed {
            self.gate.on_failure(at, grant, &RequestFailure::NotSent(reason.to_owned()));
            return Err(reason.into());
        }
        self.requests.insert(self.next_tag, UnansweredRequest { purpose, grant, sent_at: at, connection });
        Ok(())
    }

    fn send_order(
        &mut self,
        at: Timestamp,
        lane: RequestLane,
        purpose: (OrderId, OrderRequestKind),
        request: BinanceRequest,
    ) -> SendOutcome {
        outcome(self.send(at, (lane, RequestWay::Socket), RequestPurpose::Order(purpose.0, purpose.1), request))
    }

    pub(super) fn send_submit(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        if self.session.is_none() {
            return SendOutcome::NotSent("not logged on".into());
        }
        // The venue would take the id again once the order has ended.
        if self.tracker.knows(order.id) {
            return SendOutcome::Sent;
        }
        let ticket = match self.ticket(at, order, order.terms) {
            Ok(ticket) => ticket,
            Err(reason) => {
                self.outbox.report(ReportKind::Rejected { order: order.id, reason });
                return self.refused_here();
            }
        };
        if let Err(error) = self.traded.add(&ticket.symbol) {
            return SendOutcome::NotSent(format!("the symbol cannot be remembered: {error}").into());
        }
        self.tracker.on_submit(order.id, ticket.client_id.clone(), is_immediate(&order.terms));
        let purpose = (order.id, OrderRequestKind::Submit);
        let sending = self.send_order(at, RequestLane::Submit, purpose, BinanceRequest::place(&ticket));
        if sending != SendOutcome::Sent {
            self.tracker.on_not_sent(order.id);
        }
        sending
    }

    /// The order as the venue wants it, or why it would be refused.
    pub(super) fn ticket(&self, at: Timestamp, order: &Order, terms: OrderTerms) -> Result<OrderTicket, Text> {
        let symbol = self.symbols.symbol_of(order.security);
        let listed = symbol.as_deref().and_then(|symbol| self.symbols.get(symbol));
        let listed = listed.ok_or("venue-unlisted: the venue does not list the security")?;
        let request = WireId::newest(self.setup.instance, order).to_string();
        let id = client_id(&request, terms.tif).ok_or_else(|| unmarked(terms.tif))?;
        let ticket = ticket_of(&listed.symbol, order.side, terms, order.properties, id);
        let ticket = ticket.map_err(|refusal| Text::from(refusal.to_string()))?;
        let ticket = OrderTicket { stp_mode: self.setup.self_trade.clone(), ..ticket };
        let checked = check_ticket(self.symbols.listings(), listed, &ticket);
        checked.map_err(|refusal| Text::from(refusal.to_string()))?;
        let asked = Order { terms, ..order.clone() };
        check_first_day(self.first_day.as_ref(), at, &asked, self.symbols.contract_size(order.security))?;
        Ok(ticket)
    }

    /// What is refused here is told by `deliver`, as an answer of the venue would be.
    fn refused_here(&self) -> SendOutcome {
        let _ = self.wake.0.try_send(());
        SendOutcome::Sent
    }

    pub(super) fn send_cancel(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        let Some((symbol, reference)) = self.symbols.symbol_of(order.security).zip(self.tracker.reference(order))
        else {
            self.outbox.report(ReportKind::CancelRejected { order: order.id, reason: "venue-unlisted".into() });
            return self.refused_here();
        };
        let request = BinanceRequest::cancel(&symbol, &reference, &self.cancel_id(order));
        self.send_order(at, RequestLane::Cancel, (order.id, OrderRequestKind::Cancel), request)
    }

    /// The order itself stays. That the leg is gone is told by its event.
    pub(super) fn send_leg_cancel(&mut self, at: Timestamp, order: &Order, leg: &Text) -> SendOutcome {
        let symbol = self.symbols.symbol_of(order.security);
        let Some((symbol, number)) = symbol.zip(leg.parse::<i64>().ok()) else {
            return SendOutcome::NotSent("venue-unlisted: the venue has no such order".into());
        };
        self.tracker.on_leg_cancel(order, number);
        let request = BinanceRequest::cancel(&symbol, &OrderReference::Venue(number), &self.cancel_id(order));
        outcome(self.send(at, (RequestLane::Cancel, RequestWay::Socket), RequestPurpose::CancelLeg(order.id), request))
    }

    /// An order that was placed elsewhere must not look like one of ours afterwards.
    fn cancel_id(&self, order: &Order) -> String {
        let id = WireId::newest(self.setup.instance, order);
        if order.source == Source::External { format!("X-{id}") } else { id.to_string() }
    }

    pub(super) fn send_replace(&mut self, at: Timestamp, order: &Order, terms: OrderTerms) -> SendOutcome {
        if self.session.is_none() {
            return SendOutcome::NotSent("not logged on".into());
        }
        match self.replace_request(at, order, terms) {
            Ok((kind, replacing, request)) => {
                let sending = self.send_order(at, RequestLane::Replace, (order.id, kind), request);
                if sending == SendOutcome::Sent {
                    self.tracker.on_replace(order, replacing);
                }
                sending
            }
            Err(reason) => {
                self.outbox.report(ReportKind::ReplaceRejected { order: order.id, reason });
                self.refused_here()
            }
        }
    }

    /// Lowering the quantity keeps the place in the queue. Anything else is a new leg, and only of an order without fills:
    /// one that fills while it is replaced would trade too much.
    fn replace_request(
        &self,
        at: Timestamp,
        order: &Order,
        terms: OrderTerms,
    ) -> Result<(OrderRequestKind, Replacing, BinanceRequest), Text> {
        let leg_terms = order.leg_terms(terms).map_err(|overflow| Text::from(Refusal::from(overflow).to_string()))?;
        let ticket = self.ticket(at, order, leg_terms)?;
        let listed = self.symbols.get(&ticket.symbol).ok_or("venue-unlisted: the venue does not list the security")?;
        let reference = self.tracker.reference(order).ok_or_else(|| unmarked(order.terms.tif))?;
        let way = replace_way(&order.terms, &terms, listed.has_amend, listed.has_cancel_replace);
        match (way, reference) {
            (ReplaceWay::Amend, OrderReference::Client(id)) => {
                let quantity = leg_terms.quantity.0 + self.tracker.prevented(order.id);
                let request = BinanceRequest::amend(&ticket.symbol, &id, quantity);
                Ok((OrderRequestKind::Amend, Replacing { terms: leg_terms, by: ReplacingBy::Amendment }, request))
            }
            (ReplaceWay::CancelReplace | ReplaceWay::Amend, reference) if order.filled.is_zero() => {
                let cancel_id = replace_cancel_id(&WireId::newest(self.setup.instance, order).to_string());
                let request = BinanceRequest::cancel_replace(&reference, &cancel_id, &ticket, true);
                let by = ReplacingBy::Leg { client_id: ticket.client_id, is_canceled: false };
                Ok((OrderRequestKind::CancelReplace, Replacing { terms, by }, request))
            }
            (ReplaceWay::CancelReplace | ReplaceWay::Amend, _) => Err(
                "venue-replace: of an order with fills only the quantity can be lowered; cancel it and send a new one"
                    .into(),
            ),
            (ReplaceWay::Nothing, _) => Err("venue-replace: nothing would change".into()),
            (ReplaceWay::Unavailable, _) => Err("venue-replace: the symbol allows no replace".into()),
        }
    }

    pub(super) fn send_statement_request(&mut self, at: Timestamp, account: AccountId) -> SendOutcome {
        let purpose = RequestPurpose::Statement(account, at);
        outcome(self.send(at, (RequestLane::Statement, RequestWay::Socket), purpose, BinanceRequest::account()))
    }

    pub(super) fn send_subscription(&mut self, security: SecurityId, is_wanted: bool) -> SendOutcome {
        let Some(session) = &self.session else { return SendOutcome::NotSent("not logged on".into()) };
        let Some(symbol) = self.symbols.symbol_of(security).filter(|symbol| self.symbols.get(symbol).is_some()) else {
            return SendOutcome::NotSent("venue-unlisted: the venue does not list the security".into());
        };
        let command = match is_wanted {
            true => StreamCommand::Subscribe(self.feed.subscribe(&symbol, security)),
            false => StreamCommand::Unsubscribe(self.feed.unsubscribe(&symbol)),
        };
        let Err(full) = session.prices.try_send(command) else { return SendOutcome::Sent };
        if is_wanted {
            // It is subscribed again with the next session.
            self.feed.unsubscribe(&symbol);
        }
        SendOutcome::NotSent(refusal_of(&full).into())
    }
}

/// Nothing waits without an end, and nothing is queued in silence.
fn refusal_of<T>(refused: &TrySendError<T>) -> &'static str {
    match refused {
        TrySendError::Full(_) => "venue-queue-full: too many requests wait for the connection",
        TrySendError::Closed(_) => "the session has ended",
    }
}

pub(super) fn outcome(sent: Result<(), Text>) -> SendOutcome {
    match sent {
        Ok(()) => SendOutcome::Sent,
        Err(reason) => SendOutcome::NotSent(reason),
    }
}

/// Whether it trades or ends at once, so that its end is told at once too.
fn is_immediate(terms: &OrderTerms) -> bool {
    terms.kind == OrderKind::Market
        || matches!(terms.tif, TimeInForce::Ioc | TimeInForce::Fok) && terms.kind.stop().is_none()
}

fn unmarked(tif: TimeInForce) -> Text {
    format!("venue-tif: the client id cannot carry {}; GTD needs a whole second", tif.name()).into()
}
