//! Strategy bus protocol: hello, commands and replies, own order events, phases. Prices and generic events travel on
//! topics. The encoding is the journal's, so no digit is lost.

pub(crate) mod event_codec;
pub(crate) mod delivery_log;

use std::sync::Arc;

use domain::command::{ReferenceChange, StrategyPhase};
use domain::{Bar, BarSize, Command, Event, PublishedEvent, ReferenceData, SecurityId, StrategyId, Text, Timestamp};
use minicbor::{Decode, Encode};
use strategy::{BarHistoryRequest, PriceHistory};

use self::event_codec::changes;
use super::link::reply_collector::CommandReject;

pub use self::event_codec::{difference, encode, reference};

/// Protocol version, checked together with the version of the program.
pub const PROTOCOL: u32 = 6;

/// Past bars of one message: some forty thousand bytes, of the million that a frame can have.
const BARS_PER_MESSAGE: usize = 500;
/// Changes that make reference data, in one message: some two hundred thousand bytes.
const CHANGES_PER_MESSAGE: usize = 1_000;

/// From a strategy to the server.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct StrategyRequest {
    #[n(0)]
    pub strategy: Text,
    /// New for each Hello: messages of an older epoch are ignored.
    #[n(1)]
    pub epoch: u64,
    #[n(2)]
    pub body: StrategyRequestBody,
    /// Address of the process for answers, so that no other process of the same name gets them.
    #[n(3)]
    pub address: Text,
}

