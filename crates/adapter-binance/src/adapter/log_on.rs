//! Log-on: what the key may do, the venue's time, its lists, then the session with its private events, and the streams of
//! prices.
//!
//! The key's own rights count. What an account may do (`canWithdraw`) says nothing about the key. Testnet and demo do not tell
//! them: there they are unknown, which is no harm where no real money is at stake.

use std::sync::Arc;

use adapter_kit::credentials::{KeyPermissions, KeyRefusal};
use adapter_kit::{ClockSample, NextConnect, RequestLane};
use domain::Timestamp;
use serde::Deserialize;
use tokio::sync::mpsc::channel;

use super::api_connection::ApiLine;
use super::prices::price_connection::PriceLine;
use super::state::{BinanceAdapter, BinanceSession, Outbox, rest_client};
use super::waiting::DueTimes;
use crate::connection::ApiSession;
use crate::market_streams::{StreamLink, StreamTask};
use crate::network::{
    ApiOpening, EventSender, NETWORK_EVENTS_MAX, OpeningError, STREAM_COMMANDS_MAX, WAITING_REQUESTS_MAX, run_api,
};
use crate::protocol::answers::account_answers::KeyRestrictions;
use crate::protocol::answers::error_codes::ErrorMeaning;
use crate::protocol::answers::exchange_info::ExchangeInfo;
use crate::protocol::answers::market_answers::ServerTime;
use crate::protocol::answers::{CallAnswer, CallError};
use crate::protocol::requests::BinanceRequest;
use crate::protocol::requests::signing::RequestSigner;
use crate::protocol::wire_values::{WireInteger, millis_of};
use crate::transcript::API_LINE;

/// Questions for the venue's time before a log-on; the quickest counts.
const CLOCK_SAMPLES: usize = 2;

impl BinanceAdapter {
    pub(super) fn log_on(&mut self, at: Timestamp) -> Result<(), String> {
        match self.reconnect.next(at) {
            NextConnect::At(allowed) if allowed <= at => {}
            NextConnect::At(allowed) => return Err(format!("the venue's limit of log-ons is used up until {allowed}")),
            NextConnect::Never { failures } => return Err(format!("{failures} log-ons failed in a row")),
        }
        self.reconnect.on_attempt(at);
        if self.signer.is_none() {
            return self.open_prices();
        }
        self.refresh_credentials()?;
        // First, because it states the limits: any other answer could show more use than those assumed until then allow.
        self.load_listings()?;
        for _ in 0..CLOCK_SAMPLES {
            self.sample_clock()?;
        }
        self.check_key()?;
        let first_day = self.setup.network.first_day_limit(at);
        self.first_day = first_day.map_err(|error| format!("the first day cannot be remembered: {error}"))?;
        let session = self.open_session()?;
        let since = WireInteger(millis_of(self.gate.venue_time(self.now())?));
        self.first_log_on.mark(since).map_err(|error| format!("the first log-on cannot be remembered: {error}"))?;
        self.start(Some(session));
        self.reconnect.on_success();
        Ok(())
    }

    /// Without a key: the venue's lists, and the streams of prices.
    fn open_prices(&mut self) -> Result<(), String> {
        self.load_listings()?;
        self.start(None);
        self.reconnect.on_success();
        Ok(())
    }

    pub(super) fn now(&self) -> Timestamp {
        (self.setup.clock)()
    }

    /// A changed source is used from this log-on. A key that cannot sign gives way to the one before it.
    fn refresh_credentials(&mut self) -> Result<(), String> {
        self.poll_credentials();
        self.use_credentials().or_else(|reason| {
            tracing::warn!(adapter = %self.setup.adapter, reason, "the key cannot be used");
            self.on_key_refused();
            self.use_credentials()
        })
    }

    /// Whether the source has changed; then the next log-on uses it.
    pub(super) fn poll_credentials(&mut self) -> bool {
        let Some(watch) = &mut self.setup.network.credentials else { return false };
        watch.poll(&environment).unwrap_or_else(|error| {
            tracing::warn!(%error, "the credentials cannot be read again; those in use stay");
            false
        })
    }

