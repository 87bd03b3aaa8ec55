//! Orders that were placed elsewhere on the account: told with their whole picture whenever they change.

use adapter_kit::RequestLane;
use domain::Timestamp;
use domain::report::{ExternalOrder, ReportKind, VenueSnapshot};
use serde::Deserialize;

use super::state::BinanceAdapter;
use super::waiting::{ExternalLook, RequestPurpose, RequestWay};
use crate::orders::external_orders::{ExternalKey, ExternalScope};
use crate::orders::fills_question::note_owner;
use crate::orders::leg_owners::LegOwner;
use crate::orders::order_picture::{PictureGap, is_open, own_id};
use crate::protocol::answers::account_answers::BinanceTrade;
use crate::protocol::answers::order_answers::BinanceOrder;
use crate::protocol::answers::{CallAnswer, CallError};
use crate::protocol::requests::{BinanceRequest, OrderReference, TRADES_PAGE_MAX};
use crate::protocol::user_events::ExecutionEvent;
use crate::protocol::wire_values::{WireInteger, millis_of};

/// Ended orders that are so old are not shown again after a log-on; the engine keeps what it adopted at least as long.
const SHOWN_AGAIN_MILLIS: i64 = 23 * 3_600 * 1_000;

impl BinanceAdapter {
    /// Whether an order that was placed elsewhere has been seen. For tests that wait for the venue.
    pub fn has_external(&self, client_id: &str, is_filled: bool) -> bool {
        self.external.has(client_id, is_filled)
    }

    pub(super) fn on_external_event(&mut self, at: Timestamp, event: &ExecutionEvent) {
        let key = self.external.on_event(event);
        self.tell_external(at, &key);
    }

    pub(super) fn tell_external(&mut self, at: Timestamp, key: &ExternalKey) {
        match self.untold_external(key) {
            Ok(Some(seen)) => self.outbox.report(ReportKind::External(Box::new(seen))),
            Ok(None) => {}
            Err(PictureGap::Trades { .. }) => self.look_at_external(at, key),
            Err(gap) => self.warn_external(key, &gap.to_string()),
        }
    }

    /// What changed; nothing where the symbol is none of our securities.
    fn untold_external(&mut self, key: &ExternalKey) -> Result<Option<ExternalOrder>, PictureGap> {
        let Some(scope) = self.external_scope(key) else {
            self.warn_external(key, "its symbol is none of our securities, or the account is not known");
            return Ok(None);
        };
        self.external.untold(key, scope)
    }

    fn external_scope(&self, (symbol, _): &ExternalKey) -> Option<ExternalScope> {
        let (account, security) = (self.only_account()?, self.symbols.security_of(symbol)?);
        Some(ExternalScope { account, security, quote: self.symbols.quote_of(symbol) })
    }

    fn warn_external(&self, (symbol, order_id): &ExternalKey, reason: &str) {
        tracing::warn!(
            adapter = %self.setup.adapter, symbol, order_id, reason,
            "an order that was placed elsewhere is not told"
        );
    }

    /// Its state first, then its trades. One question at a time for an order; what fails is asked with the next list.
    pub(super) fn look_at_external(&mut self, at: Timestamp, key: &ExternalKey) {
        let is_of_key = |purpose: &RequestPurpose| matches!(purpose, RequestPurpose::External(of, _) if of == key);
        if !self.requests.values().any(|request| is_of_key(&request.purpose)) {
            self.ask_external(at, key, ExternalLook::Status);
        }
    }

    fn ask_external(&mut self, at: Timestamp, key: &ExternalKey, look: ExternalLook) {
        let (symbol, order_id) = key;
        let request = match look {
            ExternalLook::Status => BinanceRequest::order_status(symbol, &OrderReference::Venue(*order_id)),
            ExternalLook::Trades(from) => BinanceRequest::order_trades(symbol, *order_id, from),
        };
        let purpose = RequestPurpose::External(key.clone(), look);
        if let Err(reason) = self.send(at, (RequestLane::Inquiry, RequestWay::Rest), purpose, request) {
            self.warn_external(key, &reason);
        }
    }

