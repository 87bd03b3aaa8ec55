//! The order session of a venue: a task that connects and logs on; what it receives waits in a channel for the adapter.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, unbounded};
use fix::tag::Tag;
use fix::{
    Application, CancelOnDisconnect, CheckRules, ConnectionType, DictionaryChoice, Direction, DisconnectReason,
    FixCredentials, FixDecoder, FixMessage, FixSession, GatewaySettings, LogonDecision, LogonTicket, OutgoingMessage,
    SOH, SeqNum, SessionEngine, SessionId, SessionSender, SessionSettings, masked_with,
};
use fix_net::{SessionHandle, TlsWrapper, session_queue};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::dialect::{Dialect, SessionRole};
use crate::requests::RequestKind;
use crate::sessions::logon_fields::{DEFAULT_APPL_VER_ID, LogonFields, LogonSigner};
use crate::sessions::number_store::SharedNumbers;
use crate::sessions::session_runtime::SessionRuntime;

/// Messages of the venue that wait for the engine; beyond it nothing more is read.
pub(crate) const INBOUND_MESSAGES_MAX: usize = 8_192;
/// How long the end of a session waits for the venue's answer to our Logout.
const LOGOUT_WAIT: Duration = Duration::from_secs(3);
/// The task does not connect again by itself: the adapter begins a new session.
const NEVER_SECONDS: u32 = 86_400;
/// How far the venue's clock may be off.
const MAX_LATENCY_SECONDS: u64 = 120;

/// From the session's task to the adapter, in the order in which it happened.
pub(crate) enum Inbound {
    LoggedOn,
    /// A message for the application, or a Reject (3) of one of ours.
    Message(Vec<u8>),
    /// The venue goes on with a later number: what it sent in between since the log-on does not come.
    Skipped,
    /// The venue has begun its numbers anew with this log-on: what it sent before and we lack does not come.
    Reset {
        expected: SeqNum,
        received: SeqNum,
    },
    /// A request left with that number.
    Sent {
        number: SeqNum,
        kind: RequestKind,
        id: String,
    },
    /// A request that was queued did not leave.
    Unsent {
        kind: RequestKind,
        id: String,
    },
    Lost(String),
}

/// Where a session connects to, and as whom.
#[derive(Clone)]
pub(crate) struct SessionPlan {
    pub(crate) sender: String,
    pub(crate) target: String,
    pub(crate) hosts: Vec<String>,
    pub(crate) port: u16,
    pub(crate) credentials: Option<FixCredentials>,
    /// Where the dialect signs.
    pub(crate) signer: Option<Arc<LogonSigner>>,
    pub(crate) tls: Option<TlsWrapper>,
    pub(crate) role: SessionRole,
}

