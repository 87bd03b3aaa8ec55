//! What the client does on its session, frame by frame: decides about the steps of the plan, and what we do next.

use std::collections::{BTreeSet, VecDeque};

use fix::{Direction, DisconnectReason, FixDecoder, FixMessage, SeqNum};

use super::counterparty::ClientDeed;
use super::report::{CertificationReport, CertificationStep, CertificationVerdict};

/// TestReqIDs (112) of the plan: the answer says that the client goes on behind what was sent before.
const HELLO: &str = "HELLO";
const BEHIND_THE_GAP: &str = "BEHIND-THE-GAP";
const GOES_ON: &str = "GOES-ON";
const FILLED: &str = "FILLED";
const REJECTED: &str = "REJECTED";

/// Why a Logon is refused.
pub(super) const WRONG_CREDENTIALS: &str = "Username (553) or Password (554) is wrong";

/// What we do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlanAction {
    SendTestRequest(&'static str),
    /// The next message leaves out a number.
    SkipNumber,
    /// A Resend Request (2) for everything.
    AskForAll,
}

#[derive(Debug, Default)]
pub(super) struct SessionWatch {
    report: CertificationReport,
    /// Steps of ours that the client has not answered.
    waiting: BTreeSet<CertificationStep>,
    skipped: Option<SeqNum>,
    is_logged_on: bool,
    has_ended: bool,
    has_requests: bool,
    actions: VecDeque<PlanAction>,
    /// Steps with a new verdict.
    news: Vec<CertificationStep>,
}

impl SessionWatch {
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    pub(super) fn has_actions(&self) -> bool {
        !self.actions.is_empty()
    }

    pub(super) fn next_action(&mut self) -> Option<PlanAction> {
        self.actions.pop_front()
    }

    /// Lines for the operator.
    pub(super) fn news(&mut self) -> Vec<String> {
        let news = std::mem::take(&mut self.news);
        news.into_iter().map(|step| self.report.line(step)).collect()
    }

    pub(super) fn on_wrong_credentials(&mut self) {
        self.fail(CertificationStep::Logon, WRONG_CREDENTIALS.to_owned());
    }

    pub(super) fn on_logged_on(&mut self) {
        self.is_logged_on = true;
        self.pass(CertificationStep::Logon);
        self.begin(CertificationStep::TestRequest, &[PlanAction::SendTestRequest(HELLO)]);
    }

    pub(super) fn on_test_response(&mut self, id: &[u8]) {
        let is = |wanted: &str| id == wanted.as_bytes();
        if is(HELLO) {
            self.pass(CertificationStep::TestRequest);
            let test = PlanAction::SendTestRequest(BEHIND_THE_GAP);
            self.begin(CertificationStep::Gap, &[PlanAction::SkipNumber, test]);
        }
        let steps = [
            (GOES_ON, CertificationStep::SequenceReset),
            (FILLED, CertificationStep::Fill),
            (REJECTED, CertificationStep::Reject),
        ];
        if let Some((_, step)) = steps.into_iter().find(|(wanted, _)| is(wanted)) {
            self.pass(step);
        }
    }

    /// This number was left out.
    pub(super) fn on_skipped(&mut self, number: SeqNum) {
        self.skipped = Some(number);
    }

    pub(super) fn on_frame(&mut self, direction: Direction, frame: &[u8]) {
        let mut decoder = FixDecoder::new();
        match (direction, decoder.decode(frame)) {
            (Direction::In, Ok(message)) => self.on_received(&message),
            (Direction::Out, Ok(message)) => self.on_sent(&message),
            (_, Err(garbled)) => self.fail(CertificationStep::ValidMessages, format!("garbled: {garbled}")),
        }
    }

    fn on_received(&mut self, message: &FixMessage<'_>) {
        if message.flag(fix::tag::POSS_DUP_FLAG) {
            self.on_sent_again(message);
        }
        match message.msg_type() {
            b"0" if message.get(fix::tag::TEST_REQ_ID).is_none() => self.pass(CertificationStep::Heartbeat),
            b"2" => self.on_resend_request(message),
            b"3" | b"j" => {
                let text = message.text(fix::tag::TEXT).unwrap_or("no text");
                let number = message.number(fix::tag::REF_SEQ_NUM).unwrap_or_default();
                self.fail(CertificationStep::ValidMessages, format!("it rejects our message {number}: {text}"));
            }
            b"4" if message.flag(fix::tag::GAP_FILL_FLAG) => self.on_resent(),
            _ => {}
        }
    }

