//! Market streams face: raw and combined streams of trades, books, bars and tickers.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::super::BinanceState;
use super::stream_events::{self, MarketStream};
use crate::binance::api::encode::TimeUnit;
use crate::binance::api::params::percent_decode;
use crate::binance::user::user_streams::UserStreams;
use crate::faults::catalogue::Fault;
use crate::listener::websocket::{Incoming, WebSocketConnection};
use crate::publisher::{EventInterest, VenueEvents};
use crate::sequencer::now_micros;

/// The finest period of a stream.
const TICK: Duration = Duration::from_millis(100);
const STREAMS_MAX: usize = 1_024;
/// From the announcement of a shutdown to the end of market streams; the venue has ten minutes.
const SHUTDOWN_NOTICE: Duration = Duration::from_secs(10);
/// Messages of a client in one second; a connection with more is ended.
const MESSAGES_PER_SECOND_MAX: u32 = 5;

struct StreamSession {
    state: Arc<BinanceState>,
    is_combined: bool,
    unit: TimeUnit,
    streams: BTreeMap<String, MarketStream>,
    users: UserStreams,
    /// The venue has announced its shutdown.
    is_ended: bool,
    /// It has announced it on market streams, which go on for a while.
    ends_at: Option<Instant>,
    /// Symbols as the exchange has them, by their small letters.
    symbols: Arc<BTreeMap<String, (usize, String)>>,
    ticks: u64,
    second: Instant,
    messages: u32,
}

/// Serves one connection until it ends.
pub(crate) async fn serve(state: Arc<BinanceState>, stream: TcpStream, peer: SocketAddr) -> io::Result<()> {
    // Before the client knows that it is connected: it must miss no change from then on.
    let mut events = state.exchange.events.subscribe_queue(EventInterest::everything());
    let mut connection = WebSocketConnection::accept(stream, state.tls.clone()).await?;
    let entry = state.sessions.open("streams", peer);
    let symbols = state.exchange.query(|exchange| {
        let entry = |(name, index): (&String, &usize)| (name.to_lowercase(), (*index, name.clone()));
        exchange.by_symbol.iter().map(entry).collect::<BTreeMap<_, _>>()
    });
    let symbols = Arc::new(symbols.await.map_err(|_| io::Error::other("the exchange has stopped"))?);
    let Some(mut session) = StreamSession::open(state, &connection.target, symbols) else { return Ok(()) };
    events.set_interest(session.interest());
    let mut timer = interval(TICK);
    timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !session.is_ended {
        let mut messages = tokio::select! {
            incoming = connection.receive() => match incoming? {
                None => return Ok(()),
                Some(_) if session.is_flooding() => return Ok(()),
                Some(Incoming::Control) => Vec::new(),
                Some(Incoming::Text(text)) => {
                    let answer = session.handle(&text);
                    events.set_interest(session.interest());
                    vec![answer]
                }
            },
            batch = events.receive() => match batch {
                Some(batch) => session.on_events(&batch),
                // A client that reads too slowly is disconnected, as the venue does.
                None => return Ok(()),
            },
            _ = timer.tick() => session.on_tick().await,
        };
        session.announce_shutdown(&mut messages);
        entry.describe(|| session.describe());
        for message in messages {
            connection.send(message.to_string()).await?;
        }
    }
    connection.close().await
}

