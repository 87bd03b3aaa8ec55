//! Client request: a checked client frame, with required headers present and valid destinations.

use std::str::FromStr;
use std::sync::Arc;

use super::action::{Publication, ReplayStart};
use super::protocol_error::ProtocolError;
use super::subscriptions::{AckMode, AckTarget, SubscriptionName};
use super::transactions::TransactionStep;
use crate::destination::{Destination, DestinationKind, DestinationPattern};
use crate::frame::{StompCommand, StompFrame};
use crate::message::user_headers;
use crate::version::StompVersion;

/// Messages that may be in flight without acknowledgement: the default and the maximum.
pub const PREFETCH_MAX: usize = 1_000;
/// Destinations that one SUBSCRIBE may join with commas.
const JOINED_DESTINATIONS_MAX: usize = 100;

/// A parsed frame of a client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ClientRequest {
    /// SEND, ACK or NACK, at once or in a transaction.
    Operation {
        step: TransactionStep,
        transaction: Option<String>,
    },
    Subscribe(SubscribeRequest),
    Unsubscribe(SubscriptionName),
    Begin(String),
    Commit(String),
    Abort(String),
    Disconnect,
}

/// The contents of a SUBSCRIBE.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SubscribeRequest {
    pub(crate) name: SubscriptionName,
    /// As the client sent it.
    pub(crate) destination: String,
    pub(crate) patterns: Arc<[DestinationPattern]>,
    pub(crate) mode: AckMode,
    pub(crate) prefetch: usize,
    pub(crate) no_local: bool,
    pub(crate) snapshot: bool,
    pub(crate) after: Option<ReplayStart>,
}

impl ClientRequest {
    pub(crate) fn parse(frame: StompFrame, version: StompVersion) -> Result<Self, ProtocolError> {
        Ok(match frame.command {
            StompCommand::Send => {
                Self::Operation { transaction: transaction(&frame), step: TransactionStep::Publish(send(frame)?) }
            }
            StompCommand::Ack => Self::Operation {
                step: TransactionStep::Ack(acknowledged(&frame, version)?),
                transaction: transaction(&frame),
            },
            StompCommand::Nack => Self::Operation {
                step: TransactionStep::Nack(acknowledged(&frame, version)?),
                transaction: transaction(&frame),
            },
            StompCommand::Subscribe => Self::Subscribe(subscribe(&frame, version)?),
            StompCommand::Unsubscribe => Self::Unsubscribe(name(&frame, version)?),
            StompCommand::Begin => Self::Begin(required_header(&frame, "transaction")?),
            StompCommand::Commit => Self::Commit(required_header(&frame, "transaction")?),
            StompCommand::Abort => Self::Abort(required_header(&frame, "transaction")?),
            StompCommand::Disconnect => Self::Disconnect,
            StompCommand::Connect | StompCommand::Stomp => return Err(ProtocolError::AlreadyConnected),
            StompCommand::Connected | StompCommand::Message | StompCommand::Receipt | StompCommand::Error => {
                return Err(ProtocolError::NotAClientFrame(frame.command));
            }
        })
    }
}

fn send(frame: StompFrame) -> Result<Publication, ProtocolError> {
    let destination = Destination::parse_from_client(&required_header(&frame, "destination")?)?;
    Ok(Publication { destination, headers: user_headers(&frame.headers), body: frame.body })
}

fn subscribe(frame: &StompFrame, version: StompVersion) -> Result<SubscribeRequest, ProtocolError> {
    let destination = frame.headers.get("destination").unwrap_or_default();
    let (joined, options) = split_options(destination);
    if joined.is_empty() {
        return Err(ProtocolError::Missing { command: StompCommand::Subscribe, header: "destination" });
    }
    reject_unsupported_headers(frame, options)?;
    let option = |name: &str| consumer_option(frame, options, name);
    let snapshot = option("retroactive").is_some_and(is_true) || frame.headers.get("snapshot").is_some_and(is_true);
    let after = frame.headers.get(FROM_SEQUENCE).map(replay_start).transpose()?;
    if snapshot && after.is_some() {
        return Err(ProtocolError::SnapshotAndReplay);
    }
    Ok(SubscribeRequest {
        name: name(frame, version)?,
        destination: destination.to_owned(),
        patterns: patterns(joined)?,
        mode: mode(frame),
        prefetch: option("prefetchSize").or(frame.headers.get("prefetch-count")).map_or(PREFETCH_MAX, prefetch),
        no_local: option("noLocal").is_some_and(is_true),
        snapshot,
        after,
    })
}

/// Headers that request unsupported features. To ignore one would deliver what the client did not request, or lose what
/// it relies on.
fn reject_unsupported_headers(frame: &StompFrame, options: &str) -> Result<(), ProtocolError> {
    if frame.headers.get("selector").is_some() || consumer_option(frame, options, "selector").is_some() {
        return Err(ProtocolError::SelectorNotSupported);
    }
    let is_asked = |name: &&str| frame.headers.get(name).is_some_and(|value| !value.eq_ignore_ascii_case("false"));
    match DURABLE.into_iter().find(is_asked) {
        Some(header) => Err(ProtocolError::DurableNotSupported { header }),
        None => Ok(()),
    }
}

