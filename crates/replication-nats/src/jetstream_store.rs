//! JetStream as an engine of the replicated log: each call is one request.

use std::time::Duration;

use base64ct::{Base64, Encoding};
use serde_json::{Value, json};
use storage::replication::{LoadReply, LogPosition, LogStore, MessageId, StoreReply};

use crate::copy_reader::{CopyReader, direct_get};
use crate::durability;
use crate::member_link::{MemberLink, NewestMessage, announcement, announcement_subject};
use crate::member_requests::MemberRequests;
use crate::member_status::StatusLink;
use crate::nats_client::{NatsClient, RequestFailure};
use crate::read_ahead::{BYTES_MAX, ENTRIES_MAX, ReadAhead};
use crate::server_watch::ServerWatch;
use crate::settings::{JetStreamSettings, LogOpenError};
use crate::stream;

const EXPECTED_STREAM: &str = "Nats-Expected-Stream";
const EXPECTED_LAST_SEQUENCE: &str = "Nats-Expected-Last-Sequence";
const MESSAGE_ID: &str = "Nats-Msg-Id";

/// For how long a leader waits for a trim. Its outcome does not matter: the log is trimmed now or later.
const TRIM_WAIT: Duration = Duration::from_millis(500);

const INSUFFICIENT_RESOURCES: u64 = 10023;
const MESSAGE_NOT_FOUND: u64 = 10037;
const INSUFFICIENT_STORAGE: u64 = 10047;
const MESSAGE_TOO_LARGE: u64 = 10054;
const OTHER_STREAM: u64 = 10060;
const WRONG_LAST_SEQUENCE: u64 = 10071;
const DUPLICATE_IN_PROCESS: u64 = 10158;
/// A condition of an entry that is being stored stands in the way; it does not say which entry.
const CONDITION_IN_PROCESS: u64 = 10164;

/// One client of one stream.
#[derive(Debug)]
pub struct JetStreamStore {
    client: NatsClient,
    settings: JetStreamSettings,
    /// Monitoring addresses that did not say at the start whether their server syncs.
    silent: Vec<String>,
    /// Tells followers of each entry that was accepted, so that they need not ask for it again and again.
    announcements: NewestMessage,
    ahead: ReadAhead,
    copies: CopyReader,
}

impl JetStreamStore {
    /// Connects, checks that the servers sync every write, and finds or makes the stream. Settings of servers and stream that would
    /// break a promise are refused by name. A minority of the servers may be away.
    pub fn open(settings: JetStreamSettings) -> Result<Self, LogOpenError> {
        settings.check()?;
        let checked = durability::check(&settings, &[])?;
        let client = NatsClient::connect(&settings)?;
        stream::open(&client, &settings, &checked)?;
        let announcements = client.newest_message(announcement_subject(&settings.stream));
        let copies = CopyReader::new(settings.clone());
        Ok(Self { client, settings, silent: checked.silent, announcements, ahead: ReadAhead::default(), copies })
    }

    /// Messages between the members, on the connection of this client: they end with it. `on_report` is called on its thread.
    pub fn link(&self, on_report: impl Fn(&[u8]) + Send + 'static) -> Result<MemberLink, LogOpenError> {
        self.client.link(&self.settings, on_report)
    }

    /// What members say of themselves, on the connection of this client: it ends with it. `on_status` is called on its thread.
    pub fn status_link(&self, on_status: impl Fn(&[u8]) + Send + 'static) -> Result<StatusLink, LogOpenError> {
        self.client.status_link(&self.settings, on_status)
    }

    /// Requests between the members, on the connection of this client: they end with it.
    pub fn member_requests(&self) -> MemberRequests {
        self.client.member_requests(&self.settings.stream)
    }

    /// Asks the servers once more, and again and again, whether they sync every write; on a connection of its own, because this one waits for
    /// one answer at a time.
    pub fn server_watch(&self) -> ServerWatch {
        ServerWatch::new(self.settings.clone(), self.silent.clone())
    }

    fn call(&self, verb: &str, body: &Value) -> Result<Value, String> {
        self.call_within(verb, body, self.settings.answer_wait)
    }