    /// The venue does not accept the key: the next log-on uses the one before it, or whatever the source has now.
    pub(super) fn on_key_refused(&mut self) {
        let Some(watch) = &mut self.setup.network.credentials else { return };
        if !watch.on_refused()
            && let Err(error) = watch.reload(&environment)
        {
            tracing::warn!(%error, "the credentials cannot be read again; those in use stay");
        }
    }

    fn use_credentials(&mut self) -> Result<(), String> {
        let Some(watch) = &self.setup.network.credentials else { return Err("credentials are missing".to_owned()) };
        let current = watch.current();
        if self.signs_with.as_ref().is_some_and(|used| Arc::ptr_eq(&current, used)) {
            return Ok(());
        }
        if let Some(recorder) = &self.setup.network.recorder {
            recorder.add_credentials(&current);
        }
        let signer = Arc::new(RequestSigner::new(&current).map_err(|error| error.to_string())?);
        self.rest = Arc::new(rest_client(&self.setup, Some(&signer)));
        self.signer = Some(signer);
        self.signs_with = Some(current);
        Ok(())
    }

    /// A request over REST whose answer is waited for.
    pub(super) fn ask<T: for<'de> Deserialize<'de>>(
        &mut self,
        lane: RequestLane,
        request: &BinanceRequest,
    ) -> Result<T, String> {
        let answer = self.call(lane, request)?;
        let result = answer.outcome.map_err(|error| format!("{}: {}", request.call.socket(), error.describe()))?;
        T::deserialize(&result).map_err(|reason| format!("{}: {reason}", request.call.socket()))
    }

    pub(super) fn call(&mut self, lane: RequestLane, request: &BinanceRequest) -> Result<CallAnswer, String> {
        let (grant, stamp) = self.gate.admit(self.now(), lane, request)?;
        let clock = Arc::clone(&self.setup.clock);
        let outcome = self.runtime.block_on(self.rest.call(request, stamp, None, || clock()));
        let now = self.now();
        match outcome {
            Ok(answer) => {
                self.gate.on_answer(now, grant, &answer);
                Ok(answer)
            }
            Err(failure) => {
                self.gate.on_failure(now, grant, &failure);
                Err(format!("{}: {failure}", request.call.socket()))
            }
        }
    }

    fn sample_clock(&mut self) -> Result<(), String> {
        let sent = self.now();
        let time: ServerTime = self.ask(RequestLane::Session, &BinanceRequest::time())?;
        let received = self.now();
        let venue = time.at.instant().ok_or("the venue's time is out of range")?;
        self.gate.on_time(&ClockSample { sent, received, venue });
        Ok(())
    }

    fn load_listings(&mut self) -> Result<(), String> {
        let info: ExchangeInfo = self.ask(RequestLane::Session, &BinanceRequest::exchange_info())?;
        self.on_exchange_info(info)
    }

    pub(super) fn on_exchange_info(&mut self, info: ExchangeInfo) -> Result<(), String> {
        let now = self.now();
        self.gate.on_limits(now, &info.rate_limits);
        let changes = self.symbols.apply(info.symbols).map_err(|refused| refused.to_string())?;
        tracing::info!(adapter = %self.setup.adapter, changes = changes.len(), "the venue's list of symbols is here");
        Ok(())
    }

    /// Logs on and subscribes; from then on no private event is missed.
    fn open_session(&mut self) -> Result<ApiSession, String> {
        let opening = self.prepare_opening()?;
        match self.runtime.block_on(opening.open()) {
            Ok(session) => {
                self.on_key_accepted();
                Ok(session)
            }
            Err(OpeningError::Refused(reason)) => {
                self.on_key_refused();
                Err(reason)
            }
            Err(OpeningError::Failed(reason)) => Err(reason),
        }
    }

