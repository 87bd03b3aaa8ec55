//! Echo application for acceptance tests: sends back what it receives.

use crate::codec::{FixMessage, OutgoingMessage};
use crate::dictionary::Dictionary;
use crate::reject::BusinessRejectReason;
use crate::session_engine::{Application, LogonDecision, LogonTicket, SessionSender};
use crate::settings::{ConnectionType, FixCredentials, SessionSettings};
use crate::tag::{self, Tag};
use std::collections::BTreeSet;

/// ClOrdIDs that are kept for PossResend; then all are dropped.
pub const ECHO_ORDERS_MAX: usize = 100_000;

/// Echoes orders, security definitions and e-mails; any other message type is rejected as not supported.
#[derive(Debug, Default)]
pub struct EchoApplication {
    /// The credentials that a Logon must have.
    expected: Option<FixCredentials>,
    seen: BTreeSet<Vec<u8>>,
    answer: OutgoingMessage,
}

impl EchoApplication {
    /// Accepts the credentials of the session's settings.
    pub fn for_settings(settings: &SessionSettings) -> Self {
        let expected = match &settings.role {
            ConnectionType::Acceptor { credentials, .. } => credentials.clone(),
            ConnectionType::Initiator { .. } => None,
        };
        Self { expected, ..Self::default() }
    }

    /// An order that may be a repetition is echoed only if it is none.
    fn is_repetition(&mut self, message: &FixMessage<'_>) -> bool {
        let Some(id) = message.get(tag::CL_ORD_ID).filter(|_| message.msg_type() == b"D") else { return false };
        if self.seen.contains(id) {
            return message.flag(tag::POSS_RESEND);
        }
        if self.seen.len() >= ECHO_ORDERS_MAX {
            self.seen.clear();
        }
        self.seen.insert(id.to_vec());
        false
    }

    fn echo(&mut self, message: &FixMessage<'_>, dictionary: Option<&Dictionary>) {
        self.answer.begin(message.msg_type());
        for field in message.fields().filter(|field| is_copied(field.tag)) {
            self.answer.field(field.tag, field.value);
        }
        match dictionary {
            Some(dictionary) => dictionary.copy_body(message, &mut self.answer),
            None => message.copy_body_verbatim(&mut self.answer),
        }
    }
}

/// PossResend, sub-ids and routing of the header are echoed; hops are a group, and the way back has its own.
fn is_copied(tag: Tag) -> bool {
    tag::is_header(tag) && !tag::is_per_transmission(tag) && tag != tag::NO_HOPS
}

impl Application for EchoApplication {
    fn on_logon(&mut self, logon: &FixMessage<'_>, _ticket: LogonTicket) -> LogonDecision {
        let shows = |tag, wanted: &str| logon.get(tag) == Some(wanted.as_bytes());
        let is_known = self
            .expected
            .as_ref()
            .is_none_or(|expected| shows(tag::USERNAME, &expected.username) & shows(tag::PASSWORD, &expected.password));
        if is_known { LogonDecision::Accept } else { LogonDecision::Reject("wrong credentials".to_owned()) }
    }

    fn on_message(&mut self, message: &FixMessage<'_>, line: &mut dyn SessionSender) {
        match message.msg_type() {
            b"D" | b"d" | b"C" if self.is_repetition(message) => return,
            b"D" | b"d" | b"C" => self.echo(message, line.dictionary()),
            _ => BusinessRejectReason::UnsupportedMessageType.reject(message, None, &mut self.answer),
        }
        // A peer that has disconnected meanwhile needs no echo.
        let _ = line.send(&self.answer);
    }

    fn on_logged_out(&mut self) {
        self.seen.clear();
    }
}