    fn call_within(&self, verb: &str, body: &Value, wait: Duration) -> Result<Value, String> {
        let subject = format!("$JS.API.STREAM.{verb}.{}", self.settings.stream);
        let answer = self.client.request(&subject, &[], body.to_string().into_bytes(), wait);
        answer.map_err(|failure| match failure {
            RequestFailure::NotSent { reason } | RequestFailure::Unanswered { reason } => reason,
        })
    }

    fn announced(&self, reply: StoreReply) -> StoreReply {
        if let StoreReply::Stored { position } | StoreReply::Duplicate { position } = &reply {
            self.announcements.send(announcement(*position));
        }
        reply
    }

    /// Asks for many entries at once, where a reader is behind. A server that holds the stream answers; where it has none, or cannot read
    /// one, the stream's leader is asked for that one as always.
    fn read_ahead(&mut self, position: LogPosition) -> Option<Vec<u8>> {
        if !self.ahead.is_due(position) {
            return None;
        }
        let body = json!({ "seq": position.0, "batch": ENTRIES_MAX, "max_bytes": BYTES_MAX }).to_string().into_bytes();
        let subject = direct_get(&self.settings.stream);
        let messages = self.client.exchange_many(&subject, body, ENTRIES_MAX, self.settings.answer_wait);
        self.ahead.fill(position, messages);
        self.ahead.take(position)
    }

    /// What stands behind a position where nothing was found. It only names the fault: nothing is decided by it.
    fn absent(&self, position: LogPosition) -> Result<LoadReply, String> {
        let body = json!({ "seq": position.0, "next_by_subj": self.settings.stream });
        let found = self.call("MSG.GET", &body)?;
        let next = found["message"]["seq"].as_u64();
        // It was appended between the two questions.
        if next == Some(position.0) {
            return entry_of(&found["message"]);
        }
        let state = self.call("INFO", &json!({}))?;
        let [first, last] = ["first_seq", "last_seq"].map(|name| state["state"][name].as_u64().unwrap_or(0));
        match next {
            Some(_) if first > position.0 => Ok(LoadReply::Trimmed { first: LogPosition(first) }),
            Some(next) => Ok(LoadReply::Missing { next: LogPosition(next) }),
            None if last >= position.0 => self.appended_meanwhile(position, last),
            None => end_or_error(&found),
        }
    }

    /// A position that the stream has by now: a leader appends while a follower asks for the end, so it is asked for once more. A
    /// server says "not found" of a message that it cannot read, too.
    fn appended_meanwhile(&self, position: LogPosition, last: u64) -> Result<LoadReply, String> {
        let found = self.call("MSG.GET", &json!({ "seq": position.0 }))?;
        match found["message"]["seq"].as_u64() {
            Some(sequence) if sequence == position.0 => entry_of(&found["message"]),
            _ => Ok(LoadReply::Unreadable {
                reason: format!("the stream goes up to {last}, and {position} cannot be read"),
            }),
        }
    }

    fn load_entry(&self, position: LogPosition) -> Result<LoadReply, String> {
        let found = self.call("MSG.GET", &json!({ "seq": position.0 }))?;
        if found["error"]["err_code"].as_u64() == Some(MESSAGE_NOT_FOUND) {
            return self.absent(position);
        }
        let message = &found["message"];
        if message["seq"].as_u64() != Some(position.0) {
            return end_or_error(&found);
        }
        entry_of(message)
    }
}

fn entry_of(message: &Value) -> Result<LoadReply, String> {
    let data = message["data"].as_str().unwrap_or_default();
    Base64::decode_vec(data).map(LoadReply::Entry).map_err(|error| format!("the message cannot be decoded: {error}"))
}

fn end_or_error(answer: &Value) -> Result<LoadReply, String> {
    match answer["error"]["err_code"].as_u64() {
        Some(MESSAGE_NOT_FOUND) => Ok(LoadReply::End),
        _ => Err(format!("unexpected answer: {}", answer["error"])),
    }
}