pub(crate) struct VenueSession {
    handle: SessionHandle,
    inbound: Receiver<Inbound>,
    is_paused: Arc<AtomicBool>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl VenueSession {
    pub(crate) fn start(
        runtime: &SessionRuntime,
        dialect: &Dialect,
        plan: &SessionPlan,
        attempt: usize,
        numbers: SharedNumbers,
        wake: Sender<()>,
    ) -> Self {
        let (sender, inbound) = unbounded();
        let is_paused = Arc::new(AtomicBool::new(false));
        let application = VenueApplication {
            sender,
            wake,
            is_paused: is_paused.clone(),
            decoder: FixDecoder::new(),
            numbers: numbers.clone(),
            logon_number: None,
            appl_ver_id: dialect.version.appl_ver_id(),
            secret_tags: dialect.logon.secret_tags(),
        };
        let session = FixSession::new(Arc::new(settings(dialect, plan, attempt)), None, numbers);
        let session = session.with_logon_writer(Arc::new(LogonFields::new(dialect, plan.role, plan.signer.clone())));
        let header = dialect.session.header.iter().filter(|field| field.sessions.contains(&plan.role));
        let session = session.with_header(header.map(|field| (field.tag, field.value.clone())).collect());
        let (handle, queue) = session_queue();
        let (stop, stopped) = watch::channel(false);
        let engine = SessionEngine::new(session, application);
        let task = runtime.spawn(engine, queue, plan.tls.clone(), stopped);
        Self { handle, inbound, is_paused, stop, task }
    }

    pub(crate) fn inbound(&self) -> &Receiver<Inbound> {
        &self.inbound
    }

    /// False where the queue is full.
    pub(crate) fn send(&self, message: OutgoingMessage) -> bool {
        self.handle.send(message).is_ok()
    }

    /// The adapter has taken everything: the session may read again.
    pub(crate) fn resume(&self) {
        if self.is_paused.compare_exchange(true, false, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            // A session that has ended needs no room.
            let _ = self.handle.wake();
        }
    }

    /// Logs out; what the venue still sent is returned.
    pub(crate) fn end(self, runtime: &SessionRuntime) -> Vec<Inbound> {
        self.stop.send_replace(true);
        runtime.finish(self.task, LOGOUT_WAIT);
        self.inbound.try_iter().collect()
    }
}

fn settings(dialect: &Dialect, plan: &SessionPlan, attempt: usize) -> SessionSettings {
    let host = plan.hosts.get(attempt % plan.hosts.len().max(1)).cloned().unwrap_or_default();
    SessionSettings {
        id: SessionId {
            begin_string: dialect.version.begin_string().to_owned(),
            sender: sender(dialect, plan, attempt),
            target: plan.target.clone(),
        },
        role: ConnectionType::Initiator {
            host,
            port: plan.port,
            reconnect_seconds: NEVER_SECONDS,
            credentials: plan.credentials.clone(),
        },
        schedule: dialect.session.schedule.clone(),
        heartbeat_seconds: dialect.session.heartbeat_seconds,
        dictionary: DictionaryChoice::None,
        validate_incoming: false,
        check: CheckRules::default(),
        reset_on_logon: dialect.session.reset_on_logon,
        reset_on_logout: false,
        reset_on_disconnect: false,
        refresh_on_logon: false,
        max_latency_seconds: Some(MAX_LATENCY_SECONDS),
        check_comp_ids: true,
        logon_timeout_seconds: 10,
        logout_timeout_seconds: 2,
        resend_request_chunk: None,
        // A request that the venue missed is never sent again.
        persist_messages: false,
        send_next_expected: false,
        // A venue that has begun anew would otherwise refuse to be followed until its numbers have caught up.
        follows_reset: true,
        // What it sent while we were away can have been sent under the new numbers. Old prices are of no use.
        requests_after_reset: dialect.recovery.resend && plan.role != SessionRole::Prices,
        send_last_processed: false,
        fraction_digits: dialect.session.time_digits,
        test_request_id: "TEST".to_owned(),
        use_tls: plan.tls.is_some(),
        message_log: None,
        gateway: gateway_of_none(),
    }
}

/// Where there are several by turns, each has a number at its end.
fn sender(dialect: &Dialect, plan: &SessionPlan, attempt: usize) -> String {
    match dialect.session.sender_comp_ids {
        0 | 1 => plan.sender.clone(),
        many => format!("{}{}", plan.sender, attempt % many),
    }
}

/// An initiator has no gateway.
fn gateway_of_none() -> GatewaySettings {
    GatewaySettings {
        valid_order_types: Vec::new(),
        standard_exec_types: false,
        extended_messages: false,
        cancel_on_disconnect: CancelOnDisconnect::Off,
        cancel_on_disconnect_grace_seconds: 0,
        max_orders_per_second: None,
        ignore_user_defined_fields: false,
        max_cancels_per_second: None,
        pass_through: Vec::new(),
        drop_copy: None,
        market_data: None,
    }
}

struct VenueApplication {
    sender: Sender<Inbound>,
    wake: Sender<()>,
    /// The channel was full when it was looked at.
    is_paused: Arc<AtomicBool>,
    decoder: FixDecoder,
    numbers: SharedNumbers,
    /// Of the venue's Logon.
    logon_number: Option<SeqNum>,
    /// DefaultApplVerID (1137) of the dialect.
    appl_ver_id: Option<&'static str>,
    /// Fields of the dialect that the message log does not show.
    secret_tags: Vec<Tag>,
}

impl VenueApplication {
    fn note_logon(&mut self, frame: &[u8]) {
        let Ok(message) = self.decoder.decode(frame) else { return };
        match message.msg_type() {
            b"A" => {
                self.logon_number = message.number(34);
                let spoken = self.appl_ver_id.map(|_| message.text(DEFAULT_APPL_VER_ID));
                if let Some(spoken) = spoken.filter(|spoken| *spoken != self.appl_ver_id) {
                    let wanted = self.appl_ver_id;
                    tracing::warn!(
                        sender = message.text(56),
                        spoken,
                        wanted,
                        "the venue speaks another DefaultApplVerID (1137)"
                    );
                }
            }
            b"3" | b"5" => {
                let reason = message.text(58).unwrap_or("no reason is told");
                tracing::warn!(sender = message.text(56), reason, "the venue refuses the log-on");
            }
            _ => {}
        }
    }

