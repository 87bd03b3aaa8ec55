//! What the network brings: answers go to what asked for them, events to the orders and prices. The account in our words:
//! balances as a statement, and movements that are no trades as entries.

use adapter_kit::ClockSample;
use adapter_kit::connection::RequestFailure;
use domain::report::{ListingScope, ReportKind, VenueBalance, VenueEntry, VenueStatement};
use domain::{AccountId, Amount, EntryKind, OrderId, Timestamp};
use serde::Deserialize;

use super::state::BinanceAdapter;
use super::waiting::{RequestPurpose, UnansweredRequest};
use crate::network::NetworkEvent;
use crate::orders::leg_owners::LegOwner;
use crate::orders::order_picture::own_id;
use crate::protocol::answers::account_answers::{AssetBalance, BinanceAccount};
use crate::protocol::answers::error_codes::ErrorMeaning;
use crate::protocol::answers::exchange_info::ExchangeInfo;
use crate::protocol::answers::market_answers::{DepthSnapshot, ServerTime};
use crate::protocol::answers::order_answers::place_error;
use crate::protocol::answers::refusal_codes::is_about_listing;
use crate::protocol::answers::{CallAnswer, CallError};
use crate::protocol::user_events::{BalanceMovedEvent, ExecutionEvent, UserEvent};
use crate::protocol::wire_values::decimal_text;

/// Wrong signatures are a matter of one request; with the others no request would succeed.
const INVALID_SIGNATURE: i64 = -1022;

impl BinanceAdapter {
    pub(super) fn on_network(&mut self, at: Timestamp, event: NetworkEvent) {
        match event {
            NetworkEvent::Answered { tag, answer } => self.on_answered(at, tag, &answer),
            NetworkEvent::Failed { tag, failure } => self.on_failed(at, tag, &failure),
            NetworkEvent::User(connection, event) => self.on_user_event(at, connection, event),
            NetworkEvent::Gap(what) => {
                tracing::warn!(adapter = %self.setup.adapter, what, "a private message cannot be read; orders are asked about");
                self.outbox.report(ReportKind::Gap);
            }
            NetworkEvent::Revoked(connection, error) => {
                self.on_private_end(connection, format!("the venue revoked the session: {}", error.describe()));
            }
            NetworkEvent::ApiOpened(connection) => self.on_api_opened(at, connection),
            NetworkEvent::ApiNotOpened { connection, reason, is_key_refused } => {
                self.on_api_not_opened(at, connection, &reason, is_key_refused);
            }
            NetworkEvent::ApiEnded { connection, reason } => self.on_api_ended(at, connection, &reason),
            NetworkEvent::Market(event) => self.feed.on_event(event, at, &mut self.outbox.prices),
            NetworkEvent::StreamsConfirmed(streams) => {
                self.feed.on_confirmed(&streams, at);
                self.ask_for_books(at);
            }
            NetworkEvent::StreamsRefused(streams) => self.outbox.prices.extend(self.feed.on_refused(&streams)),
            NetworkEvent::PricesUp => self.on_prices_up(at),
            NetworkEvent::PricesDown(reason) => self.on_prices_down(reason.into()),
            NetworkEvent::PricesRenewed => self.on_prices_renewed(at),
        }
    }

    fn on_answered(&mut self, at: Timestamp, tag: u64, answer: &CallAnswer) {
        let Some(UnansweredRequest { purpose, grant, sent_at, .. }) = self.requests.remove(&tag) else { return };
        self.gate.on_answer(at, grant, answer);
        if let Err(error) = &answer.outcome
            && error.meaning == ErrorMeaning::Key
            && error.code != Some(INVALID_SIGNATURE)
        {
            self.lose(format!("the venue does not accept the key: {}", error.describe()));
        }
        let dead_after = sent_at.plus_millis(self.life_millis().into());
        match purpose {
            RequestPurpose::Order(order, kind) => {
                self.look_at_listings_after(at, answer);
                self.tracker.on_answer((order, kind), answer, (at, dead_after), &mut self.outbox.reports);
                if !self.is_private_up() {
                    // No event comes; the engine asks.
                    self.tracker.on_session_end();
                }
            }
            RequestPurpose::Inquiry(order) => self.on_inquiry_answer(at, order, answer),
            RequestPurpose::OrderList(symbol) => self.on_order_list(at, &symbol, answer),
            RequestPurpose::Statement(account, as_of) => self.on_statement(account, as_of, answer),
            RequestPurpose::OpenOrders(as_of) => self.on_open_orders(at, as_of, answer),
            RequestPurpose::Fills(security, as_of) => self.on_fills_answer(at, (security, as_of), answer),
            RequestPurpose::External(key, look) => self.on_external_answer(at, &key, look, answer),
            RequestPurpose::Time(sent) => self.on_time(sent, at, answer),
            RequestPurpose::RestProbe(reason) => {
                if answer.outcome.is_err() {
                    self.lose(reason);
                }
            }
            RequestPurpose::Listings => self.on_listings(at, answer),
            RequestPurpose::Depth(symbol) => self.on_depth(at, &symbol, answer),
            RequestPurpose::Look => self.on_look(at, sent_at, answer),
            RequestPurpose::CancelLeg(order) => self.on_leg_cancel_answer(at, order, answer),
        }
    }

