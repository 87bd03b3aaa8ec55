//! WebSocket API face: the methods of REST as requests on one connection, sessions, and the user data stream.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::net::TcpStream;
use tokio::sync::mpsc::error::TryRecvError;

use super::api::encode::TimeUnit;
use super::api::error::ApiError;
use super::api::methods::{self, MethodRow, MethodSecurity};
use super::api::params::Params;
use super::api::security;
use super::user::user_events;
use super::user::user_faults::{UserEvent, UserFaults};
use super::{ApiCall, BinanceState};
use crate::exchange::AccountIndex;
use crate::faults::catalogue::Fault;
use crate::keys::KeyRights;
use crate::listener::websocket::{Incoming, WebSocketConnection};
use crate::publisher::{EventInterest, EventQueue, VenueEvents};
use crate::sequencer::now_micros;

pub(crate) const PATH: &str = "/ws-api/v3";
/// Weight of a connection, and of each session method.
const CONNECT_WEIGHT: u32 = 2;
const SESSION_WEIGHT: u32 = 2;
const SUBSCRIPTIONS_MAX: usize = 1_000;
const SUBSCRIPTIONS_EVER_MAX: u32 = 65_535;

/// The key that a session was logged on with.
struct Logon {
    api_key: String,
    account: AccountIndex,
    rights: KeyRights,
    since_micros: i64,
}

/// A subscription to an account's events.
struct UserSubscription {
    account: AccountIndex,
    /// It ends with the logon that it was made by.
    is_by_logon: bool,
    /// It was confirmed and never sends, by a fault.
    is_silent: bool,
}

struct WsApiSession {
    state: Arc<BinanceState>,
    peer: SocketAddr,
    unit: TimeUnit,
    shows_rates: bool,
    connected_micros: i64,
    logon: Option<Logon>,
    subscriptions: BTreeMap<u32, UserSubscription>,
    interest: EventInterest,
    next_subscription: u32,
    /// The venue has announced its shutdown.
    is_ended: bool,
    /// The last request was a command: its answer comes before its events.
    has_commanded: bool,
    faults: UserFaults<u32>,
}

/// Serves one connection until it ends.
pub(crate) async fn serve(state: Arc<BinanceState>, stream: TcpStream, peer: SocketAddr) -> io::Result<()> {
    let mut connection = WebSocketConnection::accept(stream, state.tls.clone()).await?;
    let (path, query) = connection.target.split_once('?').unwrap_or((&connection.target, ""));
    if path != PATH || state.rates.charge(peer.ip(), CONNECT_WEIGHT, now_micros()).is_err() {
        return Ok(());
    }
    let entry = state.sessions.open("wsApi", peer);
    let mut session = WsApiSession::new(state, peer, query);
    let mut events = session.state.exchange.events.subscribe_queue(EventInterest::default());
    while !session.is_ended {
        tokio::select! {
            incoming = connection.receive() => match incoming? {
                None => return Ok(()),
                Some(Incoming::Control) => {}
                Some(Incoming::Text(text)) => {
                    let Some(answer) = session.handle(&text).await else { return Ok(()) };
                    session.update_interest(&events);
                    entry.describe(|| session.describe());
                    // The events of earlier commands come before the answer to a query.
                    while !session.has_commanded {
                        match events.try_receive() {
                            Ok(batch) => send_events(&mut connection, &mut session, &events, &batch).await?,
                            Err(TryRecvError::Empty) => break,
                            Err(TryRecvError::Disconnected) => return Ok(()),
                        }
                    }
                    if !session.is_ended {
                        connection.send_json(&answer).await?;
                    }
                }
            },
            batch = events.receive() => match batch {
                Some(batch) => send_events(&mut connection, &mut session, &events, &batch).await?,
                // A client that reads too slowly is disconnected: it must not miss an event unknowingly.
                None => return Ok(()),
            },
        }
    }
    connection.close().await
}

async fn send_events(
    connection: &mut WebSocketConnection,
    session: &mut WsApiSession,
    events: &EventQueue,
    batch: &VenueEvents,
) -> io::Result<()> {
    for event in session.on_events(batch) {
        connection.send_json(&event).await?;
    }
    session.update_interest(events);
    Ok(())
}

impl WsApiSession {
    fn new(state: Arc<BinanceState>, peer: SocketAddr, query: &str) -> Self {
        let option = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        let is_micros = option("timeUnit").is_some_and(|unit| unit.eq_ignore_ascii_case("microsecond"));
        let faults = UserFaults::new(state.faults.clone());
        Self {
            state,
            peer,
            unit: if is_micros { TimeUnit::Microseconds } else { TimeUnit::Milliseconds },
            shows_rates: option("returnRateLimits") != Some("false"),
            connected_micros: now_micros(),
            logon: None,
            subscriptions: BTreeMap::new(),
            interest: EventInterest::default(),
            next_subscription: 0,
            is_ended: false,
            has_commanded: false,
            faults,
        }
    }

    /// Only what a subscription is about wakes the connection.
    fn update_interest(&mut self, events: &EventQueue) {
        let accounts = self.subscriptions.values().map(|subscription| subscription.account).collect();
        if accounts != self.interest.accounts {
            self.interest = EventInterest { accounts, ..EventInterest::default() };
            events.set_interest(self.interest.clone());
        }
    }

