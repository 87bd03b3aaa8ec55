//! Subscriptions of a connection: ids, patterns, heads of MESSAGE frames, acknowledgements.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::protocol_error::ProtocolError;
use super::selector::Selector;
use crate::destination::{DestinationKind, DestinationPattern};
use crate::escape::Escapes;
use crate::frame::{encode_headers, encode_number};
use crate::lanes::Broadcast;
use crate::message::StompMessage;
use crate::session::delivery::{DeliveryFlags, DeliveryToken, SubscriptionKey, UnackedDeliveries};
use crate::version::StompVersion;

/// How a client acknowledges messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AckMode {
    /// A sent message counts as acknowledged.
    Auto,
    /// An acknowledgement covers everything up to and including its message.
    Client,
    /// An acknowledgement covers its message alone.
    ClientIndividual,
}

/// Identifies a subscription for its client. Only 1.0 may omit the id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SubscriptionName {
    Id(String),
    Destination(String),
}

/// Which delivery an ACK or NACK refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AckTarget {
    /// 1.2: the value of the `ack` header.
    Delivery(String),
    /// 1.1, and 1.0 without the subscription.
    Message { id: String, subscription: Option<String> },
}

/// The outcome of writing a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteOutcome {
    /// Its acknowledgement is expected.
    AwaitingAck,
    /// Acknowledged by being sent, because the mode is auto.
    Acknowledged,
    /// The subscription has ended; nothing was written.
    Gone,
}

#[derive(Debug)]
struct SubscriptionEntry {
    /// Only in 1.0, where an UNSUBSCRIBE may name it even if there is an id.
    destination: Option<Box<str>>,
    mode: AckMode,
    prefetch: usize,
    /// `MESSAGE` and, where there is an id, `subscription`: the same for every message.
    head: Box<[u8]>,
    unacked: UnackedDeliveries,
    patterns: Arc<[DestinationPattern]>,
    /// Broadcasts with greater numbers are received.
    since: u64,
    /// Broadcasts of this connection itself are omitted.
    no_local: bool,
}

impl SubscriptionEntry {
    fn matches(&self, broadcast: &Broadcast) -> bool {
        self.since < broadcast.number && !(broadcast.is_own && self.no_local)
    }
}

/// All subscriptions of a connection.
#[derive(Debug)]
pub struct ConnectionSubscriptions {
    version: StompVersion,
    entries: BTreeMap<SubscriptionKey, SubscriptionEntry>,
    names: BTreeMap<SubscriptionName, SubscriptionKey>,
    /// Matches broadcasts with subscriptions.
    selector: Selector,
    /// Destinations of all of them.
    patterns: usize,
    /// How many require acknowledgements.
    acknowledging: usize,
    next_key: u32,
    next_delivery: u64,
}

impl ConnectionSubscriptions {
    pub(crate) fn new(version: StompVersion) -> Self {
        Self {
            version,
            entries: BTreeMap::new(),
            names: BTreeMap::new(),
            selector: Selector::default(),
            patterns: 0,
            acknowledging: 0,
            next_key: 1,
            next_delivery: 1,
        }
    }

