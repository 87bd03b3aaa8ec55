//! Operator resources: FIX sessions, imports, health, adapters.

pub mod access;
pub mod cluster;
pub mod notifications;
pub mod problem;

use domain::query::{AdapterStatus, LineStatus};
use domain::report::CancelKind;
use domain::{OrderProperty, ReferenceData, VenueFacts};

use self::notifications::split_adapter;
use crate::bodies::fields::{BadBody, FIX_NUMBER_MAX, FieldError, Fields, id_of};
use crate::json::Millis;
use crate::value_object::value_object;

/// Longest path of a folder.
const PATH_LENGTH_MAX: usize = 4_096;

value_object! {
    /// A session of the FIX gateway, with the next sequence numbers.
    pub struct FixSessionVO<'a> ("FixSessionVO", golden) {
        id: &'a str,
        senderCompId: &'a str,
        targetCompId: &'a str,
        state: &'static str [OneOf(&["LOGGED_ON", "CONNECTED", "DISCONNECTED"])],
        peer: Option<String>,
        nextIn: u64 [Whole],
        nextOut: u64 [Whole],
        lastReceived: Option<Millis>,
        lastSent: Option<Millis>,
        nextReset: Option<Millis>,
        // Why the last connection ended.
        reason: Option<&'a str>,
    }
}

value_object! {
    /// What a new reading of the session file changed; sessions by the client's CompID.
    pub struct FixReloadVO<'a> ("FixReloadVO") {
        added: &'a [String],
        // Other settings: the client was logged out and keeps its numbers.
        changed: &'a [String],
        removed: &'a [String],
        unchanged: &'a [String],
        warnings: &'a [String],
    }
}

/// New sequence numbers of a session; an absent one keeps its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixNumbersBody {
    pub next_in: Option<u64>,
    pub next_out: Option<u64>,
}

impl FixNumbersBody {
    pub fn parse(body: &[u8]) -> Result<Self, BadBody> {
        let mut fields = Fields::parse(body)?;
        let (next_in, next_out) = (number(&mut fields, "nextIn"), number(&mut fields, "nextOut"));
        if next_in.or(next_out).is_none() {
            fields.require("nextIn", next_in);
        }
        fields.finish_strict(Some(Self { next_in, next_out }))
    }
}

fn number(fields: &mut Fields, name: &'static str) -> Option<u64> {
    fields.read(name, |field, value| {
        let number = id_of(field, value).ok().filter(|number| *number <= FIX_NUMBER_MAX);
        number.ok_or_else(|| FieldError::malformed(field, "must be a whole number from 1 to 1099511627775"))
    })
}

value_object! {
    /// Number of differences that were applied.
    pub struct ImportedVO ("ImportedVO", golden) {
        changes: usize,
    }
}

/// The folder with reference data, on the server's own machine.
pub fn parse_import(body: &[u8]) -> Result<String, BadBody> {
    let mut fields = Fields::parse(body)?;
    let path = fields.read("path", |field, value| {
        let path = value.as_str().filter(|path| path.starts_with('/') && path.len() <= PATH_LENGTH_MAX);
        path.map(ToOwned::to_owned)
            .ok_or_else(|| FieldError::malformed(field, "must be a folder, named from the root on"))
    });
    let path = fields.require("path", path);
    fields.finish_strict(path)
}

/// A request without fields may have no body, or an empty object.
pub fn parse_empty(body: &[u8]) -> Result<(), BadBody> {
    Fields::parse_optional(body)?.finish_strict(Some(()))
}

value_object! {
    /// UP where every check is passed.
    pub struct HealthVO<'a> ("Health", golden) {
        status: &'static str [OneOf(&["UP", "DOWN"])],
        checks: Vec<CheckVO<'a>>,
    }
}

value_object! {
    /// One check of readiness.
    pub struct CheckVO<'a> ("Check") {
        name: &'a str,
        ok: bool,
        detail: &'a str,
    }
}

value_object! {
    /// A member of a cluster, as it sees itself. A server alone is a leader without a name.
    pub struct ClusterVO<'a> ("Cluster") {
        member: Option<&'a str>,
        role: &'static str [OneOf(&["alone", "leader", "follower"])],
        eligible: bool,
        epoch: Option<u64>,
        leader: Option<&'a str>,
        lagMillis: Option<usize>,
        entry: Option<u64>,
        lease: bool,
        problem: Option<&'a str>,
        // Why it would not lead if the leader were gone.
        mayNotLead: Option<&'a str>,
        // What is not known of the servers of the replicated log.
        logWarning: Option<&'a str>,
        standbysRequired: usize,
        standbys: Option<usize>,
    }
}

impl<'a> HealthVO<'a> {
    pub fn new(checks: Vec<CheckVO<'a>>) -> Self {
        let status = if checks.iter().all(|check| check.ok) { "UP" } else { "DOWN" };
        Self { status, checks }
    }

    pub fn is_up(&self) -> bool {
        self.checks.iter().all(|check| check.ok)
    }
}

/// The engine itself sees to it, at every venue that takes cancels.
const REDUCE_ONLY: &str = "reduceOnly";

value_object! {
    /// An adapter: the state of its session, and what its venue offers.
    pub struct AdapterVO<'a> ("AdapterVO", golden)
    from (status: &'a AdapterStatus, facts: VenueFacts, reference: &'a ReferenceData)
    let (adapter_type, session_qualifier) = split_adapter(&status.adapter, reference);
    let offered = OrderProperty::ALL.into_iter().filter(|property| status.order_properties.contains(property));
    let reduce_only = Some(REDUCE_ONLY).filter(|_| status.cancel != CancelKind::None); {
        name: &'a str = &status.adapter.0,
        adapterType: &'a str = adapter_type,
        sessionQualifier: Option<&'a str> = session_qualifier,
        state: &'static str [OneOf(SESSION_STATES)] = status.session.name(),
        simulated: bool = status.simulated,
        orders: &'static str [OneOf(ORDER_MODES)] = facts.orders.name(),
        proof: &'static str [OneOf(VENUE_PROOFS)] = facts.proof.name(),
        exchangeIds: Vec<u64> = status.exchanges.iter().map(|exchange| exchange.0).collect(),
        orderProperties: Vec<&'static str> [List(&OneOf(ORDER_PROPERTIES))] =
            offered.map(OrderProperty::name).chain(reduce_only).collect(),
        replace: &'static str [OneOf(REPLACE_KINDS)] = status.replace.name(),
        cancel: &'static str [OneOf(CANCEL_KINDS)] = status.cancel.name(),
        openFor: &'static str [OneOf(OPEN_FOR)] = status.open_for.name(),
        lines: Vec<LineVO<'a>> = status.lines.iter().map(LineVO::from_domain).collect(),
    }
}

value_object! {
    /// A connection of an adapter to its venue, and what the server has seen of it since it started.
    pub struct LineVO<'a> ("LineVO")
    from (status: &'a LineStatus) {
        line: &'static str [OneOf(LINES)] = status.state.line.name(),
        up: bool = status.state.up,
        since: Option<Millis> = status.since.map(Millis::from),
        lastHeard: Option<Millis> = status.last_heard.map(Millis::from),
        reason: Option<&'a str> = status.state.reason.as_deref(),
    }
}
