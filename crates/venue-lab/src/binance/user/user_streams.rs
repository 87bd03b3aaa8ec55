//! User data streams of a connection to the market streams face: an account's events by its listen key.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::listen_keys::ListenKeys;
use super::user_events;
use super::user_faults::{UserEvent, UserFaults};
use crate::binance::api::encode::TimeUnit;
use crate::exchange::{AccountIndex, VenueEvent};
use crate::faults::LabFaults;
use crate::faults::catalogue::Fault;

/// One subscribed listen key.
struct UserStream {
    account: AccountIndex,
    /// When it expires, as far as is known: it may have been extended since.
    until_micros: i64,
    /// It was confirmed and never sends, by a fault.
    is_silent: bool,
}

pub(crate) struct UserStreams {
    /// None where they are switched off.
    keys: Option<Arc<ListenKeys>>,
    unit: TimeUnit,
    streams: BTreeMap<String, UserStream>,
    faults: Arc<LabFaults>,
    event_faults: UserFaults<String>,
}

impl UserStreams {
    pub(crate) fn new(keys: Option<Arc<ListenKeys>>, faults: Arc<LabFaults>, unit: TimeUnit) -> Self {
        let event_faults = UserFaults::new(faults.clone());
        Self { keys, unit, streams: BTreeMap::new(), faults, event_faults }
    }

    /// Subscribes where the name is a valid listen key.
    pub(crate) fn subscribe(&mut self, name: &str, now: i64) -> bool {
        let found = self.keys.as_ref().and_then(|keys| keys.find(name, now));
        let Some(key) = found else { return false };
        if !self.streams.contains_key(name) {
            let is_silent = self.faults.strikes(Fault::StreamNever);
            let stream = UserStream { account: key.account, until_micros: key.until_micros, is_silent };
            self.streams.insert(name.to_owned(), stream);
        }
        true
    }

    pub(crate) fn unsubscribe(&mut self, name: &str) {
        self.streams.remove(name);
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.streams.keys()
    }

    pub(crate) fn accounts(&self) -> impl Iterator<Item = AccountIndex> {
        self.streams.values().map(|stream| stream.account)
    }

    /// What the streams send because of the events of a command, with their names.
    pub(crate) fn on_events(&mut self, batch: &[VenueEvent], now: i64) -> Vec<(String, Value)> {
        let mut sent = Vec::new();
        for event in batch {
            for (name, stream) in self.streams.iter().filter(|(_, stream)| !stream.is_silent) {
                let encoded = user_events::encode(event, stream.account, self.unit);
                sent.extend(encoded.map(|event| UserEvent { subscription: name.clone(), event }));
            }
        }
        let Some(sent) = self.event_faults.strike(sent) else { return Vec::new() };
        let mut messages: Vec<_> = sent.into_iter().map(|sent| (sent.subscription, sent.event)).collect();
        if self.faults.strikes(Fault::KeyExpired) {
            let ended: Vec<_> = std::mem::take(&mut self.streams).into_keys().collect();
            if let Some(keys) = &self.keys {
                ended.iter().for_each(|name| keys.expire(name));
            }
            messages.extend(ended.into_iter().map(|name| self.expired(name, now)));
        }
        messages
    }

    /// Streams whose keys have expired say so and end; those whose keys were closed just end.
    pub(crate) fn on_tick(&mut self, now: i64) -> Vec<(String, Value)> {
        let Some(keys) = &self.keys else { return Vec::new() };
        let mut expired = Vec::new();
        self.streams.retain(|name, stream| {
            let found = keys.find(name, now);
            match found {
                Some(key) => stream.until_micros = key.until_micros,
                None if stream.until_micros <= now => expired.push(name.clone()),
                None => {}
            }
            found.is_some()
        });
        expired.into_iter().map(|name| self.expired(name, now)).collect()
    }

    fn expired(&self, name: String, now: i64) -> (String, Value) {
        let event = json!({ "e": "listenKeyExpired", "E": self.unit.encode(now), "listenKey": name });
        (name, event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000_000;

    fn streams_of(keys: &Arc<ListenKeys>) -> UserStreams {
        UserStreams::new(Some(keys.clone()), Arc::default(), TimeUnit::Milliseconds)
    }

    #[test]
    fn a_stream_says_that_its_key_has_expired_and_ends() {
        let keys = Arc::new(ListenKeys::default());
        let name = keys.start(3, "key".to_owned(), 0);
        let mut streams = streams_of(&keys);
        assert!(!streams.subscribe("another", 0) && streams.subscribe(&name, 0));
        assert_eq!(streams.accounts().collect::<Vec<_>>(), [3]);
        keys.keep(&name, 3, 30 * MINUTE).unwrap();
        assert_eq!(streams.on_tick(60 * MINUTE), [], "it was extended");
        let event = json!({ "e": "listenKeyExpired", "E": 90 * MINUTE / 1_000, "listenKey": "key" });
        assert_eq!(streams.on_tick(90 * MINUTE), [(name.clone(), event)]);
        assert_eq!(streams.names().count(), 0);
        assert!(!streams.subscribe(&name, 90 * MINUTE));
    }

    #[test]
    fn a_stream_whose_key_was_closed_ends_without_a_word() {
        let keys = Arc::new(ListenKeys::default());
        let name = keys.start(0, "key".to_owned(), 0);
        let mut streams = streams_of(&keys);
        assert!(streams.subscribe(&name, 0));
        keys.close(&name, 0, MINUTE).unwrap();
        assert_eq!((streams.on_tick(2 * MINUTE), streams.names().count()), (Vec::new(), 0));
    }
}
