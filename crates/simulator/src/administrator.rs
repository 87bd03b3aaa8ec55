//! A seeded administrator: adds and removes users and tokens, saves settings, and keeps what was confirmed. It hands records to the
//! Ledger as the store of users does; logins are not simulated.

use std::collections::BTreeMap;

use bus::reply::{NoReply, Reply, ReplyReceiver};
use domain::admin::{AdminChange, AdminRecord, AdminState, AuditRecord, SettingsRecord, TokenRecord, UserRecord};
use domain::{SeededRng, Text, Timestamp};

use crate::invariants::broken_invariant::{InvariantResult, ensure};

const NAMES: [&str; 4] = ["anna", "bruno", "carla", "desk"];
const TOKEN_LIFE_SECONDS: i64 = 86_400;

#[derive(Default)]
pub(crate) struct Administrator {
    log: Vec<AdminRequest>,
    waiting: Vec<(usize, ReplyReceiver)>,
}

struct AdminRequest {
    record: AdminRecord,
    /// Where it is in the journal, once that was confirmed.
    confirmed: Option<u64>,
}

/// Records of administration by their sequence.
pub(crate) type AdminRecords = BTreeMap<u64, AdminRecord>;

impl Administrator {
    /// What the administrator does at this draw.
    pub(crate) fn decide(&self, draw: u64, at: Timestamp, state: &AdminState) -> AdminRecord {
        let mut rng = SeededRng::new(draw, 11);
        let name: Text = (*rng.pick(&NAMES).unwrap_or(&NAMES[0])).into();
        let change = match rng.below(8) {
            0..=2 => AdminChange::PutUser(user(name, at, state.revision + 1, draw)),
            3 => AdminChange::RemoveUser(name),
            4 => AdminChange::PutToken(token(name, at, draw)),
            5 => AdminChange::RemoveToken(format!("{name}-token").into()),
            _ => AdminChange::PutSettings(settings(name, at, state, draw)),
        };
        let row = self.audit_row(at, state.last_audit + 1, &change);
        AdminRecord { changes: vec![change, AdminChange::Audit(row)] }
    }

    /// No two records are equal: each has its own number in the audit's text.
    fn audit_row(&self, at: Timestamp, id: u64, change: &AdminChange) -> AuditRecord {
        AuditRecord {
            id,
            at,
            user: Some("administrator".into()),
            channel: "REST".into(),
            peer: None,
            action: change_name(change).into(),
            outcome: "done".into(),
            detail: format!("request {}", self.log.len() + 1).into(),
            times: 1,
            last_at: at,
        }
    }

    /// Nothing was sent where the platform is not there.
    pub(crate) fn note(&mut self, record: AdminRecord, sent: Option<ReplyReceiver>) {
        self.log.push(AdminRequest { record, confirmed: None });
        self.waiting.extend(sent.map(|reply| (self.log.len() - 1, reply)));
    }

    /// What was confirmed by now, as the trace tells it.
    pub(crate) fn receive(&mut self) -> Vec<String> {
        let (mut lines, log) = (Vec::new(), &mut self.log);
        self.waiting.retain_mut(|(entry, reply)| {
            let Some(told) = reply.try_recv() else { return true };
            let request = &mut log[*entry];
            request.confirmed = confirmed_at(told);
            let outcome = request.confirmed.map_or("not known".to_owned(), |sequence| format!("durable at {sequence}"));
            lines.push(format!("the administrator is told {}: {outcome}", request.name()));
            false
        });
        lines
    }

    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(crate) fn has_acted(&self) -> bool {
        !self.log.is_empty()
    }

    /// Requests, and those of them that were confirmed.
    pub(crate) fn counts(&self) -> [u64; 2] {
        let confirmed = self.log.iter().filter(|request| request.confirmed.is_some()).count();
        [self.log.len() as u64, confirmed as u64]
    }

    /// What was confirmed is in the journal where the answer said, nothing is there twice, and nothing that was not asked for.
    pub(crate) fn check(&self, journal: &AdminRecords) -> InvariantResult {
        let mut times: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        journal.values().for_each(|record| *times.entry(encoded(record)).or_default() += 1);
        for request in &self.log {
            if let Some(sequence) = request.confirmed {
                let found = journal.get(&sequence);
                ensure(found == Some(&request.record), "acknowledged and lost", || {
                    format!("{}: durable at {sequence}, but there is {found:?}", request.name())
                })?;
            }
            let times = times.remove(&encoded(&request.record)).unwrap_or(0);
            ensure(times <= 1, "journalled twice", || format!("{}: {times} times", request.name()))?;
        }
        let unknown = journal.values().find(|record| times.contains_key(&encoded(record)));
        ensure(unknown.is_none(), "a change of users that nobody asked for", || format!("{unknown:?}"))
    }
}

impl AdminRequest {
    fn name(&self) -> &'static str {
        self.record.changes.first().map_or("nothing", change_name)
    }
}

/// No two records are equal where their bytes are not.
fn encoded(record: &AdminRecord) -> Vec<u8> {
    minicbor::to_vec(record).unwrap_or_default()
}

fn confirmed_at(told: Result<Reply, NoReply>) -> Option<u64> {
    told.ok().filter(|reply| reply.outcome.is_ok()).map(|reply| reply.sequence)
}

/// As the audit has it.
pub(crate) fn change_name(change: &AdminChange) -> &'static str {
    match change {
        AdminChange::PutUser(_) => "add user",
        AdminChange::RemoveUser(_) => "remove user",
        AdminChange::PutToken(_) => "new token",
        AdminChange::RemoveToken(_) => "revoke token",
        AdminChange::PutSettings(_) => "save settings",
        AdminChange::RemoveSettings(_)
        | AdminChange::Audit(_)
        | AdminChange::CountAudit { .. }
        | AdminChange::ImportBegun
        | AdminChange::Begun => "other",
    }
}

fn user(name: Text, created: Timestamp, revision: i64, draw: u64) -> UserRecord {
    let (role, strategy) = (if draw.is_multiple_of(2) { "trader" } else { "viewer" }, None);
    UserRecord { name, role: role.into(), strategy, password: hash(draw).into(), created, revision, rights: None }
}

fn token(owner: Text, created: Timestamp, draw: u64) -> TokenRecord {
    TokenRecord {
        name: format!("{owner}-token").into(),
        prefix: hash(draw)[..8].into(),
        digest: draw.to_be_bytes().to_vec(),
        role: "trader".into(),
        strategy: None,
        created,
        expires: created.plus_seconds(TOKEN_LIFE_SECONDS),
        rights: None,
    }
}

fn settings(owner: Text, changed: Timestamp, state: &AdminState, draw: u64) -> SettingsRecord {
    let revision = state.settings.get(&owner).map_or(0, |saved| saved.revision) + 1;
    SettingsRecord { owner, document: format!(r#"{{"layout":{draw}}}"#).into(), revision, changed }
}

/// In place of one that takes long to compute.
fn hash(draw: u64) -> String {
    blake3::hash(&draw.to_be_bytes()).to_hex().to_string()
}