    fn pass(&self, inbound: Inbound) {
        // An adapter that has gone needs nothing; a full waker wakes already.
        let _ = self.sender.send(inbound);
        let _ = self.wake.try_send(());
    }
}

/// A request that leaves. The frame is our own, so its fields are looked at as far as they are needed: type, number and client id.
fn request_of(frame: &[u8]) -> Option<Inbound> {
    let (mut kind, mut number) = (None, None);
    for field in frame.split(|byte| *byte == SOH) {
        let place = field.iter().position(|byte| *byte == b'=')?;
        let value = &field[place + 1..];
        match &field[..place] {
            b"35" => kind = Some(kind_of(value)?),
            b"34" => number = str::from_utf8(value).ok()?.parse().ok(),
            b"11" => {
                return Some(Inbound::Sent {
                    number: number?,
                    kind: kind?,
                    id: str::from_utf8(value).ok()?.to_owned(),
                });
            }
            _ => {}
        }
    }
    None
}

fn kind_of(msg_type: &[u8]) -> Option<RequestKind> {
    let kinds =
        [RequestKind::New, RequestKind::Cancel, RequestKind::Replace, RequestKind::Status, RequestKind::TradeCapture];
    kinds.into_iter().find(|kind| kind.msg_type().as_bytes() == msg_type)
}

impl Application for VenueApplication {
    /// An initiator is not asked.
    fn on_logon(&mut self, _: &FixMessage<'_>, _: LogonTicket) -> LogonDecision {
        LogonDecision::Accept
    }

    fn on_logged_on(&mut self, _: &mut dyn SessionSender) {
        self.pass(Inbound::LoggedOn);
    }

    fn on_message(&mut self, message: &FixMessage<'_>, _: &mut dyn SessionSender) {
        self.pass(Inbound::Message(message.bytes().to_vec()));
        self.numbers.note_passed();
    }

    fn on_session_reject(&mut self, reject: &FixMessage<'_>) {
        self.pass(Inbound::Message(reject.bytes().to_vec()));
    }

    /// What was missed before the log-on needs no word: every open order is asked about after it, and no book has begun.
    fn on_numbers_skipped(&mut self, next: SeqNum) {
        if self.logon_number.is_some_and(|logon| next > logon + 1) {
            self.pass(Inbound::Skipped);
        }
    }

    fn on_numbers_reset(&mut self, expected: SeqNum, received: SeqNum) {
        self.pass(Inbound::Reset { expected, received });
    }

    fn is_ready(&self) -> bool {
        let is_full = self.sender.len() >= INBOUND_MESSAGES_MAX;
        if is_full {
            self.is_paused.store(true, Ordering::SeqCst);
        }
        !is_full
    }

    fn on_unsent(&mut self, message: OutgoingMessage) {
        let id = message.fields_in_order().into_iter().find(|(tag, _)| *tag == 11).map(|(_, value)| value.to_vec());
        if let (Some(kind), Some(id)) = (kind_of(message.msg_type()), id) {
            self.pass(Inbound::Unsent { kind, id: String::from_utf8_lossy(&id).into_owned() });
        }
    }

    /// It was counted as sent before.
    fn on_unwritten(&mut self, frame: &[u8]) {
        if let Some(Inbound::Sent { kind, id, .. }) = request_of(frame) {
            self.pass(Inbound::Unsent { kind, id });
        }
    }

    fn on_disconnected(&mut self, reason: &DisconnectReason) {
        self.pass(Inbound::Lost(reason.to_string()));
    }

    fn on_frame(&mut self, direction: Direction, frame: &[u8]) {
        tracing::debug!(target: "fix-out", ?direction, frame = %masked_with(frame, &self.secret_tags), "message");
        if direction == Direction::In {
            // What came before it was handled to its end.
            self.numbers.note_passed();
            if self.logon_number.is_none() {
                self.note_logon(frame);
            }
            return;
        }
        if let Some(sent) = request_of(frame) {
            self.pass(sent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_leaves_is_known_by_its_type_number_and_client_id() {
        let sent = |fields: &str| match request_of(fields.replace('|', "\x01").as_bytes()) {
            Some(Inbound::Sent { number, kind, id }) => format!("{kind:?} {number} {id}"),
            _ => "nothing".to_owned(),
        };
        assert_eq!(sent("8=FIX.4.4|9=5|35=D|34=12|49=US|56=V|11=R7-1-0|58=11=x|10=000|"), "New 12 R7-1-0");
        assert_eq!(sent("8=FIX.4.4|9=5|35=F|34=13|49=US|56=V|1=DESK|11=R7-1-1|41=R7-1-0|10=000|"), "Cancel 13 R7-1-1");
        assert_eq!(sent("8=FIX.4.4|9=5|35=0|34=14|49=US|56=V|112=11=x|10=000|"), "nothing");
        assert_eq!(sent("8=FIX.4.4|9=5|35=AF|34=15|49=US|56=V|584=M1|10=000|"), "nothing");
    }
}