    fn describe(&self) -> String {
        let logon = self.logon.as_ref().map(|logon| format!("logged on to account {}", logon.account));
        let subscribed = self.subscriptions.values().map(|entry| format!("events of account {}", entry.account));
        logon.into_iter().chain(subscribed).collect::<Vec<_>>().join(", ")
    }

    /// What the subscribers are told of a command, and what faults make of it.
    fn on_events(&mut self, batch: &VenueEvents) -> Vec<Value> {
        let events = batch.iter().flat_map(|event| self.encode_event(event)).collect();
        let Some(sent) = self.faults.strike(events) else { return Vec::new() };
        let wrap = |sent: UserEvent<u32>| json!({ "subscriptionId": sent.subscription, "event": sent.event });
        let mut events: Vec<Value> = sent.into_iter().map(wrap).collect();
        let faults = &self.state.faults;
        let now = self.unit.encode(now_micros());
        if faults.strikes(Fault::KeyExpired) {
            let ended = std::mem::take(&mut self.subscriptions).into_keys();
            let event = |id| json!({ "subscriptionId": id, "event": { "e": "eventStreamTerminated", "E": now } });
            events.extend(ended.map(event));
        }
        if faults.strikes(Fault::ServerShutdown) {
            events.push(json!({ "event": { "e": "serverShutdown", "E": now } }));
            self.is_ended = true;
        }
        events
    }

    fn encode_event(&self, event: &crate::exchange::VenueEvent) -> Vec<UserEvent<u32>> {
        let encode = |(id, subscription): (&u32, &UserSubscription)| {
            if subscription.is_silent {
                return None;
            }
            let event = user_events::encode(event, subscription.account, self.unit)?;
            Some(UserEvent { subscription: *id, event })
        };
        self.subscriptions.iter().filter_map(encode).collect()
    }

    /// The response to one request; none where the connection is cut instead.
    async fn handle(&mut self, text: &str) -> Option<Value> {
        let invalid = || ApiError::bad_request(-1135, "Invalid JSON Request");
        let Ok(Value::Object(mut request)) = serde_json::from_str(text) else {
            return Some(self.respond(&Value::Null, Err(invalid()), false, None));
        };
        let id = request.remove("id").unwrap_or(Value::Null);
        let params = params_of(request.remove("params"));
        let method = request.get("method").and_then(Value::as_str);
        let (Some(method), Ok(params)) = (method, params) else {
            return Some(self.respond(&id, Err(invalid()), false, None));
        };
        let shows_rates = match params.raw("returnRateLimits") {
            Some(shown) => shown == "true",
            None => self.shows_rates,
        };
        let (result, account) = self.execute(method.strip_prefix("v3/").unwrap_or(method), &params).await;
        let is_cut = result.as_ref().is_err_and(|error| error.is_cut);
        (!is_cut).then(|| self.respond(&id, result, shows_rates, account))
    }

    fn respond(
        &self,
        id: &Value,
        result: Result<Value, ApiError>,
        shows_rates: bool,
        orders_of: Option<AccountIndex>,
    ) -> Value {
        let mut response = Map::from_iter([("id".to_owned(), id.clone())]);
        match result {
            Ok(result) => {
                response.insert("status".to_owned(), 200.into());
                response.insert("result".to_owned(), result);
            }
            Err(error) => {
                response.insert("status".to_owned(), error.status.into());
                response.insert("error".to_owned(), error.body());
            }
        }
        if shows_rates {
            let rates = self.state.rates.list_used(self.peer.ip(), orders_of, now_micros());
            response.insert("rateLimits".to_owned(), rates);
        }
        Value::Object(response)
    }

    /// The result, and the account where the request counts as an order.
    async fn execute(&mut self, method: &str, params: &Params) -> (Result<Value, ApiError>, Option<AccountIndex>) {
        let row = methods::by_name(method).filter(|row| self.state.offers(row));
        self.has_commanded = row.is_some_and(|row| row.verb != "GET");
        let Some(row) = row else {
            return (self.execute_session(method, params), None);
        };
        let (weight, now) = (row.weight_of(params), now_micros());
        if let Err(error) = self.state.rates.charge(self.peer.ip(), weight, now) {
            return (Err(error), None);
        }
        let (result, account) = self.execute_row(row, params).await;
        if result.is_ok() && row.is_free_on_success() {
            self.state.rates.refund(self.peer.ip(), weight, now);
        }
        (result, account.filter(|_| row.is_order()))
    }

    async fn execute_row(&self, row: &MethodRow, params: &Params) -> (Result<Value, ApiError>, Option<AccountIndex>) {
        let state = &self.state;
        let rights = KeyRights::default();
        let mut call = ApiCall { state, params, account: 0, rights, deadline_micros: None, unit: self.unit };
        let authorized = match row.security {
            MethodSecurity::Public => Ok(()),
            MethodSecurity::Key => security::find_key(&state.keys, params.raw("apiKey")).map(|key| {
                call.account = key.account;
            }),
            MethodSecurity::Signed => self.authenticate(params).and_then(|found| call.authorize(row, &found)),
        };
        if let Err(error) = authorized {
            return (Err(error), None);
        }
        let mut known = row.known();
        known.extend(["apiKey", "returnRateLimits"]);
        let result = match params.check_known(&known) {
            Ok(()) => call.execute(row.method).await,
            Err(error) => Err(error),
        };
        (result, (row.security == MethodSecurity::Signed).then_some(call.account))
    }