#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub enum StrategyRequestBody {
    /// The first message of a connection. A running strategy names the last event that it acknowledged.
    #[n(0)]
    Hello {
        #[n(0)]
        build: Text,
        #[n(1)]
        resume: Option<Resume>,
        /// Whether it may replace a process that is alive.
        #[n(2)]
        takes_over: bool,
    },
    #[n(1)]
    Command {
        /// A retry has the same key and takes effect once.
        #[n(0)]
        key: u64,
        /// After this the command has no effect.
        #[n(1)]
        expires: Timestamp,
        #[n(2)]
        command: Box<Command>,
    },
    /// Heartbeat: it has processed everything up to this sequence.
    #[n(2)]
    Heartbeat {
        #[n(0)]
        heard: u64,
    },
    #[n(3)]
    Entered {
        #[n(0)]
        phase: StrategyPhase,
        #[n(1)]
        wishes: Vec<HistoryRequest>,
    },
    /// It failed; why.
    #[n(4)]
    Failed {
        #[n(0)]
        reason: Text,
    },
    /// It requests EXIT.
    #[n(5)]
    Exit,
    /// A record of its delivery log; keyed and answered like a command.
    #[n(6)]
    DeliveryLog {
        #[n(0)]
        key: u64,
        #[cbor(n(1), with = "minicbor::bytes")]
        leaf: Vec<u8>,
    },
    /// Every envelope up to this number was received. Sent by the link, so it is no heartbeat of the strategy.
    #[n(7)]
    Ack {
        #[n(0)]
        number: u64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct Resume {
    #[n(0)]
    pub run: u64,
    #[n(1)]
    pub last_sequence: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct HistoryRequest {
    #[n(0)]
    security: SecurityId,
    #[n(1)]
    size: BarSize,
    #[n(2)]
    bars: u32,
}

impl Resume {
    /// The run of the process is over: it asks for a new one, and for what it missed.
    pub const NO_RUN: u64 = 0;
}

impl From<&BarHistoryRequest> for HistoryRequest {
    fn from(request: &BarHistoryRequest) -> Self {
        let bars = u32::try_from(request.bars).unwrap_or(u32::MAX);
        Self { security: request.security, size: request.size, bars }
    }
}

impl From<HistoryRequest> for BarHistoryRequest {
    fn from(asked: HistoryRequest) -> Self {
        Self { security: asked.security, size: asked.size, bars: asked.bars as usize }
    }
}

/// From the server to a strategy, numbered without a gap within an epoch.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct ServerEnvelope {
    #[n(0)]
    pub epoch: u64,
    #[n(1)]
    pub number: u64,
    #[n(2)]
    pub message: ServerMessage,
}

#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub enum ServerMessage {
    #[n(0)]
    Welcome {
        #[n(0)]
        id: StrategyId,
        #[n(1)]
        run: u64,
        /// The earlier run continues; otherwise a new one begins with INIT.
        #[n(2)]
        is_resumed: bool,
        /// The last of the changes that make it; those before came in messages of their own.
        #[n(3)]
        reference: Vec<ReferenceChange>,
        /// The server's clock, for deadlines.
        #[n(4)]
        now: Timestamp,
        /// Whether it must keep a delivery log.
        #[n(5)]
        has_diary: bool,
    },
    #[n(1)]
    HelloRejected {
        #[n(0)]
        code: Text,
        #[n(1)]
        text: Text,
    },
    #[n(2)]
    Event {
        #[n(0)]
        sequence: u64,
        #[n(1)]
        at: Timestamp,
        #[n(2)]
        class: u8,
        #[cbor(n(3), with = "minicbor::bytes")]
        payload: Vec<u8>,
    },
    #[n(3)]
    Answer {
        #[n(0)]
        key: u64,
        #[n(1)]
        refusal: Option<CommandRefusal>,
    },
    #[n(4)]
    Enter {
        #[n(0)]
        phase: StrategyPhase,
        #[n(1)]
        bars: Vec<Bar>,
        /// Further bars follow before the phase begins.
        #[n(2)]
        is_partial: bool,
    },
    /// The server has disconnected it; why.
    #[n(5)]
    Disconnected {
        #[n(0)]
        reason: Text,
        /// With a new run: it was silent or too slow, and nothing else is wrong.
        #[n(1)]
        may_return: bool,
    },
    /// Reference data, before the welcome that has the rest of it.
    #[n(6)]
    Reference {
        #[n(0)]
        changes: Vec<ReferenceChange>,
    },
    /// Messages may have been lost: it must send Hello again with the last event that it acknowledged.
    #[n(7)]
    Reconnect,
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct CommandRefusal {
    #[n(0)]
    pub code: Text,
    #[n(1)]
    pub text: Text,
}

impl From<CommandReject> for CommandRefusal {
    fn from(CommandReject { code, text }: CommandReject) -> Self {
        Self { code, text }
    }
}

impl ServerMessage {
    /// An own event of a strategy; absent for events on topics.
    pub fn from_event(published: &PublishedEvent) -> Option<Self> {
        let travels_on_topics = matches!(
            published.event,
            Event::Tick(_) | Event::Trade(_) | Event::Book(_) | Event::Bar(_) | Event::Generic(_)
        );
        if travels_on_topics {
            return None;
        }
        let (class, payload) = event_codec::to_bytes(&published.event)?;
        let PublishedEvent { sequence, at, .. } = *published;
        Some(Self::Event { sequence, at, class, payload })
    }

    /// In parts that fit a frame; the phase begins with the last.
    pub fn from_phase(phase: StrategyPhase, history: &PriceHistory) -> Vec<Self> {
        let bars: Vec<Bar> = history.all_bars().map(|bar| (**bar).clone()).collect();
        let parts = bars.chunks(BARS_PER_MESSAGE);
        let mut messages: Vec<Self> =
            parts.map(|part| Self::Enter { phase, bars: part.to_vec(), is_partial: true }).collect();
        messages.push(Self::Enter { phase, bars: vec![], is_partial: false });
        messages
    }

    /// What of reference data comes before the welcome, and what comes in it.
    pub fn from_reference(data: &ReferenceData) -> (Vec<Self>, Vec<ReferenceChange>) {
        let all = changes(data);
        let mut parts: Vec<_> = all.chunks(CHANGES_PER_MESSAGE).map(<[_]>::to_vec).collect();
        let last = parts.pop().unwrap_or_default();
        (parts.into_iter().map(|changes| Self::Reference { changes }).collect(), last)
    }

    pub fn into_bytes(self, epoch: u64, number: u64) -> Vec<u8> {
        encode(ServerEnvelope { epoch, number, message: self })
    }
}

/// The event as it was published; absent where this build can't read it.
/// `reference` is what the receiver has before it.
pub fn event(
    (sequence, at): (u64, Timestamp),
    class: u8,
    payload: &[u8],
    reference: &Arc<ReferenceData>,
) -> Option<PublishedEvent> {
    let event = event_codec::from_bytes(class, payload, reference)?;
    Some(PublishedEvent { sequence, at, event })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::ReferenceUpdate;
    use domain::command::{CancelOrder, GenericEvent};

    use super::*;

    #[test]
    fn messages_of_both_directions_are_decoded_unchanged() {
        let cancel = Command::Cancel(CancelOrder::new("A-1".parse().unwrap()));
        let request = StrategyRequestBody::Command { key: 7, expires: Timestamp(5), command: Box::new(cancel) };
        let letter = StrategyRequest { strategy: "TREND".into(), epoch: 3, body: request, address: "one".into() };
        assert_eq!(minicbor::decode::<StrategyRequest>(&encode(&letter)).unwrap(), letter);
        let refusal = Some(CommandRefusal { code: "busy".into(), text: "later".into() });
        let message = ServerMessage::Answer { key: 7, refusal };
        let parcel: ServerEnvelope = minicbor::decode(&message.clone().into_bytes(3, 9)).unwrap();
        assert_eq!(parcel, ServerEnvelope { epoch: 3, number: 9, message });
    }

    #[test]
    fn own_events_travel_here_and_those_for_all_do_not() {
        let order = PublishedEvent { sequence: 4, at: Timestamp(1), event: Event::Order(Arc::new(samples::order(1))) };
        let Some(ServerMessage::Event { sequence, at, class, payload }) = ServerMessage::from_event(&order) else {
            panic!("an event")
        };
        assert_eq!(event((sequence, at), class, &payload, &Arc::default()), Some(order));
        let said = GenericEvent { strategy: StrategyId(1), name: "a".into(), body: "{}".into() };
        let generic = PublishedEvent { sequence: 4, at: Timestamp(1), event: Event::Generic(Arc::new(said)) };
        assert_eq!(ServerMessage::from_event(&generic), None);
    }

    /// The process has the securities; what it gets are the bytes of the change.
    #[test]
    fn one_change_among_a_hundred_thousand_securities_travels_alone() {
        let stocks = (1..=100_000).map(|id| (SecurityId(id), Arc::new(samples::stock(id, &format!("S{id}")))));
        let before = Arc::new(ReferenceData { securities: stocks.collect(), ..ReferenceData::default() });
        let changes =
            vec![ReferenceChange::Security(samples::stock(7, "SEVEN")), ReferenceChange::RetireSecurity(SecurityId(8))];
        let mut data = ReferenceData::clone(&before);
        data.securities.insert(SecurityId(7), Arc::new(samples::stock(7, "SEVEN")));
        data.securities.remove(&SecurityId(8));
        let update = ReferenceUpdate { changes, data: Arc::new(data) };
        let changed = PublishedEvent { sequence: 4, at: Timestamp(1), event: Event::Reference(Arc::new(update)) };
        let Some(ServerMessage::Event { class, payload, .. }) = ServerMessage::from_event(&changed) else {
            panic!("an event")
        };
        assert!(payload.len() < 1_000, "{} bytes", payload.len());
        assert_eq!(event((4, Timestamp(1)), class, &payload, &before), Some(changed));
    }

    #[test]
    fn a_difference_makes_later_reference_data_from_earlier_ones() {
        let stocks = |listed: &[(u64, &str)]| {
            let stock = |(id, symbol): &(u64, &str)| ReferenceChange::Security(samples::stock(*id, symbol));
            let changes = listed.iter().map(stock).chain([ReferenceChange::Exchange(samples::exchange())]);
            Arc::new(reference(changes.collect()))
        };
        let (before, after) =
            (stocks(&[(1, "ONE"), (2, "TWO"), (3, "THREE")]), stocks(&[(2, "TWO"), (3, "III"), (4, "FOUR")]));
        let changes = difference(&before, &after);
        let security = |id, symbol| ReferenceChange::Security(samples::stock(id, symbol));
        let expected = [security(3, "III"), security(4, "FOUR"), ReferenceChange::RetireSecurity(SecurityId(1))];
        assert_eq!(changes, expected);
        let payload = encode(&changes);
        let update = event((1, Timestamp(0)), domain::EventClass::Reference as u8, &payload, &before).unwrap();
        assert_eq!(update.event, Event::Reference(Arc::new(ReferenceUpdate { changes, data: after.clone() })));
        assert!(difference(&after, &after).is_empty());
    }

    #[test]
    fn large_reference_data_is_decoded_complete_from_several_messages() {
        let stocks = (1..=2_500).map(|id| (SecurityId(id), Arc::new(samples::stock(id, &format!("S{id}")))));
        let data = ReferenceData { securities: stocks.collect(), ..ReferenceData::default() };
        let (parts, last) = ServerMessage::from_reference(&data);
        assert_eq!((parts.len(), last.len()), (2, 500));
        let before = parts.into_iter().flat_map(|part| match part {
            ServerMessage::Reference { changes } => changes,
            other => panic!("not reference data: {other:?}"),
        });
        assert_eq!(reference(before.chain(last).collect()), data);
    }
}