    pub fn version(&self) -> StompVersion {
        self.version
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Destinations of all of them, each of those that commas join counted.
    pub(crate) fn patterns(&self) -> usize {
        self.patterns
    }

    pub fn keys(&self) -> impl Iterator<Item = SubscriptionKey> {
        self.entries.keys().copied()
    }

    pub(crate) fn contains(&self, name: &SubscriptionName) -> bool {
        self.names.contains_key(name)
    }

    /// The name must be new. The subscription receives nothing before [`ConnectionSubscriptions::activate`].
    pub(crate) fn open(
        &mut self,
        name: SubscriptionName,
        destination: &str,
        patterns: &Arc<[DestinationPattern]>,
        (mode, prefetch): (AckMode, usize),
    ) -> SubscriptionKey {
        let key = SubscriptionKey(self.next_key);
        self.next_key = self.next_key.checked_add(1).expect("a connection ends long before 2^32 subscriptions");
        let head = self.head(&name);
        self.names.insert(name, key);
        let destination = (self.version == StompVersion::V10).then(|| destination.into());
        self.patterns += patterns.len();
        self.acknowledging += usize::from(mode != AckMode::Auto);
        let (ledger, patterns) = (UnackedDeliveries::default(), patterns.clone());
        let entry = SubscriptionEntry {
            destination,
            mode,
            prefetch,
            head,
            unacked: ledger,
            patterns,
            since: u64::MAX,
            no_local: false,
        };
        self.entries.insert(key, entry);
        key
    }

    /// From now on the subscription receives broadcasts with numbers greater than `since`. One that has ended receives
    /// nothing.
    pub fn activate(&mut self, key: SubscriptionKey, since: u64, no_local: bool) {
        let Some(entry) = self.entries.get_mut(&key) else { return };
        (entry.since, entry.no_local) = (since, no_local);
        let topics = entry.patterns.iter().filter(|pattern| pattern.kind() == DestinationKind::Topic);
        topics.for_each(|pattern| self.selector.add(pattern, key));
    }

    /// The subscriptions that receive a broadcast, each once however many of its patterns match; `keys` is cleared
    /// first.
    pub(crate) fn select(&self, broadcast: &Broadcast, keys: &mut Vec<SubscriptionKey>) {
        keys.clear();
        let hears = |key: &SubscriptionKey| self.entries.get(key).is_some_and(|entry| entry.matches(broadcast));
        self.selector.for_each_subscription(broadcast.message.destination(), broadcast.is_reserved, |key| {
            keys.extend(Some(key).filter(hears));
        });
        keys.sort_unstable();
        keys.dedup();
    }

    /// Whether no subscription requires acknowledgements, so that a broadcast never has to wait for one.
    pub(crate) fn is_automatic(&self) -> bool {
        self.acknowledging == 0
    }

    fn head(&self, name: &SubscriptionName) -> Box<[u8]> {
        let mut head = b"MESSAGE\n".to_vec();
        if let SubscriptionName::Id(id) = name {
            encode_headers([("subscription", id.as_str())].into_iter(), Escapes::for_version(self.version), &mut head);
        }
        head.into_boxed_slice()
    }

    pub(crate) fn close(&mut self, name: &SubscriptionName) -> Option<SubscriptionKey> {
        let key = self.names.get(name).copied().or_else(|| self.by_destination(name))?;
        self.names.retain(|_, known| *known != key);
        let entry = self.entries.remove(&key)?;
        self.patterns -= entry.patterns.len();
        self.acknowledging -= usize::from(entry.mode != AckMode::Auto);
        entry.patterns.iter().for_each(|pattern| self.selector.remove(pattern, key));
        Some(key)
    }

    fn by_destination(&self, name: &SubscriptionName) -> Option<SubscriptionKey> {
        let SubscriptionName::Destination(destination) = name else {
            return None;
        };
        let found = self.entries.iter().find(|(_, entry)| entry.destination.as_deref() == Some(destination.as_str()));
        found.map(|(key, _)| *key)
    }

    /// Whether one more message may be sent. A subscription that has ended accepts its remaining messages, which are
    /// dropped.
    pub fn has_room(&self, key: SubscriptionKey) -> bool {
        self.entries.get(&key).is_none_or(|entry| entry.mode == AckMode::Auto || entry.unacked.len() < entry.prefetch)
    }

    /// Writes the head of a MESSAGE frame; the message's tail completes it.
    pub fn write_head(
        &mut self,
        key: SubscriptionKey,
        message: &StompMessage,
        token: Option<DeliveryToken>,
        marks: DeliveryFlags,
        out: &mut Vec<u8>,
    ) -> WriteOutcome {
        let Some(entry) = self.entries.get_mut(&key) else {
            return WriteOutcome::Gone;
        };
        out.extend_from_slice(&entry.head);
        write_flags(marks, out);
        if entry.mode == AckMode::Auto {
            return WriteOutcome::Acknowledged;
        }
        if self.version == StompVersion::V12 {
            write_ack(key, self.next_delivery, out);
        }
        entry.unacked.on_delivered(self.next_delivery, message.id(), token);
        self.next_delivery += 1;
        WriteOutcome::AwaitingAck
    }

    pub(crate) fn is_unacked(&self, which: &AckTarget) -> bool {
        self.find(which).is_some()
    }

    /// Removes the deliveries that an ACK or NACK covers: the subscription and the tokens of its messages of queues.
    pub(crate) fn acknowledge(
        &mut self,
        which: &AckTarget,
    ) -> Result<(SubscriptionKey, Vec<DeliveryToken>), ProtocolError> {
        let (key, place) = self.find(which).ok_or(ProtocolError::UnknownMessage)?;
        let entry = self.entries.get_mut(&key).ok_or(ProtocolError::UnknownMessage)?;
        Ok((key, entry.unacked.acknowledge(place, entry.mode == AckMode::Client)))
    }

    fn find(&self, which: &AckTarget) -> Option<(SubscriptionKey, usize)> {
        match which {
            AckTarget::Delivery(id) => {
                let (key, delivery) = read_ack(id)?;
                Some((key, self.entries.get(&key)?.unacked.by_delivery(delivery)?))
            }
            AckTarget::Message { id, subscription: Some(name) } => {
                let key = *self.names.get(&SubscriptionName::Id(name.clone()))?;
                Some((key, self.entries.get(&key)?.unacked.by_message(id.parse().ok()?)?))
            }
            AckTarget::Message { id, subscription: None } => {
                let message = id.parse().ok()?;
                self.entries.iter().find_map(|(key, entry)| Some((*key, entry.unacked.by_message(message)?)))
            }
        }
    }
}

fn write_flags(marks: DeliveryFlags, out: &mut Vec<u8>) {
    if marks.redelivered {
        out.extend_from_slice(b"redelivered:true\n");
    }
    if marks.snapshot {
        out.extend_from_slice(b"snapshot:true\n");
    }
    if marks.replayed {
        out.extend_from_slice(b"replayed:true\n");
    }
    if marks.conflated > 0 {
        out.extend_from_slice(b"conflated:");
        encode_number(marks.conflated, out);
        out.push(b'\n');
    }
}

/// The id contains the subscription too, because an ACK of 1.2 carries nothing else.
fn write_ack(key: SubscriptionKey, delivery: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"ack:");
    encode_number(key.0.into(), out);
    out.push(b'-');
    encode_number(delivery, out);
    out.push(b'\n');
}