/// Headers by which RabbitMQ, ActiveMQ (in both of its spellings), Artemis and Apollo are asked for durable
/// subscriptions.
const DURABLE: [&str; 5] =
    ["durable", "activemq.subscriptionName", "activemq.subcriptionName", "durable-subscription-name", "persistent"];

/// Where a subscription starts.
const FROM_SEQUENCE: &str = "from-sequence";

/// A sequence, or the id of an event: the sequence, a dash and the index of the event within the sequence.
fn replay_start(value: &str) -> Result<ReplayStart, ProtocolError> {
    let read = match value.trim().split_once('-') {
        Some((sequence, place)) => digits(sequence).zip(digits(place).map(Some)),
        None => digits(value.trim()).map(|sequence| (sequence, None)),
    };
    read.map(|(sequence, place)| ReplayStart { sequence, index: place }).ok_or(ProtocolError::BadFromSequence)
}

/// Without a sign, which Rust's number parser would accept.
fn digits<T: FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// `/topic/a?consumer.retroactive=true`, as in ActiveMQ.
fn split_options(destination: &str) -> (&str, &str) {
    destination.split_once('?').unwrap_or((destination, ""))
}

fn consumer_option<'a>(frame: &'a StompFrame, options: &'a str, name: &str) -> Option<&'a str> {
    let of_header = |(key, value): (&str, &'a str)| (key.strip_prefix("activemq.") == Some(name)).then_some(value);
    let of_destination = |option: &'a str| {
        let (key, value) = option.split_once('=')?;
        (key.strip_prefix("consumer.") == Some(name)).then_some(value)
    };
    frame.headers.iter().find_map(of_header).or_else(|| options.split('&').find_map(of_destination))
}

fn patterns(joined: &str) -> Result<Arc<[DestinationPattern]>, ProtocolError> {
    let patterns: Vec<DestinationPattern> = joined
        .split(',')
        .take(JOINED_DESTINATIONS_MAX + 1)
        .map(DestinationPattern::parse_from_client)
        .collect::<Result<_, _>>()?;
    if patterns.len() > JOINED_DESTINATIONS_MAX {
        return Err(ProtocolError::TooManyJoined { limit: JOINED_DESTINATIONS_MAX });
    }
    if patterns.iter().any(|pattern| pattern.kind() == DestinationKind::Queue && pattern.has_wildcard()) {
        return Err(ProtocolError::WildcardQueue);
    }
    Ok(patterns.into())
}

/// An unknown mode is auto, as in ActiveMQ.
fn mode(frame: &StompFrame) -> AckMode {
    match frame.headers.get("ack") {
        Some("client") => AckMode::Client,
        Some("client-individual") => AckMode::ClientIndividual,
        _ => AckMode::Auto,
    }
}

/// Zero would be a consumer that never receives anything; it gets one message at a time. A negative value or one that
/// is not a number is ignored, as in ActiveMQ, whose options are never an error.
fn prefetch(value: &str) -> usize {
    value.trim().parse().map_or(PREFETCH_MAX, |wanted: usize| wanted.clamp(1, PREFETCH_MAX))
}

fn is_true(value: &str) -> bool {
    value.trim().eq_ignore_ascii_case("true")
}

fn name(frame: &StompFrame, version: StompVersion) -> Result<SubscriptionName, ProtocolError> {
    match (optional_header(frame, "id"), optional_header(frame, "destination")) {
        (Some(id), _) => Ok(SubscriptionName::Id(id.to_owned())),
        (None, Some(destination)) if version == StompVersion::V10 => {
            Ok(SubscriptionName::Destination(destination.to_owned()))
        }
        _ => Err(ProtocolError::Missing { command: frame.command, header: "id" }),
    }
}

fn acknowledged(frame: &StompFrame, version: StompVersion) -> Result<AckTarget, ProtocolError> {
    if version == StompVersion::V12 {
        return required_header(frame, "id").map(AckTarget::Delivery);
    }
    let id = required_header(frame, "message-id")?;
    let subscription = optional_header(frame, "subscription").map(str::to_owned);
    if version == StompVersion::V11 && subscription.is_none() {
        return Err(ProtocolError::Missing { command: frame.command, header: "subscription" });
    }
    Ok(AckTarget::Message { id, subscription })
}

fn transaction(frame: &StompFrame) -> Option<String> {
    optional_header(frame, "transaction").map(str::to_owned)
}

fn required_header(frame: &StompFrame, header: &'static str) -> Result<String, ProtocolError> {
    optional_header(frame, header).map(str::to_owned).ok_or(ProtocolError::Missing { command: frame.command, header })
}

