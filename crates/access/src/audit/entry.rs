//! Entries of the audit, and its rows.

use std::borrow::Cow;
use std::net::IpAddr;

use domain::admin::AuditRecord;
use domain::{Text, Timestamp};

/// Rows of one page at the most.
pub const AUDIT_PAGE_MAX: usize = 1_000;

/// The outcome of a completed action.
pub const DONE: &str = "done";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessChannel {
    Rest,
    Ui,
    /// Topics and queues over STOMP.
    Broker,
    Fix,
    CommandLine,
}

impl AccessChannel {
    pub fn name(self) -> &'static str {
        match self {
            Self::Rest => "REST",
            Self::Ui => "UI",
            Self::Broker => "STOMP",
            Self::Fix => "FIX",
            Self::CommandLine => "CLI",
        }
    }
}

/// A request to be authorised: interface, peer and action, such as `GET /rest/account`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccessRequest {
    pub channel: AccessChannel,
    /// None on the command line.
    pub peer: Option<IpAddr>,
    pub action: Cow<'static, str>,
}

/// The user of a request; without a name the caller is anonymous.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Actor {
    pub user: Option<Text>,
    pub request: AccessRequest,
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    pub at: Timestamp,
    pub actor: Actor,
    /// [`DONE`], or the code of a refusal.
    pub outcome: String,
    pub detail: String,
}

impl AuditEntry {
    pub(crate) fn done(at: Timestamp, actor: &Actor, detail: String) -> Self {
        Self { at, actor: actor.clone(), outcome: DONE.into(), detail }
    }

    /// The row that it becomes.
    pub(crate) fn to_record(&self, id: u64) -> AuditRecord {
        let Self { at, actor: Actor { user, request }, outcome, detail } = self;
        AuditRecord {
            id,
            at: *at,
            user: user.clone(),
            channel: request.channel.name().into(),
            peer: request.peer.map(|peer| peer.to_string().into()),
            action: (&*request.action).into(),
            outcome: outcome.as_str().into(),
            detail: detail.as_str().into(),
            times: 1,
            last_at: *at,
        }
    }
}

/// A row of the audit as it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    pub id: u64,
    pub at: Timestamp,
    pub user: Option<String>,
    pub door: String,
    pub peer: Option<String>,
    pub action: String,
    pub outcome: String,
    pub detail: String,
    /// How often it came within the minute, and when it last did.
    pub times: u64,
    pub last_at: Timestamp,
}