    /// What a new connection needs; the venue counts its log-on and its subscription.
    pub(super) fn prepare_opening(&mut self) -> Result<ApiOpening, String> {
        let signer = Arc::clone(self.signer.as_ref().ok_or("credentials are missing")?);
        let requests = [BinanceRequest::log_on(), BinanceRequest::subscribe_user(signer.can_log_on())];
        let mut stamps = Vec::new();
        for request in &requests {
            // Their answers are not read by the budget.
            let (grant, stamp) = self.gate.admit(self.now(), RequestLane::Session, request)?;
            self.gate.on_no_answer(self.now(), grant);
            stamps.push(stamp);
        }
        Ok(ApiOpening {
            url: self.setup.addresses.ws_api.clone(),
            dialer: self.setup.network.dialer.clone(),
            line: self.setup.network.recorder.as_ref().map(|recorder| recorder.line(API_LINE)),
            signer,
            stamp: *stamps.first().ok_or("there is no request to log on with")?,
            clock: Arc::clone(&self.setup.clock),
        })
    }

    pub(super) fn on_key_accepted(&mut self) {
        if let Some(watch) = &mut self.setup.network.credentials {
            watch.on_accepted();
        }
    }

    /// Without a session of the account, requests to it find nobody.
    fn start(&mut self, session: Option<ApiSession>) {
        let (events, inbound) = channel(NETWORK_EVENTS_MAX);
        let out = EventSender { events, wake: self.wake.0.clone() };
        let (api, requests) = channel(WAITING_REQUESTS_MAX);
        let (streams, commands) = channel(STREAM_COMMANDS_MAX);
        if let Some(session) = session {
            self.runtime.spawn(run_api((0, session), requests, Arc::clone(&self.setup.clock), out.clone()));
        }
        let link = StreamLink {
            url: self.setup.addresses.streams.clone(),
            dialer: self.setup.network.dialer.clone(),
            recorder: self.setup.network.recorder.clone(),
        };
        self.runtime.spawn(StreamTask::new(link, commands, out.clone()).run());
        let begun = self.now();
        let due = DueTimes::from(begun);
        self.outbox = Outbox::default();
        let api = ApiLine::open(api);
        let prices = PriceLine::open(streams, begun);
        self.session = Some(BinanceSession { api, prices, events: inbound, out, begun, due });
    }
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

impl BinanceAdapter {
    /// Whether the key may be used. A new key that may not gives way to the one before it.
    pub(super) fn check_key(&mut self) -> Result<(), String> {
        let rights = self.key_rights()?;
        let Err(refusal) = self.setup.network.check_key(rights) else { return Ok(()) };
        if !matches!(refusal, KeyRefusal::RightsUnknown { .. }) {
            self.on_key_refused();
        }
        Err(refusal.to_string())
    }

    /// None where the venue does not tell. A key that the venue does not accept at all is refused by the log-on too, so that
    /// counts here only where nothing may be risked.
    fn key_rights(&mut self) -> Result<KeyPermissions, String> {
        let request = BinanceRequest::key_restrictions();
        let reason = match self.call(RequestLane::Session, &request).map(|answer| answer.outcome) {
            Ok(Ok(result)) => match KeyRestrictions::deserialize(&result) {
                Ok(told) => return Ok(told.permissions()),
                Err(unreadable) => unreadable.to_string(),
            },
            Ok(Err(error)) if self.is_of_key(&error) => {
                self.on_key_refused();
                return Err(format!("the venue does not accept the key: {}", error.describe()));
            }
            Ok(Err(error)) => error.describe(),
            Err(reason) => reason,
        };
        if !std::mem::replace(&mut self.is_unknown_told, true) {
            let adapter = &self.setup.adapter;
            tracing::warn!(%adapter, reason, "the venue does not tell what the key may do, whether it may withdraw too");
        }
        Ok(KeyPermissions::default())
    }

    fn is_of_key(&self, error: &CallError) -> bool {
        error.meaning == ErrorMeaning::Key && self.setup.network.is_real_money()
    }
}