fn read_ack(id: &str) -> Option<(SubscriptionKey, u64)> {
    let (key, delivery) = id.split_once('-')?;
    Some((SubscriptionKey(key.parse().ok()?), delivery.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::destination::Destination;
    use crate::headers::Headers;

    fn message(id: u64) -> StompMessage {
        StompMessage::new(id, &Destination::parse("/queue/a").unwrap(), &Headers::default(), b"")
    }

    fn patterns(joined: &str) -> Arc<[DestinationPattern]> {
        joined.split(',').map(|text| DestinationPattern::parse(text).unwrap()).collect()
    }

    /// Three deliveries to one subscription of that mode; the tokens are the ids of the messages.
    fn three(version: StompVersion, mode: AckMode) -> (ConnectionSubscriptions, Vec<String>) {
        let mut subscriptions = ConnectionSubscriptions::new(version);
        let key =
            subscriptions.open(SubscriptionName::Id("a".to_owned()), "/queue/a", &patterns("/queue/a"), (mode, 3));
        let heads = (1..=3).map(|id| {
            let mut head = Vec::new();
            subscriptions.write_head(key, &message(id), Some(DeliveryToken(id)), DeliveryFlags::default(), &mut head);
            String::from_utf8(head).unwrap()
        });
        let heads = heads.collect();
        (subscriptions, heads)
    }

    fn settled(subscriptions: &mut ConnectionSubscriptions, id: &str) -> Result<Vec<u64>, ProtocolError> {
        let settled = subscriptions.acknowledge(&AckTarget::Delivery(id.to_owned()));
        settled.map(|(_, tokens)| tokens.into_iter().map(|token| token.0).collect())
    }

    #[test]
    fn the_head_carries_what_the_mode_and_version_need() {
        let (_, heads) = three(StompVersion::V12, AckMode::Client);
        assert_eq!(heads[1], "MESSAGE\nsubscription:a\nack:1-2\n");
        let (_, heads) = three(StompVersion::V11, AckMode::Client);
        assert_eq!(heads[1], "MESSAGE\nsubscription:a\n");
        let (_, heads) = three(StompVersion::V12, AckMode::Auto);
        assert_eq!(heads[1], "MESSAGE\nsubscription:a\n");
    }

    #[test]
    fn marks_stand_in_the_head() {
        let mut subscriptions = ConnectionSubscriptions::new(StompVersion::V12);
        let name = SubscriptionName::Destination("/topic/a".to_owned());
        let key = subscriptions.open(name, "/topic/a", &patterns("/topic/a"), (AckMode::Auto, 1));
        let marks = DeliveryFlags { redelivered: true, snapshot: true, replayed: true, conflated: 1_203 };
        let mut head = Vec::new();
        assert_eq!(subscriptions.write_head(key, &message(1), None, marks, &mut head), WriteOutcome::Acknowledged);
        assert_eq!(
            String::from_utf8(head).unwrap(),
            "MESSAGE\nredelivered:true\nsnapshot:true\nreplayed:true\nconflated:1203\n"
        );
    }

    #[test]
    fn client_mode_acknowledges_everything_up_to_the_message() {
        let (mut subscriptions, _) = three(StompVersion::V12, AckMode::Client);
        assert_eq!(settled(&mut subscriptions, "1-2"), Ok(vec![1, 2]));
        assert_eq!(settled(&mut subscriptions, "1-1"), Err(ProtocolError::UnknownMessage));
        assert_eq!(settled(&mut subscriptions, "1-3"), Ok(vec![3]));
    }

    #[test]
    fn client_individual_mode_acknowledges_one_message() {
        let (mut subscriptions, _) = three(StompVersion::V12, AckMode::ClientIndividual);
        assert_eq!(settled(&mut subscriptions, "1-2"), Ok(vec![2]));
        assert_eq!(settled(&mut subscriptions, "1-2"), Err(ProtocolError::UnknownMessage));
        assert_eq!(settled(&mut subscriptions, "1-1"), Ok(vec![1]));
    }

    #[test]
    fn prefetch_bounds_what_is_under_way() {
        let (mut subscriptions, _) = three(StompVersion::V12, AckMode::Client);
        let key = SubscriptionKey(1);
        assert!(!subscriptions.has_room(key));
        assert!(settled(&mut subscriptions, "1-1").is_ok());
        assert!(subscriptions.has_room(key));
        let (subscriptions, _) = three(StompVersion::V12, AckMode::Auto);
        assert!(subscriptions.has_room(key));
    }

    #[test]
    fn older_versions_acknowledge_by_message_id() {
        let by_message = |id: &str, subscription: Option<&str>| AckTarget::Message {
            id: id.to_owned(),
            subscription: subscription.map(str::to_owned),
        };
        let (mut subscriptions, _) = three(StompVersion::V11, AckMode::ClientIndividual);
        let key = SubscriptionKey(1);
        assert_eq!(subscriptions.acknowledge(&by_message("2", Some("a"))), Ok((key, vec![DeliveryToken(2)])));
        assert_eq!(subscriptions.acknowledge(&by_message("3", Some("b"))), Err(ProtocolError::UnknownMessage));
        assert_eq!(subscriptions.acknowledge(&by_message("3", None)), Ok((key, vec![DeliveryToken(3)])));
        for nonsense in ["", "x", "-", "1-", "1-x", "9-1"] {
            assert_eq!(settled(&mut subscriptions, nonsense), Err(ProtocolError::UnknownMessage), "{nonsense:?}");
        }
    }

    #[test]
    fn a_broadcast_is_heard_once_by_each_that_had_begun_and_selects_it() {
        let mut subscriptions = ConnectionSubscriptions::new(StompVersion::V12);
        let mut open = |id: &str, joined: &str, since, no_local| {
            let name = SubscriptionName::Id(id.to_owned());
            let key = subscriptions.open(name, joined, &patterns(joined), (AckMode::Auto, 1));
            subscriptions.activate(key, since, no_local);
        };
        open("overlapping", "/topic/order.>,/topic/order.SERVER.*,/topic/>", 0, false);
        open("own", "/topic/order.>", 0, true);
        open("late", "/topic/order.>", 7, false);
        open("prices", "/topic/tick.>", 0, false);
        let topic = Destination::parse("/topic/order.SERVER.1").unwrap();
        let message = Arc::new(StompMessage::new(1, &topic, &Headers::default(), b""));
        let heard = |subscriptions: &ConnectionSubscriptions, number, own| {
            let mut keys = vec![SubscriptionKey(99)];
            subscriptions
                .select(&Broadcast { message: message.clone(), number, is_own: own, is_reserved: false }, &mut keys);
            keys.into_iter().map(|key| key.0).collect::<Vec<_>>()
        };
        assert_eq!(heard(&subscriptions, 7, false), [1, 2]);
        assert_eq!(heard(&subscriptions, 8, true), [1, 3]);
        subscriptions.close(&SubscriptionName::Id("overlapping".to_owned()));
        assert_eq!((heard(&subscriptions, 8, false), subscriptions.patterns()), (vec![2, 3], 3));
    }
}
