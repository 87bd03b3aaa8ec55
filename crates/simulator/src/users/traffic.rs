//! All that happens about users in a run. It outlives the process: the record against the platform.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use domain::Timestamp;
use web::{PlainRequest, PlainResponse};

use super::administrator::{Administrator, count_refusal};
use super::attempt::{Attempt, AttemptPlan, LoginVerdict, Probe, Shown};
use super::audit_claims::{AuditClaim, AuditClaims, DONE};
use super::client::{ClientContext, UserClient};
use super::known_users::{AdminRecords, Expected, KnownUsers};
use crate::http_clients::{HttpNews, HttpTicket};
use crate::invariants::broken_invariant::{BrokenInvariant, InvariantResult, ensure};
use crate::schedule::USER_CLIENTS;

/// Passwords and tokens that are not valid any more and are tried at the end.
const LAST_TRIED_MAX: usize = 16;
/// Addresses from which one request comes each begin here.
const NEW_PEERS: u32 = u32::from_be_bytes([10, 1, 0, 0]);

pub(crate) struct UserTraffic {
    administrator: Administrator,
    clients: Vec<UserClient>,
    known: KnownUsers,
    claims: AuditClaims,
    /// Rises with every end of the process.
    process: u64,
    peers: u32,
    /// Requests of clients, those that were let in, and those that were denied.
    attempts: [u64; 3],
    /// By code.
    refusals: BTreeMap<String, u64>,
}

/// What runs have tried, for the page.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct UserCounts {
    /// Changes, and those that were confirmed.
    pub(crate) changes: [u64; 2],
    /// Requests with credentials, those that were let in, and those that were denied.
    pub(crate) attempts: [u64; 3],
    /// Answers that were compared with the audit.
    pub(crate) audited: u64,
}

/// When answers are received.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnswerMoment {
    pub(crate) at: Timestamp,
    /// A platform that runs owes an answer to every request.
    pub(crate) is_running: bool,
    /// The journal's disk does not answer: a refusal does not wait for its row of the audit.
    pub(crate) is_stalled: bool,
}

impl UserCounts {
    pub(crate) fn add(&mut self, other: &Self) {
        self.changes.iter_mut().zip(other.changes).for_each(|(sum, count)| *sum += count);
        self.attempts.iter_mut().zip(other.attempts).for_each(|(sum, count)| *sum += count);
        self.audited += other.audited;
    }
}

impl fmt::Display for UserCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([asked, confirmed], [tried, let_in, denied]) = (self.changes, self.attempts);
        writeln!(f, "{asked:>9}  changes\n{confirmed:>9}  of them confirmed\n{tried:>9}  requests with credentials")?;
        writeln!(f, "{let_in:>9}  of them let in\n{denied:>9}  of them denied")?;
        writeln!(f, "{:>9}  answers found in the audit", self.audited)
    }
}

impl UserTraffic {
    /// Records up to this sequence are of an earlier release.
    pub(crate) fn new(behind: u64) -> Self {
        let clients = (1..).take(USER_CLIENTS).map(UserClient::new).collect();
        let (administrator, known) = (Administrator::begin_behind(behind), KnownUsers::default());
        Self {
            administrator,
            clients,
            known,
            claims: AuditClaims::default(),
            process: 0,
            peers: 0,
            attempts: [0; 3],
            refusals: BTreeMap::new(),
        }
    }

    /// What the administrator does at this draw, as the trace tells it.
    pub(crate) fn administer(
        &mut self,
        draw: u64,
        at: Timestamp,
        send: impl FnOnce(PlainRequest) -> HttpTicket,
    ) -> Option<String> {
        let change = self.administrator.decide(draw, &self.known)?;
        let line = format!("the administrator asks: {change:?}");
        let ticket = send(self.administrator.request(&change, &self.known));
        self.administrator.note(change, ticket, &mut self.known, at);
        Some(line)
    }

    /// What a client does at this draw, as the trace tells it.
    pub(crate) fn act(
        &mut self,
        (client, draw): (usize, u64),
        at: Timestamp,
        send: impl FnOnce(PlainRequest) -> HttpTicket,
    ) -> Option<String> {
        let new_peer = self.new_peer();
        let context = ClientContext { known: &self.known, process: self.process, at, new_peer };
        let plan = self.clients[client].decide(draw, &context)?;
        Some(self.send(client, plan, at, send))
    }

    fn new_peer(&mut self) -> IpAddr {
        self.peers += 1;
        IpAddr::V4(Ipv4Addr::from(NEW_PEERS + self.peers))
    }

    fn send(
        &mut self,
        client: usize,
        mut plan: AttemptPlan,
        sent_at: Timestamp,
        send: impl FnOnce(PlainRequest) -> HttpTicket,
    ) -> String {
        let line = format!("user client {}: {}", client + 1, plan.text());
        let (begun, done) = (self.known.begun(plan.name), self.known.done(plan.name));
        let ticket = send(plan.request());
        // Of two equal requests the audit has more.
        plan.is_only &= !ticket.is_doubled;
        self.attempts[0] += 1;
        self.clients[client].waiting.push(Attempt { plan, ticket, sent_at, begun, done });
        line
    }

