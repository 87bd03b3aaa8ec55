//! The connection of the WebSocket API, which carries requests and private events. It is renewed before the venue ends it, the
//! new one first; while there is none, requests go over REST and the private line is down.

#[cfg(test)]
mod tests;

use adapter_kit::{NextConnect, RequestLane};
use domain::report::{LineKind, ReportKind};
use domain::{Text, Timestamp};
use tokio::sync::mpsc::channel;

use super::api_connection::RetiringConnection;
use super::state::BinanceAdapter;
use super::waiting::{RequestPurpose, RequestWay, UnansweredRequest};
use crate::network::WAITING_REQUESTS_MAX;
use crate::protocol::requests::BinanceRequest;

/// So long both connections run: what the old one has still to tell is read.
const OVERLAP_MILLIS: i64 = 5_000;

impl BinanceAdapter {
    /// Which connection carries a request now: without the first one the second.
    pub(super) fn way_now(&self, way: RequestWay) -> RequestWay {
        let is_api_up = self.session.as_ref().is_some_and(|session| session.api.is_up);
        if is_api_up { way } else { RequestWay::Rest }
    }

    /// Where it is time, opens a further connection; the one that is up stays until then.
    pub(super) fn renew_api(&mut self, at: Timestamp) {
        let Some(session) = self.session.as_mut().filter(|_| self.signer.is_some()) else { return };
        if session.api.is_due(at, session.begun) {
            self.open_further_connection(at);
        }
        self.retire_connection(at);
    }

    pub(super) fn open_further_connection(&mut self, at: Timestamp) {
        if self.session.as_ref().is_none_or(|session| session.api.opening.is_some()) {
            return;
        }
        let prepared = match self.reconnect.next(at) {
            NextConnect::At(allowed) if allowed <= at => {
                self.reconnect.on_attempt(at);
                self.prepare_opening()
            }
            NextConnect::At(_) | NextConnect::Never { .. } => Err("the venue's limit of log-ons is used up".to_owned()),
        };
        let Some(session) = &mut self.session else { return };
        match prepared {
            Ok(opening) => {
                let (requests, waiting) = channel(WAITING_REQUESTS_MAX);
                session.api.newest += 1;
                session.api.opening = Some((session.api.newest, requests));
                self.runtime.spawn(opening.open_and_run(session.api.newest, waiting, session.out.clone()));
            }
            Err(reason) => {
                tracing::warn!(adapter = %self.setup.adapter, reason, "no further connection is opened yet");
                session.api.retry(at);
            }
        }
    }

    pub(super) fn on_api_opened(&mut self, at: Timestamp, connection: u64) {
        let Some(session) = &mut self.session else { return };
        let Some((number, requests)) = session.api.opening.take_if(|(number, _)| *number == connection) else { return };
        let before = std::mem::replace(&mut session.api.requests, requests);
        let before = RetiringConnection { number: session.api.connection, since: at, _requests: before };
        let was_up = std::mem::replace(&mut session.api.is_up, true);
        session.api.retiring = was_up.then_some(before);
        (session.api.connection, session.api.failures, session.api.open_at) = (number, 0, None);
        session.begun = at;
        self.reconnect.on_success();
        self.on_key_accepted();
        if !was_up {
            self.outbox.report(ReportKind::Line { line: LineKind::Private, up: true, reason: None });
        }
        self.retire_connection(at);
    }

    pub(super) fn on_api_not_opened(&mut self, at: Timestamp, connection: u64, reason: &str, is_key_refused: bool) {
        let Some(session) = &mut self.session else { return };
        if session.api.opening.take_if(|(number, _)| *number == connection).is_none() {
            return;
        }
        tracing::warn!(adapter = %self.setup.adapter, reason, "a further connection could not be opened");
        session.api.retry(at);
        if is_key_refused {
            self.on_key_refused();
            self.lose(format!("the venue does not accept the key: {reason}"));
        }
    }

    /// Requests on it without an answer may have taken effect. Without another connection REST is the second way, if it works.
    pub(super) fn on_api_ended(&mut self, at: Timestamp, connection: u64, reason: &str) {
        let Some(session) = &mut self.session else { return };
        let was_up = connection == session.api.connection && session.api.is_up;
        // First of all: what is given up here may send what has waited behind it, and that must not go where nothing is read.
        session.api.is_up &= !was_up;
        // Before the inquiries that have waited: they go over REST too.
        let is_way_left = !was_up || self.probe_rest(at, reason);
        self.give_up_requests(at, connection, reason);
        let Some(session) = &mut self.session else { return };
        if session.api.retiring.take_if(|before| before.number == connection).is_some() {
            // What it had still to tell may be lost.
            self.outbox.report(ReportKind::Gap);
        }
        if !was_up {
            return;
        }
        session.api.open_at = Some(at);
        self.tracker.on_session_end();
        let reason = Text::from(reason);
        self.outbox.report(ReportKind::Line { line: LineKind::Private, up: false, reason: Some(reason.clone()) });
        if !is_way_left {
            self.lose(reason);
        }
        self.renew_api(at);
    }

    /// Asks over REST, to learn whether it works. Returns whether that was sent.
    fn probe_rest(&mut self, at: Timestamp, reason: &str) -> bool {
        let way = (RequestLane::Session, RequestWay::Rest);
        self.send(at, way, RequestPurpose::RestProbe(reason.into()), BinanceRequest::time()).is_ok()
    }

    /// What the venue sends no more on this connection. On one that was replaced that is its end, which was wanted: only what
    /// it had still to tell may be lost.
    pub(super) fn on_private_end(&mut self, connection: u64, reason: impl Into<Text>) {
        if self.is_replaced(connection) {
            self.outbox.report(ReportKind::Gap);
        } else {
            self.lose(reason);
        }
    }

    /// A connection that was replaced may end.
    pub(super) fn on_shutdown_notice(&mut self, at: Timestamp, connection: u64) {
        if !self.is_replaced(connection) {
            self.open_further_connection(at);
        }
    }

    fn is_replaced(&self, connection: u64) -> bool {
        self.session.as_ref().is_some_and(|session| connection < session.api.connection)
    }

    fn give_up_requests(&mut self, at: Timestamp, connection: u64, reason: &str) {
        let is_on_it = |request: &UnansweredRequest| request.connection == Some(connection);
        let lost: Vec<u64> =
            self.requests.iter().filter(|(_, request)| is_on_it(request)).map(|(tag, _)| *tag).collect();
        for tag in lost {
            if let Some(request) = self.requests.remove(&tag) {
                self.on_unanswered(at, request, reason);
            }
        }
    }

    /// A connection that was replaced ends when everything on it is answered and told.
    fn retire_connection(&mut self, at: Timestamp) {
        let Some(session) = &mut self.session else { return };
        let is_used = |number: u64| self.requests.values().any(|request| request.connection == Some(number));
        let is_over = |before: &RetiringConnection| at >= before.since.plus_millis(OVERLAP_MILLIS);
        session.api.retiring.take_if(|before| is_over(before) && !is_used(before.number));
    }

    /// How many connections were opened since the log-on, besides its own.
    pub fn renewed_connections(&self) -> u64 {
        self.session.as_ref().map_or(0, |session| session.api.connection)
    }

    /// Whether private events come.
    pub fn is_private_up(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.api.is_up)
    }
}