    pub(super) fn on_external_answer(
        &mut self,
        at: Timestamp,
        key: &ExternalKey,
        look: ExternalLook,
        answer: &CallAnswer,
    ) {
        let next = match look {
            ExternalLook::Status => read(answer).map(|order: BinanceOrder| self.on_external_status(order)),
            ExternalLook::Trades(_) => read(answer).map(|trades| self.on_external_trades(key, trades)),
        };
        match next {
            Ok(Some(next)) => self.ask_external(at, key, next),
            Ok(None) => match self.untold_external(key) {
                Ok(Some(seen)) => self.outbox.report(ReportKind::External(Box::new(seen))),
                Ok(None) => {}
                Err(gap) => self.warn_external(key, &gap.to_string()),
            },
            Err(reason) => self.warn_external(key, &reason),
        }
    }

    fn on_external_status(&mut self, order: BinanceOrder) -> Option<ExternalLook> {
        note_owner(&mut self.order_memory(), &order);
        let has_fills = !order.filled.0.is_zero();
        self.external.on_order(order);
        has_fills.then_some(ExternalLook::Trades(None))
    }

    fn on_external_trades(&mut self, key: &ExternalKey, trades: Vec<BinanceTrade>) -> Option<ExternalLook> {
        let is_full = i64::try_from(trades.len()).is_ok_and(|count| count >= TRADES_PAGE_MAX);
        let next = trades.last().map(|trade| trade.id.0 + 1).filter(|_| is_full);
        self.external.on_trades(key, trades);
        next.map(|from| ExternalLook::Trades(Some(from)))
    }

    /// Those that are open, and those that traded since the first log-on, at most a day ago.
    pub(super) fn add_external(
        &mut self,
        at: Timestamp,
        orders: &[BinanceOrder],
        trades: &[BinanceTrade],
        snapshot: &mut VenueSnapshot,
    ) -> Result<(), String> {
        let recent = WireInteger(millis_of(at) - SHOWN_AGAIN_MILLIS);
        let instance = self.setup.instance;
        for order in orders.iter().filter(|order| own_id(instance, &order.client_id).is_none()) {
            let updated = order.updated.unwrap_or_default();
            let owner = self.owners.owner_at(&order.symbol, order.order_id, order.created.unwrap_or(updated));
            // Whoever cancels an order of ours elsewhere gives it another client id.
            if matches!(owner, Some(LegOwner::Own(_))) {
                continue;
            }
            let is_recent = updated >= recent && !self.first_log_on.is_after(updated);
            if is_open(&order.status) || is_recent && !order.filled.0.is_zero() {
                let key = self.external.on_order(order.clone());
                let own = trades.iter().filter(|trade| (&trade.symbol, trade.order_id.0) == (&key.0, key.1));
                self.external.on_trades(&key, own.cloned());
                self.show_external(&key, snapshot)?;
            }
        }
        Ok(())
    }

    /// The snapshot has it also where it was told before: it stands for everything that was told.
    fn show_external(&mut self, key: &ExternalKey, snapshot: &mut VenueSnapshot) -> Result<(), String> {
        if self.external.is_incomplete(key) {
            let request = BinanceRequest::order_trades(&key.0, key.1, None);
            let trades: Vec<BinanceTrade> = self.ask(RequestLane::Session, &request)?;
            self.external.on_trades(key, trades);
        }
        let Some(scope) = self.external_scope(key) else {
            self.warn_external(key, "its symbol is none of our securities, or the account is not known");
            return Ok(());
        };
        match self.external.shown(key, scope) {
            Ok(seen) => snapshot.external.push(seen),
            Err(gap) => self.warn_external(key, &gap.to_string()),
        }
        Ok(())
    }
}

fn read<T: for<'de> Deserialize<'de>>(answer: &CallAnswer) -> Result<T, String> {
    let result = answer.outcome.as_ref().map_err(CallError::describe)?;
    T::deserialize(result).map_err(|reason| reason.to_string())
}