impl StreamSession {
    /// `/ws`, `/ws/NAME/NAME`, `/stream?streams=NAME/NAME`; none for any other path.
    fn open(state: Arc<BinanceState>, target: &str, symbols: Arc<BTreeMap<String, (usize, String)>>) -> Option<Self> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let option = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        let is_combined = path.trim_end_matches('/') == "/stream";
        let names = match path.strip_prefix("/ws") {
            Some(names) => names.trim_start_matches('/'),
            None if is_combined => option("streams").unwrap_or_default(),
            None => return None,
        };
        let is_micros = option("timeUnit").is_some_and(|unit| unit.eq_ignore_ascii_case("microsecond"));
        let unit = if is_micros { TimeUnit::Microseconds } else { TimeUnit::Milliseconds };
        let mut session = Self {
            users: UserStreams::new(state.listen_keys.clone(), state.faults.clone(), unit),
            state,
            is_combined,
            unit,
            streams: BTreeMap::new(),
            is_ended: false,
            ends_at: None,
            symbols,
            ticks: 0,
            second: Instant::now(),
            messages: 0,
        };
        for name in percent_decode(names).ok()?.split('/').filter(|name| !name.is_empty()) {
            session.subscribe(name);
        }
        Some(session)
    }

    /// A name that is no stream is accepted and never sends, as at the venue.
    fn subscribe(&mut self, name: &str) {
        if self.streams.len() + self.users.names().count() >= STREAMS_MAX {
            return;
        }
        if !self.users.subscribe(name, now_micros()) {
            let never = self.state.faults.strikes(Fault::StreamNever);
            let stream = if never { MarketStream::Silent } else { MarketStream::parse(name, &self.symbols) };
            self.streams.entry(name.to_owned()).or_insert(stream);
        }
    }

    fn unsubscribe(&mut self, name: &str) {
        self.streams.remove(name);
        self.users.unsubscribe(name);
    }

    /// Without listen keys, which open an account's events.
    fn describe(&self) -> String {
        let users = self.users.accounts().map(|account| format!("events of account {account}"));
        self.streams.keys().cloned().chain(users).collect::<Vec<_>>().join(" ")
    }

    /// The markets whose events any stream sends; the others send by the clock.
    fn interest(&self) -> EventInterest {
        let markets = self.streams.values().filter_map(MarketStream::market_of_events).collect();
        EventInterest { markets, accounts: self.users.accounts().collect(), ..EventInterest::default() }
    }

    fn is_flooding(&mut self) -> bool {
        if self.second.elapsed() >= Duration::from_secs(1) {
            (self.second, self.messages) = (Instant::now(), 0);
        }
        self.messages += 1;
        self.messages > MESSAGES_PER_SECOND_MAX
    }

    fn handle(&mut self, text: &str) -> Value {
        let request: Value = match serde_json::from_str(text) {
            Ok(request) => request,
            Err(error) => return json!({ "code": 3, "msg": format!("Invalid JSON: {error}") }),
        };
        let id = request.get("id").cloned().unwrap_or(Value::Null);
        let is_id = id.is_null() || id.is_i64() || id.is_u64() || id.as_str().is_some_and(|id| id.len() <= 36);
        if !is_id {
            return json!({ "code": 2, "msg": "Invalid request: request ID must be an unsigned integer" });
        }
        let none = Vec::new();
        let params = request.get("params").and_then(Value::as_array).unwrap_or(&none);
        let result = match request.get("method").and_then(Value::as_str) {
            Some("SUBSCRIBE") => {
                params.iter().filter_map(Value::as_str).for_each(|name| self.subscribe(name));
                Ok(Value::Null)
            }
            Some("UNSUBSCRIBE") => {
                params.iter().filter_map(Value::as_str).for_each(|name| self.unsubscribe(name));
                Ok(Value::Null)
            }
            Some("LIST_SUBSCRIPTIONS") => Ok(self.streams.keys().chain(self.users.names()).cloned().collect()),
            Some("SET_PROPERTY") => self.set_property(params),
            Some("GET_PROPERTY") => match params.first().and_then(Value::as_str) {
                Some("combined") => Ok(self.is_combined.into()),
                _ => Err((0, "Unknown property".to_owned())),
            },
            Some(other) => Err((
                2,
                format!(
                    "Invalid request: unknown variant `{other}`, expected one of `SUBSCRIBE`, `UNSUBSCRIBE`, \
                     `LIST_SUBSCRIPTIONS`, `SET_PROPERTY`, `GET_PROPERTY`"
                ),
            )),
            None => Err((2, "Invalid request: missing field `method`".to_owned())),
        };
        match result {
            Ok(result) => json!({ "result": result, "id": id }),
            Err((code, text)) => json!({ "code": code, "msg": text, "id": id }),
        }
    }

    fn set_property(&mut self, params: &[Value]) -> Result<Value, (i32, String)> {
        match params {
            [Value::String(name), _] if name != "combined" => Err((0, "Unknown property".to_owned())),
            [Value::String(_), Value::Bool(value)] => {
                self.is_combined = *value;
                Ok(Value::Null)
            }
            [Value::String(_), _] => Err((1, "Invalid value type: expected Boolean".to_owned())),
            _ => Err((2, "Invalid request: property name must be a string".to_owned())),
        }
    }

    /// Each time that a connection of market streams is sent something counts as an event of the fault.
    fn announce_shutdown(&mut self, messages: &mut Vec<Value>) {
        let is_due = !messages.is_empty() && !self.streams.is_empty() && self.ends_at.is_none();
        if is_due && self.state.faults.strikes_streams(Fault::ServerShutdown) {
            self.ends_at = Some(Instant::now() + SHUTDOWN_NOTICE);
            messages.push(json!({ "e": "serverShutdown", "E": self.unit.encode(now_micros()) }));
        }
    }

    fn wrap(is_combined: bool, name: &str, data: Value) -> Value {
        if is_combined { json!({ "stream": name, "data": data }) } else { data }
    }

    fn on_events(&mut self, batch: &VenueEvents) -> Vec<Value> {
        let (unit, is_combined) = (self.unit, self.is_combined);
        let symbols: BTreeMap<usize, &str> =
            self.symbols.values().map(|(index, name)| (*index, name.as_str())).collect();
        let mut messages = Vec::new();
        for (name, stream) in &mut self.streams {
            let data = stream_events::on_events(stream, batch, &symbols, unit);
            messages.extend(data.into_iter().map(|data| Self::wrap(is_combined, name, data)));
        }
        let of_users = self.users.on_events(batch, now_micros());
        if !of_users.is_empty() && self.state.faults.strikes(Fault::ServerShutdown) {
            self.is_ended = true;
        }
        messages.extend(of_users.into_iter().map(|(name, data)| Self::wrap(is_combined, &name, data)));
        if self.is_ended {
            messages.push(json!({ "e": "serverShutdown", "E": unit.encode(now_micros()) }));
        }
        messages
    }

    /// Streams with a period send where it is over.
    async fn on_tick(&mut self) -> Vec<Value> {
        self.ticks += 1;
        self.is_ended |= self.ends_at.is_some_and(|at| Instant::now() >= at);
        let (unit, is_combined) = (self.unit, self.is_combined);
        let mut messages = Vec::new();
        for (name, stream) in &mut self.streams {
            if !self.ticks.is_multiple_of(stream.period_ticks()) {
                continue;
            }
            let data = stream_events::on_period(stream, &self.state.exchange, unit).await;
            let is_lost = data.as_ref().is_some_and(|data| data["e"] == "depthUpdate")
                && self.state.faults.strikes(Fault::DepthDamage);
            if !is_lost {
                messages.extend(data.map(|data| Self::wrap(is_combined, name, data)));
            }
        }
        let expired = self.users.on_tick(now_micros());
        messages.extend(expired.into_iter().map(|(name, data)| Self::wrap(is_combined, &name, data)));
        messages
    }
}
