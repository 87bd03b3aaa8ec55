//! The application of the client's session during a certification.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fix::{
    Application, Direction, DisconnectReason, FixCredentials, FixMessage, LogonDecision, LogonTicket, OutgoingMessage,
    SessionSender, tag,
};
use fix_net::SessionHandle;
use tokio::sync::watch as signal;

use super::counterparty::Counterparty;
use super::report::CertificationReport;
use super::skipping_store::SkippingStore;
use super::watch::{PlanAction, SessionWatch, WRONG_CREDENTIALS};

pub(super) struct CertifyApplication<T> {
    watch: Arc<Mutex<SessionWatch>>,
    counterparty: Counterparty,
    store: SkippingStore,
    /// What is to be sent behind a message that offers no way to send.
    handle: SessionHandle,
    ended: signal::Sender<bool>,
    /// What the Logon must have; none: anything is accepted.
    credentials: Option<FixCredentials>,
    tell: T,
}

/// The other end: what was seen.
pub(super) struct CertifyOutcome {
    watch: Arc<Mutex<SessionWatch>>,
    ended: signal::Receiver<bool>,
}

impl CertifyOutcome {
    /// Until the client has logged on and gone.
    pub(super) async fn wait(&self) {
        // A session whose task has ended has gone too.
        let _ = self.ended.clone().wait_for(|ended| *ended).await;
    }

    pub(super) fn finish(&self) -> CertificationReport {
        lock(&self.watch).finish()
    }
}

fn lock(watch: &Mutex<SessionWatch>) -> MutexGuard<'_, SessionWatch> {
    watch.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Fn(&str)> CertifyApplication<T> {
    pub(super) fn new(
        store: SkippingStore,
        handle: SessionHandle,
        credentials: Option<FixCredentials>,
        tell: T,
    ) -> (Self, CertifyOutcome) {
        let watch = Arc::new(Mutex::new(SessionWatch::default()));
        let (ended, has_ended) = signal::channel(false);
        let outcome = CertifyOutcome { watch: watch.clone(), ended: has_ended };
        (Self { watch, counterparty: Counterparty::default(), store, handle, ended, credentials, tell }, outcome)
    }

    /// Something happened: news are told, and what is to be sent is sent when the session is woken.
    fn observe(&self, happened: impl FnOnce(&mut SessionWatch)) {
        let mut watch = lock(&self.watch);
        happened(&mut watch);
        watch.news().iter().for_each(|line| (self.tell)(line));
        if watch.has_actions() {
            // A session that takes nothing more has ended.
            let _ = self.handle.wake();
        }
        if watch.has_ended() {
            self.ended.send_replace(true);
        }
    }

    fn act(&self, line: &mut dyn SessionSender) {
        loop {
            let Some(action) = lock(&self.watch).next_action() else { return };
            // What cannot be sent any more is a step without an answer.
            let _ = match action {
                PlanAction::SendTestRequest(id) => line.send_test_request(id),
                PlanAction::AskForAll => line.send(OutgoingMessage::new("2").number(7, 1).number(16, 0)),
                PlanAction::SkipNumber => {
                    match self.store.skip() {
                        Ok(number) => lock(&self.watch).on_skipped(number),
                        Err(error) => tracing::warn!(%error, "no number is left out"),
                    }
                    continue;
                }
            };
        }
    }
}

impl<T: Fn(&str)> Application for CertifyApplication<T> {
    fn on_logon(&mut self, logon: &FixMessage<'_>, _: LogonTicket) -> LogonDecision {
        let is_right = |expected: &FixCredentials| {
            logon.text(tag::USERNAME) == Some(&*expected.username)
                && logon.text(tag::PASSWORD) == Some(&*expected.password)
        };
        match self.credentials.as_ref().is_none_or(is_right) {
            true => LogonDecision::Accept,
            false => {
                self.observe(SessionWatch::on_wrong_credentials);
                LogonDecision::Reject(WRONG_CREDENTIALS.to_owned())
            }
        }
    }

    fn on_logged_on(&mut self, line: &mut dyn SessionSender) {
        self.observe(SessionWatch::on_logged_on);
        self.act(line);
    }

    fn on_message(&mut self, message: &FixMessage<'_>, line: &mut dyn SessionSender) {
        let (answers, deed) = self.counterparty.on_request(message, line.now());
        for answer in &answers {
            // A client that has gone needs no answer.
            let _ = line.send(answer);
        }
        self.observe(|watch| watch.on_deed(deed));
        self.act(line);
    }

    fn on_test_response(&mut self, test_req_id: &[u8]) {
        self.observe(|watch| watch.on_test_response(test_req_id));
    }

    fn on_wake(&mut self, line: &mut dyn SessionSender) {
        self.act(line);
    }

    fn on_disconnected(&mut self, reason: &DisconnectReason) {
        self.observe(|watch| watch.on_disconnected(reason));
    }

    fn on_frame(&mut self, direction: Direction, frame: &[u8]) {
        self.observe(|watch| watch.on_frame(direction, frame));
    }
}
