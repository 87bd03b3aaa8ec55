//! What is due by the time alone: answers that do not come, the venue's clock and lists, books, and the age of the session.

use adapter_kit::RequestLane;
use domain::Timestamp;

use super::state::BinanceAdapter;
use super::waiting::{CHECK_MILLIS, CLOCK_SECONDS, LISTINGS_SECONDS, RequestPurpose, RequestWay};
use crate::prices::price_feed::SNAPSHOT_LEVELS;
use crate::protocol::requests::BinanceRequest;

/// A list of symbols that had to wait, or was refused, is asked for again after so long.
const LISTINGS_RETRY_SECONDS: i64 = 30;
/// The venue answers within ten seconds, or says that it does not know.
const ANSWER_WITHIN_MILLIS: i64 = 12_000;

impl BinanceAdapter {
    pub(super) fn handle_due_work(&mut self, at: Timestamp) {
        let Some(session) = self.session.as_mut().filter(|session| session.due.check <= at) else { return };
        session.due.check = at.plus_millis(CHECK_MILLIS);
        let due = session.due;
        let has_account = self.signer.is_some();
        self.renew_api(at);
        if self.poll_credentials() {
            self.lose("the credentials have changed; the session begins again with the new key");
        }
        self.expire_requests(at);
        if let Some(order) = self.tracker.overdue(at) {
            self.lose(format!("the private stream told nothing about order {order}, which the venue had confirmed"));
        }
        self.start_queued_inquiries(at);
        self.ask_for_books(at);
        self.renew_prices(at);
        self.look_after_silence(at);
        if has_account && (due.clock <= at || !self.gate.has_time(at)) {
            self.ask_for_time(at);
        }
        if due.listings <= at {
            self.ask_for_listings(at);
        }
    }

    fn expire_requests(&mut self, at: Timestamp) {
        let is_late = |sent_at: Timestamp| at >= sent_at.plus_millis(ANSWER_WITHIN_MILLIS);
        let late: Vec<u64> =
            self.requests.iter().filter(|(_, request)| is_late(request.sent_at)).map(|(tag, _)| *tag).collect();
        for tag in late {
            if let Some(request) = self.requests.remove(&tag) {
                self.on_unanswered(at, request, "the venue did not answer in time");
            }
        }
    }

    /// Asks for the venue's time; its answer comes behind everything that the venue has sent before.
    pub fn ask_for_time(&mut self, at: Timestamp) {
        if self.requests.values().any(|request| matches!(request.purpose, RequestPurpose::Time(_))) {
            return;
        }
        if let Some(session) = &mut self.session {
            session.due.clock = at.plus_seconds(CLOCK_SECONDS);
        }
        let way = (RequestLane::Session, RequestWay::Socket);
        let sent = self.send(at, way, RequestPurpose::Time((self.setup.clock)()), BinanceRequest::time());
        if let Err(reason) = sent {
            tracing::warn!(adapter = %self.setup.adapter, %reason, "the venue's time is not asked for now");
        }
    }

    /// Asks for the venue's list of symbols. One question at a time.
    pub fn ask_for_listings(&mut self, at: Timestamp) {
        if self.requests.values().any(|request| request.purpose == RequestPurpose::Listings) {
            return;
        }
        if let Some(session) = &mut self.session {
            session.due.listings = at.plus_seconds(LISTINGS_SECONDS);
        }
        let way = (RequestLane::Listing, RequestWay::Rest);
        if let Err(reason) = self.send(at, way, RequestPurpose::Listings, BinanceRequest::exchange_info()) {
            self.ask_for_listings_again(at);
            tracing::warn!(adapter = %self.setup.adapter, %reason, "the venue's list of symbols is not asked for now");
        }
    }

    /// Soon: what the venue takes may have changed since the last list.
    pub(super) fn ask_for_listings_again(&mut self, at: Timestamp) {
        if let Some(session) = &mut self.session {
            session.due.listings = at.plus_seconds(LISTINGS_RETRY_SECONDS);
        }
    }

    pub(super) fn ask_for_books(&mut self, at: Timestamp) {
        for symbol in self.feed.wanted_snapshots(at) {
            let request = BinanceRequest::depth(&symbol, SNAPSHOT_LEVELS);
            let way = (RequestLane::Depth, RequestWay::Rest);
            match self.send(at, way, RequestPurpose::Depth(symbol.clone()), request) {
                Ok(()) => self.feed.on_snapshot_asked(&symbol),
                Err(_) => self.feed.on_snapshot_failed(&symbol, at),
            }
        }
    }

    /// Their answers are not read any more.
    pub(super) fn forget_requests(&mut self, at: Timestamp) {
        for request in std::mem::take(&mut self.requests).into_values() {
            self.gate.on_no_answer(at, request.grant);
        }
        self.inquiries.clear();
        self.refused_steps.clear();
        self.queued_inquiries.clear();
        self.order_lists.clear();
        self.fills_questions.clear();
    }
}