    fn on_leg_cancel_answer(&mut self, at: Timestamp, order: OrderId, answer: &CallAnswer) {
        match &answer.outcome {
            Ok(_) if self.is_private_up() => self.tracker.on_leg_canceled(order, at),
            // No event comes; the engine asks.
            Ok(_) => {}
            Err(error) => {
                let reason = error.describe();
                tracing::warn!(%order, reason, "a leg of an order is not cancelled; the engine asks about it");
            }
        }
    }

    /// A refusal by filters or status says that the venue's list is not as we know it.
    fn look_at_listings_after(&mut self, at: Timestamp, answer: &CallAnswer) {
        let refused = answer.outcome.as_ref().err().and_then(place_error);
        if let (Some((code, message)), Some(session)) = (refused, &mut self.session)
            && is_about_listing(code, &message)
        {
            session.due.hasten_listings(at);
        }
    }

    fn on_failed(&mut self, at: Timestamp, tag: u64, failure: &RequestFailure) {
        let Some(UnansweredRequest { purpose, grant, sent_at, .. }) = self.requests.remove(&tag) else { return };
        self.gate.on_failure(at, grant, failure);
        let dead_after = sent_at.plus_millis(self.life_millis().into());
        match (purpose, failure) {
            (RequestPurpose::Order(order, kind), RequestFailure::NotSent(reason)) => {
                self.tracker.on_request_not_sent((order, kind), reason.as_str().into(), &mut self.outbox.reports);
            }
            (RequestPurpose::Order(order, _), RequestFailure::Unknown(reason)) => {
                self.tracker.on_no_answer(order, reason.as_str().into(), dead_after, &mut self.outbox.reports);
            }
            (other, RequestFailure::NotSent(reason) | RequestFailure::Unknown(reason)) => {
                self.on_question_unanswered(at, &other, reason);
            }
        }
    }

    pub(super) fn on_unanswered(&mut self, at: Timestamp, request: UnansweredRequest, reason: &str) {
        self.gate.on_no_answer(at, request.grant);
        let dead_after = request.sent_at.plus_millis(self.life_millis().into());
        match request.purpose {
            RequestPurpose::Order(order, _) => {
                self.tracker.on_no_answer(order, reason.into(), dead_after, &mut self.outbox.reports);
            }
            other => self.on_question_unanswered(at, &other, reason),
        }
    }

    /// No request that changes an order: nothing is in doubt, and what matters is asked again.
    fn on_question_unanswered(&mut self, at: Timestamp, purpose: &RequestPurpose, reason: &str) {
        match purpose {
            RequestPurpose::Inquiry(order) => self.on_inquiry_unanswered(at, *order),
            RequestPurpose::OrderList(symbol) => self.on_order_list_unanswered(at, symbol, reason),
            RequestPurpose::Depth(symbol) => self.feed.on_snapshot_failed(symbol, at),
            RequestPurpose::OpenOrders(_) | RequestPurpose::Fills(..) => self.on_list_unanswered(purpose, reason),
            RequestPurpose::Statement(account, _) => self.fail_list(ListingScope::Statement(*account), reason),
            RequestPurpose::RestProbe(reason) => self.lose(reason.clone()),
            RequestPurpose::Listings => self.ask_for_listings_again(at),
            RequestPurpose::Order(..)
            | RequestPurpose::CancelLeg(_)
            | RequestPurpose::External(..)
            | RequestPurpose::Time(_)
            | RequestPurpose::Look => {}
        }
    }

    fn on_user_event(&mut self, at: Timestamp, connection: u64, event: UserEvent) {
        match event {
            UserEvent::Execution(event) => self.on_execution(at, &event),
            UserEvent::BalanceMoved(moved) => self.on_balance_moved(&moved),
            UserEvent::StreamTerminated => self.on_private_end(connection, "the venue ended the private stream"),
            UserEvent::ServerShutdown => self.on_shutdown_notice(at, connection),
            UserEvent::Balances(_) | UserEvent::ExternalLock(_) | UserEvent::ListStatus => {}
            UserEvent::Other(kind) => tracing::info!(kind, "a private event of a kind that is not known"),
        }
    }

