//! A seeded administrator: adds, changes and removes users and tokens and saves settings over HTTP, one request at a time, and keeps what
//! was confirmed.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use access::{PasswordDigest, SecretString};
use domain::admin::{AdminChange, AdminRecord};
use domain::{SeededRng, Timestamp};
use serde_json::{Value, json};
use web::{PlainCredentials, PlainRequest, PlainResponse, PlainSender};

use super::known_users::{AdminRecords, KnownUsers, ROLES, ROOT, TOKENS, TokenSecret, USERS, UserChange};
use crate::error_codes::{TOO_MANY, UNAVAILABLE, UNEXPECTED_ANSWER, no_server_fault};
use crate::http_clients::{HttpNews, HttpTicket, code_of};
use crate::invariants::broken_invariant::{BrokenInvariant, InvariantResult, broken, ensure};

const PEER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 1, 1));
const TOKEN_DAYS: [u32; 2] = [1, 90];
const DONE: &str = "done";

#[derive(Default)]
pub(super) struct Administrator {
    log: Vec<AdminRequest>,
    /// The answer to the last of them.
    waiting: Option<HttpTicket>,
    /// How much of the journal was compared.
    through: u64,
}

struct AdminRequest {
    change: UserChange,
    sent_at: Timestamp,
    outcome: ChangeOutcome,
    /// Whether the store had to refuse it, where that was known.
    must_refuse: Option<bool>,
    /// Where the journal has it.
    journalled: Option<u64>,
    /// What became of it is known, with or without an answer.
    is_settled: bool,
}

enum ChangeOutcome {
    Confirmed(Option<TokenSecret>),
    Refused,
    /// As long as it waits, and where no answer came.
    Unknown,
}

impl ChangeOutcome {
    fn rank(&self) -> u8 {
        match self {
            Self::Confirmed(_) => 0,
            Self::Unknown => 1,
            Self::Refused => 2,
        }
    }
}

impl Administrator {
    /// Records up to there are of an earlier release.
    pub(super) fn begin_behind(sequence: u64) -> Self {
        Self { through: sequence, ..Self::default() }
    }