    fn on_sent_again(&mut self, message: &FixMessage<'_>) {
        self.on_resent();
        if message.msg_type() == b"4" {
            return;
        }
        match message.time(fix::tag::ORIG_SENDING_TIME) {
            Some(_) => self.pass(CertificationStep::PossDup),
            None => {
                let kind = String::from_utf8_lossy(message.msg_type()).into_owned();
                let reason = format!("a message {kind} that is sent again has no OrigSendingTime (122)");
                self.fail(CertificationStep::PossDup, reason);
            }
        }
    }

    fn on_resent(&mut self) {
        if self.waiting.contains(&CertificationStep::Resend) {
            self.pass(CertificationStep::Resend);
        }
    }

    fn on_resend_request(&mut self, message: &FixMessage<'_>) {
        let Some(missing) = self.skipped.filter(|_| self.waiting.contains(&CertificationStep::Gap)) else { return };
        let [from, to] = [7, 16].map(|tag| message.number(tag).unwrap_or_default());
        if from <= missing && (to == 0 || to >= missing) {
            return self.pass(CertificationStep::Gap);
        }
        self.fail(CertificationStep::Gap, format!("it asks for {from} to {to}, and {missing} is missing"));
    }

    fn on_sent(&mut self, message: &FixMessage<'_>) {
        match message.msg_type() {
            b"3" => {
                let text = message.text(fix::tag::TEXT).unwrap_or("no text");
                let tag = message.text(fix::tag::REF_TAG_ID).map_or_else(String::new, |tag| format!(" (tag {tag})"));
                let kind = message.text(fix::tag::REF_MSG_TYPE).unwrap_or("?");
                self.fail(CertificationStep::ValidMessages, format!("its message {kind} is rejected: {text}{tag}"));
            }
            // Our answer to the client's Resend Request for the number that was left out.
            b"4" if *self.report.verdict(CertificationStep::Gap) == CertificationVerdict::Passed => {
                self.begin(CertificationStep::SequenceReset, &[PlanAction::SendTestRequest(GOES_ON)]);
            }
            _ => {}
        }
    }

    pub(super) fn on_deed(&mut self, deed: ClientDeed) {
        self.has_requests = true;
        match deed {
            ClientDeed::Placed => {
                self.pass(CertificationStep::NewOrder);
                self.begin(CertificationStep::Resend, &[PlanAction::AskForAll]);
            }
            ClientDeed::Filled => self.begin(CertificationStep::Fill, &[PlanAction::SendTestRequest(FILLED)]),
            ClientDeed::Rejected => self.begin(CertificationStep::Reject, &[PlanAction::SendTestRequest(REJECTED)]),
            ClientDeed::Replaced => self.pass(CertificationStep::Replace),
            ClientDeed::Canceled => self.pass(CertificationStep::Cancel),
            ClientDeed::RepeatedId(id) => {
                self.fail(CertificationStep::UniqueIds, format!("ClOrdID (11) {id} was used before"));
            }
            ClientDeed::Other => {}
        }
    }

    pub(super) fn on_disconnected(&mut self, reason: &DisconnectReason) {
        if !self.is_logged_on {
            return self.fail(CertificationStep::Logon, reason.to_string());
        }
        self.has_ended = true;
        match reason {
            DisconnectReason::LoggedOutByPeer(_) => self.pass(CertificationStep::Logout),
            // We ended it, when the time was over.
            DisconnectReason::LogoutAnswered | DisconnectReason::LogoutTimeout | DisconnectReason::Shutdown => {}
            DisconnectReason::HeartbeatTimeout => {
                self.fail(CertificationStep::Heartbeat, reason.to_string());
                self.fail(CertificationStep::Logout, reason.to_string());
            }
            other => self.fail(CertificationStep::Logout, other.to_string()),
        }
    }

    /// What was asked and not answered has failed; what could have gone wrong with every message and did not has passed.
    pub(super) fn finish(&mut self) -> CertificationReport {
        for step in std::mem::take(&mut self.waiting) {
            self.report.fail(step, format!("not answered; expected {}", step.expects()));
        }
        if self.has_requests {
            self.report.pass(CertificationStep::UniqueIds);
            self.report.pass(CertificationStep::ValidMessages);
        }
        self.report.clone()
    }

    /// Once for each step.
    fn begin(&mut self, step: CertificationStep, actions: &[PlanAction]) {
        if *self.report.verdict(step) == CertificationVerdict::NotSeen && self.waiting.insert(step) {
            self.actions.extend(actions);
        }
    }

    fn pass(&mut self, step: CertificationStep) {
        self.waiting.remove(&step);
        if self.report.pass(step) {
            self.news.push(step);
        }
    }

    fn fail(&mut self, step: CertificationStep, reason: String) {
        self.waiting.remove(&step);
        if self.report.fail(step, reason) {
            self.news.push(step);
        }
    }
}