fn optional_header<'a>(frame: &'a StompFrame, header: &str) -> Option<&'a str> {
    frame.headers.get(header).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(headers: &[(&str, &str)]) -> Result<SubscribeRequest, ProtocolError> {
        let mut frame = StompFrame::new(StompCommand::Subscribe);
        frame.headers = headers.iter().copied().collect();
        match ClientRequest::parse(frame, StompVersion::V12)? {
            ClientRequest::Subscribe(wanted) => Ok(wanted),
            other => panic!("{other:?}"),
        }
    }

    fn plain() -> SubscribeRequest {
        SubscribeRequest {
            name: SubscriptionName::Id("1".to_owned()),
            destination: "/topic/tick.*".to_owned(),
            patterns: [DestinationPattern::parse("/topic/tick.*").unwrap()].into(),
            mode: AckMode::Auto,
            prefetch: PREFETCH_MAX,
            no_local: false,
            snapshot: false,
            after: None,
        }
    }

    #[test]
    fn known_options_are_honoured_and_others_accepted() {
        let ticks = ("destination", "/topic/tick.*");
        let id = ("id", "1");
        assert_eq!(wanted(&[id, ticks, ("ack", "whenever")]), Ok(plain()));
        let options = [id, ticks, ("activemq.noLocal", "true"), ("activemq.prefetchSize", "5"), ("activemq.x", "?")];
        assert_eq!(wanted(&options), Ok(SubscribeRequest { no_local: true, prefetch: 5, ..plain() }));
        for snapshot in [("snapshot", "true"), ("activemq.retroactive", "TRUE")] {
            assert_eq!(wanted(&[id, ticks, snapshot]), Ok(SubscribeRequest { snapshot: true, ..plain() }));
        }
        let inline = "/topic/tick.*?consumer.prefetchSize=7&consumer.retroactive=true&consumer.x=1";
        let expected = SubscribeRequest { destination: inline.to_owned(), snapshot: true, prefetch: 7, ..plain() };
        assert_eq!(wanted(&[id, ("destination", inline)]), Ok(expected));
    }

    #[test]
    fn a_subscription_may_begin_in_the_past() {
        let from = |value| wanted(&[("id", "1"), ("destination", "/topic/tick.*"), ("from-sequence", value)]);
        let after =
            |sequence, place| Ok(SubscribeRequest { after: Some(ReplayStart { sequence, index: place }), ..plain() });
        assert_eq!(from("0"), after(0, None));
        assert_eq!(from(" 4711 "), after(4711, None));
        assert_eq!(from("4711-2"), after(4711, Some(2)));
        for nonsense in ["", "-", "1-", "-1", "+1", "1-2-3", "latest", "99999999999999999999"] {
            assert_eq!(from(nonsense), Err(ProtocolError::BadFromSequence), "{nonsense:?}");
        }
        let both = [("id", "1"), ("destination", "/topic/a"), ("from-sequence", "1"), ("snapshot", "true")];
        assert_eq!(wanted(&both), Err(ProtocolError::SnapshotAndReplay));
    }

    #[test]
    fn what_asks_for_durability_is_refused_and_not_forgotten() {
        let with =
            |header: &'static str, value| wanted(&[("id", "1"), ("destination", "/topic/tick.*"), (header, value)]);
        for header in DURABLE {
            assert_eq!(with(header, "true"), Err(ProtocolError::DurableNotSupported { header }));
        }
        assert_eq!(with("durable", "false"), Ok(plain()));
        assert_eq!(with("client-id", "desk-1"), Ok(plain()));
        assert_eq!(with("selector", "price > 3"), Err(ProtocolError::SelectorNotSupported));
        let inline = wanted(&[("id", "1"), ("destination", "/topic/tick.*?consumer.selector=a")]);
        assert_eq!(inline, Err(ProtocolError::SelectorNotSupported));
    }

    #[test]
    fn prefetch_is_at_least_one_and_bounded() {
        let with = |size| wanted(&[("id", "1"), ("destination", "/topic/a"), ("activemq.prefetchSize", size)]);
        assert_eq!(with("0").unwrap().prefetch, 1);
        assert_eq!(with("99999999").unwrap().prefetch, PREFETCH_MAX);
        for nonsense in ["many", "-1", "", "99999999999999999999999"] {
            assert_eq!(with(nonsense).unwrap().prefetch, PREFETCH_MAX, "{nonsense:?}");
        }
        let as_rabbitmq = wanted(&[("id", "1"), ("destination", "/topic/a"), ("prefetch-count", "7")]);
        assert_eq!(as_rabbitmq.unwrap().prefetch, 7);
    }

    #[test]
    fn a_comma_joins_destinations() {
        let joined = wanted(&[("id", "1"), ("destination", "/topic/a,/queue/b")]).unwrap();
        let texts: Vec<&str> = joined.patterns.iter().map(DestinationPattern::text).collect();
        assert_eq!(texts, ["/topic/a", "/queue/b"]);
        let queues = wanted(&[("id", "1"), ("destination", "/queue/b.*")]);
        assert_eq!(queues, Err(ProtocolError::WildcardQueue));
        let many = vec!["/topic/a"; JOINED_DESTINATIONS_MAX + 1].join(",");
        let limit = JOINED_DESTINATIONS_MAX;
        assert_eq!(wanted(&[("id", "1"), ("destination", &many)]), Err(ProtocolError::TooManyJoined { limit }));
    }
}