    /// By a key and a signature in the request, else by the session's logon.
    fn authenticate(&self, params: &Params) -> Result<security::SignedRequest, ApiError> {
        match &self.logon {
            Some(logon) if !params.has("apiKey") => {
                let deadline_micros = security::check_time(params, self.state.now())?;
                Ok(security::SignedRequest { account: logon.account, rights: logon.rights, deadline_micros })
            }
            _ => security::authenticate_sorted(&self.state.keys, params, self.state.now()),
        }
    }

    fn execute_session(&mut self, method: &str, params: &Params) -> Result<Value, ApiError> {
        self.state.rates.charge(self.peer.ip(), SESSION_WEIGHT, now_micros())?;
        match method {
            "session.logon" => self.log_on(params),
            "session.status" => Ok(self.status()),
            "session.logout" => {
                self.logon = None;
                self.subscriptions.retain(|_, subscription| !subscription.is_by_logon);
                Ok(self.status())
            }
            "session.subscriptions" => {
                Ok(self.subscriptions.keys().map(|id| json!({ "subscriptionId": id })).collect())
            }
            "userDataStream.subscribe" => {
                let account = self.logon.as_ref().map(|logon| logon.account).ok_or_else(security::unauthorized)?;
                self.subscribe(account, true)
            }
            "userDataStream.subscribe.signature" => {
                let found = security::authenticate_sorted(&self.state.keys, params, self.state.now())?;
                self.subscribe(found.account, false)
            }
            "userDataStream.unsubscribe" => self.unsubscribe(params),
            _ => Err(ApiError::bad_request(-1020, "This operation is not supported.")),
        }
    }

    fn log_on(&mut self, params: &Params) -> Result<Value, ApiError> {
        let found = security::authenticate_sorted(&self.state.keys, params, self.state.now())?;
        let api_key = params.required("apiKey")?.to_owned();
        let is_ed25519 = self.state.keys.get(&api_key).is_some_and(|key| key.verifier.is_ed25519());
        if !is_ed25519 {
            return Err(ApiError::bad_request(-4056, "HMAC_SHA256 API key is not supported."));
        }
        let (account, rights) = (found.account, found.rights);
        self.logon = Some(Logon { api_key, account, rights, since_micros: now_micros() });
        Ok(self.status())
    }

    fn status(&self) -> Value {
        json!({
            "apiKey": self.logon.as_ref().map(|logon| logon.api_key.clone()),
            "authorizedSince": self.logon.as_ref().map(|logon| self.unit.encode(logon.since_micros)),
            "connectedSince": self.unit.encode(self.connected_micros),
            "returnRateLimits": self.shows_rates,
            "serverTime": self.unit.encode(now_micros()),
            "userDataStream": !self.subscriptions.is_empty(),
        })
    }

    fn subscribe(&mut self, account: AccountIndex, is_by_logon: bool) -> Result<Value, ApiError> {
        if self.subscriptions.values().any(|subscription| subscription.account == account) {
            return Err(ApiError::bad_request(-2035, "User Data Stream subscription already active."));
        }
        if self.subscriptions.len() >= SUBSCRIPTIONS_MAX || self.next_subscription >= SUBSCRIPTIONS_EVER_MAX {
            return Err(ApiError::bad_request(-2042, "Maximum subscription ID reached for this connection."));
        }
        let id = self.next_subscription;
        self.next_subscription += 1;
        let is_silent = self.state.faults.strikes(Fault::StreamNever);
        self.subscriptions.insert(id, UserSubscription { account, is_by_logon, is_silent });
        Ok(json!({ "subscriptionId": id }))
    }

    fn unsubscribe(&mut self, params: &Params) -> Result<Value, ApiError> {
        let inactive = || ApiError::bad_request(-2036, "User Data Stream subscription not active.");
        match params.integer("subscriptionId")? {
            None if self.subscriptions.is_empty() => Err(inactive()),
            None => {
                self.subscriptions.clear();
                Ok(json!({}))
            }
            Some(id) => {
                let removed = u32::try_from(id).ok().and_then(|id| self.subscriptions.remove(&id));
                removed.map(|_| json!({})).ok_or_else(inactive)
            }
        }
    }
}

/// JSON values as the texts that they were sent as.
fn params_of(params: Option<Value>) -> Result<Params, ()> {
    let params = match params {
        None | Some(Value::Null) => return Ok(Params::default()),
        Some(Value::Object(params)) => params,
        Some(_) => return Err(()),
    };
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    let sent = params.into_iter().filter(|(_, value)| !value.is_null());
    Ok(Params::new(sent.map(|(name, value)| (name, text(value))).collect()))
}