/// What an answer to an append says. Where it is not certain that nothing was stored, the outcome stays unknown.
fn store_reply(answer: &Value) -> StoreReply {
    let error = &answer["error"];
    let Some(code) = error["err_code"].as_u64() else {
        return match answer["seq"].as_u64().map(LogPosition).filter(|_| error.is_null()) {
            Some(position) if answer["duplicate"] == true => StoreReply::Duplicate { position },
            Some(position) => StoreReply::Stored { position },
            None => StoreReply::NoAnswer,
        };
    };
    let description = error["description"].as_str().unwrap_or_default();
    match code {
        WRONG_LAST_SEQUENCE => {
            let end = description.rsplit(' ').next().and_then(|end| end.parse().ok()).map(LogPosition);
            StoreReply::OtherEnd { end }
        }
        DUPLICATE_IN_PROCESS | CONDITION_IN_PROCESS => StoreReply::InProgress,
        INSUFFICIENT_RESOURCES | INSUFFICIENT_STORAGE | MESSAGE_TOO_LARGE | OTHER_STREAM => {
            StoreReply::Rejected { reason: format!("{description} ({code})") }
        }
        _ => {
            tracing::warn!(code, description, "JetStream answered an append with an error; its outcome is unknown");
            StoreReply::NoAnswer
        }
    }
}

impl LogStore for JetStreamStore {
    fn store(&mut self, expected: LogPosition, id: &MessageId, entry: &[u8]) -> StoreReply {
        let stream = &self.settings.stream;
        let headers = [
            (EXPECTED_STREAM, stream.clone()),
            (EXPECTED_LAST_SEQUENCE, expected.to_string()),
            (MESSAGE_ID, id.as_str().to_owned()),
        ];
        match self.client.request(stream, &headers, entry.to_vec(), self.settings.answer_wait) {
            Ok(answer) => self.announced(store_reply(&answer)),
            Err(RequestFailure::NotSent { reason }) => StoreReply::Rejected { reason },
            Err(RequestFailure::Unanswered { reason }) => {
                tracing::warn!(reason, %expected, "no answer to an append; its outcome is unknown");
                StoreReply::NoAnswer
            }
        }
    }

    fn load(&mut self, position: LogPosition) -> LoadReply {
        if let Some(entry) = self.ahead.take(position).or_else(|| self.read_ahead(position)) {
            return LoadReply::Entry(entry);
        }
        let reply = self.load_entry(position).unwrap_or_else(|reason| LoadReply::Unavailable { reason });
        match &reply {
            LoadReply::Entry(_) => self.ahead.on_read(position),
            _ => self.ahead.on_end(),
        }
        reply
    }

    fn load_copy(&mut self, position: LogPosition) -> Option<Vec<u8>> {
        self.copies.load(position)
    }

    /// What does not answer soon is tried again later: frames wait meanwhile.
    fn discard(&mut self, below: LogPosition) -> Result<(), String> {
        let answer = self.call_within("PURGE", &json!({ "seq": below.0 }), TRIM_WAIT)?;
        match answer["success"].as_bool() {
            Some(true) => Ok(()),
            _ => Err(format!("the stream was not trimmed: {}", answer["error"])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(text: &str) -> StoreReply {
        store_reply(&serde_json::from_str(text).unwrap())
    }

    fn error(code: u64, description: &str) -> StoreReply {
        reply(&json!({ "error": { "code": 400, "err_code": code, "description": description }, "seq": 0 }).to_string())
    }

    #[test]
    fn answers_of_jetstream_are_outcomes() {
        assert_eq!(reply(r#"{"stream":"S","seq":7}"#), StoreReply::Stored { position: LogPosition(7) });
        let duplicate = r#"{"stream":"S","seq":7,"duplicate":true}"#;
        assert_eq!(reply(duplicate), StoreReply::Duplicate { position: LogPosition(7) });
        assert_eq!(error(10071, "wrong last sequence: 9"), StoreReply::OtherEnd { end: Some(LogPosition(9)) });
        assert_eq!(error(10071, "wrong last sequence"), StoreReply::OtherEnd { end: None });
        assert_eq!(error(10158, "duplicate message id is in process"), StoreReply::InProgress);
        assert_eq!(error(10164, "wrong last sequence"), StoreReply::InProgress);
        assert!(matches!(error(10054, "message size exceeds maximum allowed"), StoreReply::Rejected { .. }));
    }

    #[test]
    fn an_error_that_is_not_known_leaves_the_outcome_open() {
        assert_eq!(error(10008, "JetStream system temporarily unavailable"), StoreReply::NoAnswer);
        assert_eq!(error(10077, "store failed"), StoreReply::NoAnswer);
        assert_eq!(reply("{}"), StoreReply::NoAnswer);
        assert_eq!(reply(r#"{"error":{"code":503},"stream":"S","seq":0}"#), StoreReply::NoAnswer);
    }
}