    fn on_execution(&mut self, at: Timestamp, event: &ExecutionEvent) {
        let own = own_id(self.setup.instance, event.order_client_id());
        let owner = own.map_or(LegOwner::External, |id| LegOwner::Own(id.order));
        self.owners.add(&event.symbol, event.order_id, event.created.unwrap_or(event.at), owner);
        if own.is_none() {
            return self.on_external_event(at, event);
        }
        let quote = self.symbols.quote_of(&event.symbol);
        self.tracker.on_execution(event, quote, &mut self.outbox.reports);
    }

    fn on_statement(&mut self, account: AccountId, as_of: Timestamp, answer: &CallAnswer) {
        let read = answer.outcome.as_ref().map_err(CallError::describe);
        let read = read.and_then(|result| BinanceAccount::deserialize(result).map_err(|reason| reason.to_string()));
        match read {
            Ok(told) => {
                let statement = statement_of(account, as_of, &told);
                self.outbox.report(ReportKind::Statement(statement));
            }
            Err(reason) => self.fail_list(ListingScope::Statement(account), reason),
        }
    }

    fn on_time(&mut self, sent: Timestamp, received: Timestamp, answer: &CallAnswer) {
        let time = answer.outcome.as_ref().ok().and_then(|result| ServerTime::deserialize(result).ok());
        if let Some(venue) = time.and_then(|time| time.at.instant()) {
            self.gate.on_time(&ClockSample { sent, received, venue });
        }
    }

    /// A list that cannot be used leaves the one before it.
    fn on_listings(&mut self, at: Timestamp, answer: &CallAnswer) {
        let read = answer.outcome.as_ref().map_err(CallError::describe);
        let read = read.and_then(|result| ExchangeInfo::deserialize(result).map_err(|reason| reason.to_string()));
        if let Err(reason) = read.and_then(|info| self.on_exchange_info(info)) {
            tracing::warn!(adapter = %self.setup.adapter, reason, "the venue's list of symbols is not used");
            self.ask_for_listings_again(at);
        }
    }

    fn on_depth(&mut self, at: Timestamp, symbol: &str, answer: &CallAnswer) {
        let snapshot = answer.outcome.as_ref().ok().and_then(|result| DepthSnapshot::deserialize(result).ok());
        match snapshot {
            Some(snapshot) => self.outbox.prices.extend(self.feed.on_snapshot(symbol, &snapshot, at)),
            None => self.feed.on_snapshot_failed(symbol, at),
        }
    }
}

/// A spot venue tells assets, not positions. An asset whose name is no currency code is left out, and then the list is not
/// complete.
pub(super) fn statement_of(account: AccountId, as_of: Timestamp, told: &BinanceAccount) -> VenueStatement {
    let cash: Vec<VenueBalance> = told.balances.iter().filter_map(balance_of).collect();
    VenueStatement {
        as_of,
        account,
        cash_complete: cash.len() == told.balances.len(),
        cash,
        positions: Vec::new(),
        positions_complete: false,
    }
}

fn balance_of(told: &AssetBalance) -> Option<VenueBalance> {
    let total = Amount(told.free.0).plus(Amount(told.locked.0)).ok()?;
    Some(VenueBalance { currency: told.asset.parse().ok()?, total, locked: Amount(told.locked.0) })
}

impl BinanceAdapter {
    /// The event has no id, so the time of the movement, asset and amount are one. The time of the event is another on each
    /// connection.
    pub(super) fn on_balance_moved(&mut self, moved: &BalanceMovedEvent) {
        let (Some(account), Ok(currency)) = (self.only_account(), moved.asset.parse()) else {
            tracing::error!(adapter = %self.setup.adapter, asset = moved.asset, "a movement of a balance cannot be booked");
            return;
        };
        let ext_id = format!("{}:{}:{}", moved.at.0, moved.asset, decimal_text(moved.delta.0));
        self.outbox.report(ReportKind::Entry(VenueEntry {
            ext_id: ext_id.into(),
            kind: EntryKind::Transfer,
            account,
            currency,
            amount: Amount(moved.delta.0),
            security: None,
            quantity: None,
            at: moved.at.instant(),
        }));
    }

    /// One key is one account at the venue.
    pub(super) fn only_account(&self) -> Option<AccountId> {
        let reference = self.setup.catalogue.current();
        let mut own = reference.accounts.values().filter(|account| account.adapter() == self.setup.adapter);
        let first = own.next().map(|account| account.id);
        first.filter(|_| own.next().is_none())
    }
}