    /// What the administrator asks for at this draw; nothing while it waits for an answer.
    pub(super) fn decide(&self, draw: u64, known: &KnownUsers) -> Option<UserChange> {
        let mut rng = SeededRng::new(draw, 11);
        let put = |name, role| UserChange::PutUser { name, role, password: format!("password {draw:016x}") };
        let pick = |rng: &mut SeededRng, from: &[&'static str]| *rng.pick(from).unwrap_or(&from[0]);
        if self.waiting.is_some() {
            return None;
        }
        if known.password(ROOT).is_none() {
            return Some(put(ROOT, "admin"));
        }
        Some(match rng.below(12) {
            0..=4 => put(pick(&mut rng, &USERS), pick(&mut rng, &ROLES)),
            5 => UserChange::RemoveUser { name: pick(&mut rng, &USERS) },
            6..=7 => {
                let (name, role) = (pick(&mut rng, &TOKENS), pick(&mut rng, &ROLES));
                UserChange::NewToken { name, role, days: *rng.pick(&TOKEN_DAYS).unwrap_or(&TOKEN_DAYS[0]) }
            }
            8..=9 => UserChange::RevokeToken { name: pick(&mut rng, &TOKENS) },
            10 => put(ROOT, "admin"),
            _ => UserChange::SaveSettings { document: format!(r#"{{"layout":{draw}}}"#) },
        })
    }

    /// With its own password, or on the machine itself where it is not sure of that.
    pub(super) fn request(&self, change: &UserChange, known: &KnownUsers) -> PlainRequest {
        let sender = known.password(ROOT).map(|password| {
            let credentials = PlainCredentials::Password { user: ROOT.to_owned(), password: password.to_owned() };
            PlainSender { peer: PEER, credentials }
        });
        let (method, path, body) = match change {
            UserChange::PutUser { name, role, password } => {
                let body = json!({"name": name, "role": role, "password": password, "replace": true});
                ("POST", "/rest/user".to_owned(), body.to_string())
            }
            UserChange::RemoveUser { name } => ("DELETE", format!("/rest/user/{name}"), String::new()),
            UserChange::NewToken { name, role, days } => {
                ("POST", "/rest/token".to_owned(), json!({"name": name, "role": role, "days": days}).to_string())
            }
            UserChange::RevokeToken { name } => ("DELETE", format!("/rest/token/{name}"), String::new()),
            UserChange::SaveSettings { document } => ("PUT", "/rest/settings".to_owned(), document.clone()),
        };
        PlainRequest { method, path, body: body.into_bytes(), sender }
    }

    pub(super) fn note(&mut self, change: UserChange, ticket: HttpTicket, known: &mut KnownUsers, sent_at: Timestamp) {
        if ticket.is_doubled {
            self.begin(change.clone(), known, sent_at);
        }
        self.begin(change, known, sent_at);
        self.waiting = Some(ticket);
    }

    fn begin(&mut self, change: UserChange, known: &mut KnownUsers, sent_at: Timestamp) {
        let must_refuse = known.must_refuse(&change);
        known.begin(&change);
        let outcome = ChangeOutcome::Unknown;
        self.log.push(AdminRequest { change, sent_at, outcome, must_refuse, journalled: None, is_settled: false });
    }

    /// The answer, where it has come, as the trace tells it. A platform that runs owes one.
    pub(super) fn receive(
        &mut self,
        is_running: bool,
        known: &mut KnownUsers,
        at: Timestamp,
        refusals: &mut BTreeMap<String, u64>,
    ) -> Result<Option<String>, BrokenInvariant> {
        let (Some(ticket), Some(request)) = (&mut self.waiting, self.log.last_mut()) else { return Ok(None) };
        let answer = match ticket.try_recv() {
            None => return Ok(None),
            Some(HttpNews::Dropped) => {
                ensure(!is_running, "an answer was dropped", || format!("{:?}", request.change))?;
                None
            }
            Some(HttpNews::LineLost) => None,
            Some(HttpNews::Answer(response)) => Some(response),
        };
        self.waiting = None;
        let told = answer.as_ref().map_or_else(|| "no answer".to_owned(), |answer| answer.status.to_string());
        if let Some(response) = answer {
            request.on_answer(&response, known, at)?;
            count_refusal(refusals, &response);
        }
        Ok(Some(format!("the administrator is told {told} for {:?}", request.change)))
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// Requests, and those of them that were confirmed.
    pub(super) fn counts(&self) -> [u64; 2] {
        let is_confirmed = |request: &&AdminRequest| matches!(request.outcome, ChangeOutcome::Confirmed(_));
        [self.log.len() as u64, self.log.iter().filter(is_confirmed).count() as u64]
    }

    /// What was confirmed is in the journal once, with its row of the audit, and nothing is there that was not asked for.
    pub(super) fn check(&mut self, journal: &AdminRecords) -> InvariantResult {
        for (sequence, record) in journal.range(self.through + 1..) {
            self.through = *sequence;
            self.find_request(*sequence, record)?;
        }
        for request in &self.log {
            let is_there = request.journalled.is_some_and(|sequence| journal.contains_key(&sequence));
            let is_due = request.journalled.is_some() || matches!(request.outcome, ChangeOutcome::Confirmed(_));
            ensure(is_there || !is_due, "acknowledged and lost", || format!("{:?}", request.change))?;
            let is_refused = matches!(request.outcome, ChangeOutcome::Refused);
            ensure(!is_there || !is_refused, "refused and done", || format!("{:?}", request.change))?;
        }
        Ok(())
    }

    fn find_request(&mut self, sequence: u64, record: &AdminRecord) -> InvariantResult {
        let Some(change) = record.changes.iter().find(|change| is_of_request(change)) else { return Ok(()) };
        let is_audited =
            record.changes.iter().any(|row| matches!(row, AdminChange::Audit(row) if &*row.outcome == DONE));
        let needs_row = !matches!(change, AdminChange::PutSettings(_));
        ensure(is_audited || !needs_row, "a change of users is not in the audit", || {
            format!("{sequence}: {change:?}")
        })?;
        let is_open = |request: &&mut AdminRequest| request.journalled.is_none();
        let mut open: Vec<_> = self.log.iter_mut().filter(is_open).collect();
        // Of equal ones the journal has the one that was confirmed, and one that was refused only where there is no other.
        open.sort_by_key(|request| request.outcome.rank());
        if let Some(request) = open.into_iter().find(|request| is_same(&request.change, change)) {
            request.journalled = Some(sequence);
            return Ok(());
        }
        let is_known = self.log.iter().any(|request| is_same(&request.change, change));
        let what = if is_known { "journalled twice" } else { "a change of users that nobody asked for" };
        Err(broken(what, format!("{sequence}: {change:?}")))
    }

    /// The process is gone: what the journal does not have by now was not done.
    pub(super) fn settle(&mut self, known: &mut KnownUsers) {
        self.restore(known);
        self.log.iter_mut().for_each(|request| request.is_settled = true);
    }

    /// Whether it is not known what became of a request.
    pub(super) fn is_unsure(&self) -> bool {
        self.log.iter().any(AdminRequest::is_unsure)
    }

    /// The same while the process runs, when nothing is under way and the journal has all that was done: sessions go on, except those of users
    /// that have changed.
    pub(super) fn settle_at_rest(&mut self, known: &mut KnownUsers) {
        let done_before = known.done_of_all();
        let late = self.log.iter().filter(|request| request.is_unsure() && request.journalled.is_some());
        let late: Vec<_> = late.filter_map(|request| request.change.name()).collect();
        self.restore(known);
        known.set_done(&done_before, &late);
        self.log.iter_mut().for_each(|request| request.is_settled = true);
    }

    fn restore(&self, known: &mut KnownUsers) {
        let mut done: Vec<_> = self.log.iter().filter(|request| request.journalled.is_some()).collect();
        done.sort_by_key(|request| request.journalled);
        known.restore(done.into_iter().map(|request| (&request.change, request.secret())));
    }
}

impl AdminRequest {
    fn on_answer(&mut self, response: &PlainResponse, known: &mut KnownUsers, at: Timestamp) -> InvariantResult {
        let told = || format!("{:?}: {} {}", self.change, response.status, String::from_utf8_lossy(&response.body));
        no_server_fault(&code_of(response), told)?;
        match response.status {
            200 => {
                ensure(self.must_refuse != Some(true), "users are not as confirmed", told)?;
                let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
                let made = [self.sent_at, at];
                let secret = body["token"].as_str().map(|text| TokenSecret { text: text.to_owned(), made });
                known.confirm(&self.change, secret.clone());
                self.outcome = ChangeOutcome::Confirmed(secret);
            }
            401 | 403 => return Err(broken("a valid log-in was refused", told())),
            400..=499 if response.status != TOO_MANY => {
                ensure(self.must_refuse != Some(false), "users are not as confirmed", told)?;
                known.refuse(&self.change);
                self.outcome = ChangeOutcome::Refused;
            }
            // Whether it is done is known after the next start.
            TOO_MANY | UNAVAILABLE => {}
            _ => return Err(broken(UNEXPECTED_ANSWER, told())),
        }
        Ok(())
    }

    fn is_unsure(&self) -> bool {
        !self.is_settled && matches!(self.outcome, ChangeOutcome::Unknown)
    }

    fn secret(&self) -> Option<TokenSecret> {
        if let ChangeOutcome::Confirmed(secret) = &self.outcome { secret.clone() } else { None }
    }
}

/// By the code of the answer, where it has one.
pub(super) fn count_refusal(refusals: &mut BTreeMap<String, u64>, response: &PlainResponse) {
    let code = code_of(response);
    if !code.is_empty() {
        *refusals.entry(code).or_default() += 1;
    }
}

/// What else is in a record follows from it.
fn is_of_request(change: &AdminChange) -> bool {
    matches!(
        change,
        AdminChange::PutUser(_)
            | AdminChange::RemoveUser(_)
            | AdminChange::PutToken(_)
            | AdminChange::RemoveToken(_)
            | AdminChange::PutSettings(_)
    )
}

fn is_same(asked: &UserChange, done: &AdminChange) -> bool {
    match (asked, done) {
        (UserChange::PutUser { name, role, password }, AdminChange::PutUser(user)) => {
            let is_of = |password: &str| {
                PasswordDigest::parse(&user.password).is_some_and(|hash| hash.matches(&SecretString::from(password)))
            };
            &*user.name == *name && &*user.role == *role && is_of(password)
        }
        (UserChange::RemoveUser { name }, AdminChange::RemoveUser(removed)) => &**removed == *name,
        (UserChange::NewToken { name, role, .. }, AdminChange::PutToken(token)) => {
            &*token.name == *name && &*token.role == *role
        }
        (UserChange::RevokeToken { name }, AdminChange::RemoveToken(revoked)) => &**revoked == *name,
        (UserChange::SaveSettings { document }, AdminChange::PutSettings(saved)) => &*saved.document == document,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use domain::admin::AuditRecord;

    use super::*;

    fn revocation(outcome: ChangeOutcome) -> AdminRequest {
        let change = UserChange::RevokeToken { name: TOKENS[1] };
        AdminRequest { change, sent_at: Timestamp(0), outcome, must_refuse: None, journalled: None, is_settled: false }
    }

    /// A revocation as the journal has it, with its row of the audit.
    fn revoked() -> AdminRecord {
        let row = AuditRecord {
            id: 1,
            at: Timestamp(0),
            user: Some(ROOT.into()),
            channel: "HTTP".into(),
            peer: None,
            action: "token".into(),
            outcome: DONE.into(),
            detail: "".into(),
            times: 1,
            last_at: Timestamp(0),
        };
        AdminRecord { changes: vec![AdminChange::RemoveToken(TOKENS[1].into()), AdminChange::Audit(row)] }
    }

    #[test]
    fn of_equal_requests_the_journal_has_the_one_without_an_answer_and_not_the_one_that_was_refused() {
        let log = vec![revocation(ChangeOutcome::Refused), revocation(ChangeOutcome::Unknown)];
        let mut administrator = Administrator { log, ..Administrator::default() };
        let journal = AdminRecords::from([(7, revoked())]);
        administrator.check(&journal).expect("no promise is broken");
        assert_eq!(administrator.log.iter().map(|request| request.journalled).collect::<Vec<_>>(), [None, Some(7)]);

        let mut refused = Administrator { log: vec![revocation(ChangeOutcome::Refused)], ..Administrator::default() };
        let broken = refused.check(&journal).expect_err("it was refused and is done");
        assert!(broken.to_string().starts_with("refused and done"), "{broken}");
    }
}