    /// At the end every password and every token that is valid is tried once more, and the newest of those that are not.
    pub(crate) fn try_all(&mut self, at: Timestamp, send: impl Fn(PlainRequest) -> HttpTicket) {
        let by_password = self.known.all_passwords().iter().rev().enumerate().map(|(age, (name, text))| {
            let expected = self.known.with_password(name, text);
            (age, Probe::LogIn, *name, Shown::Password(text.clone()), expected)
        });
        let by_token = self.known.all_secrets().iter().rev().enumerate().map(|(age, (name, text))| {
            let expected = self.known.with_token(name, text, at);
            (age, Probe::WhoAmI, *name, Shown::Token(text.clone()), expected)
        });
        let all: Vec<_> = by_password.chain(by_token).collect();
        for (age, probe, name, shown, expected) in all {
            if age >= LAST_TRIED_MAX && !matches!(expected, Expected::LetIn(_)) {
                continue;
            }
            let peer = self.new_peer();
            let plan = AttemptPlan { probe, name, shown, peer, is_only: true, expected, is_last: true };
            self.send(0, plan, at, &send);
        }
    }

    /// Answers that have come, as the trace tells them.
    pub(crate) fn receive(&mut self, moment: AnswerMoment) -> Result<Vec<String>, BrokenInvariant> {
        let AnswerMoment { at, is_running, .. } = moment;
        let mut lines = Vec::new();
        lines.extend(self.administrator.receive(is_running, &mut self.known, at, &mut self.refusals)?);
        for client in 0..self.clients.len() {
            for mut attempt in std::mem::take(&mut self.clients[client].waiting) {
                match attempt.ticket.try_recv() {
                    None => self.clients[client].waiting.push(attempt),
                    Some(HttpNews::Dropped) => {
                        ensure(!is_running, "an answer was dropped", || attempt.plan.text())?;
                    }
                    Some(HttpNews::LineLost) => lines.push(self.on_line_lost(client, &attempt)),
                    Some(HttpNews::Answer(response)) => {
                        lines.push(self.on_answer(client, &attempt, &response, moment)?);
                    }
                }
            }
        }
        Ok(lines)
    }

    /// It may have arrived or not.
    fn on_line_lost(&mut self, client: usize, attempt: &Attempt) -> String {
        self.clients[client].on_line_lost(&attempt.plan);
        format!("user client {} is cut off: {}", client + 1, attempt.plan.text())
    }

    fn on_answer(
        &mut self,
        client: usize,
        attempt: &Attempt,
        response: &PlainResponse,
        moment: AnswerMoment,
    ) -> Result<String, BrokenInvariant> {
        let verdict = attempt.verdict(response)?;
        count_refusal(&mut self.refusals, response);
        attempt.check((response, &verdict), moment.at, &self.known)?;
        let new_peer = attempt.plan.peer;
        let context = ClientContext { known: &self.known, process: self.process, at: moment.at, new_peer };
        self.clients[client].on_answer(attempt, (response, &verdict), &context);
        self.claim(attempt, &verdict, moment);
        Ok(format!("user client {}: {:?} for {}", client + 1, verdict, attempt.plan.text()))
    }

    /// What was decided must be in the audit.
    fn claim(&mut self, attempt: &Attempt, verdict: &LoginVerdict, moment: AnswerMoment) {
        let plan = &attempt.plan;
        self.attempts[1] += u64::from(*verdict == LoginVerdict::LetIn);
        self.attempts[2] += u64::from(matches!(verdict, LoginVerdict::TooLow | LoginVerdict::Denied(_)));
        let (user, outcome) = match verdict {
            LoginVerdict::LetIn if plan.probe == Probe::LogIn => (Some(plan.name), DONE.to_owned()),
            LoginVerdict::TooLow => (Some(plan.name), "role-too-low".to_owned()),
            LoginVerdict::Denied(code) => (plan.claimed_user(), code.clone()),
            LoginVerdict::LetIn | LoginVerdict::Unavailable => return,
        };
        let (peer, is_only, may_be_lost) = (plan.peer.to_string(), plan.is_only, moment.is_stalled);
        let (from, to) = (attempt.sent_at, moment.at);
        self.claims.add(AuditClaim { peer, user, outcome, from, to, is_only, may_be_lost });
    }

    /// The process is gone, and its sessions with it.
    pub(crate) fn on_process_end(&mut self) {
        self.process += 1;
    }

    pub(crate) fn is_waiting(&self) -> bool {
        self.administrator.is_waiting() || self.clients.iter().any(|client| !client.waiting.is_empty())
    }

    /// What was answered is in the journal. While the administrator waits it is not clear which of its requests a record is of.
    pub(crate) fn check_answers(&mut self, journal: &AdminRecords) -> InvariantResult {
        if !self.administrator.is_waiting() {
            self.administrator.check(journal)?;
        }
        self.claims.check(journal)
    }

    /// While no process runs: what was answered is in the journal, and what is there is known from now on.
    pub(crate) fn check(&mut self, journal: &AdminRecords) -> InvariantResult {
        self.administrator.check(journal)?;
        self.claims.check(journal)?;
        self.administrator.settle(&mut self.known);
        Ok(())
    }

    /// The process runs, nothing of the administrator is under way, and the journal has all that was done: it tells what became of changes
    /// whose answers were lost.
    pub(crate) fn check_at_rest(&mut self, journal: &AdminRecords) -> InvariantResult {
        self.check_answers(journal)?;
        self.administrator.settle_at_rest(&mut self.known);
        Ok(())
    }

    /// Whether nothing is known of a change, and no answer to it will come.
    pub(crate) fn is_unsure(&self) -> bool {
        !self.administrator.is_waiting() && self.administrator.is_unsure()
    }

    /// How often clients and the administrator were refused, by code.
    pub(crate) fn refusals(&self) -> &BTreeMap<String, u64> {
        &self.refusals
    }

    pub(crate) fn counts(&self) -> UserCounts {
        UserCounts { changes: self.administrator.counts(), attempts: self.attempts, audited: self.claims.compared }
    }
}
