//! Notifications: life cycle, sessions, trading states, log lines.

use domain::command::Mode;
use domain::event::{Alarm, AlarmLevel, LifeCycle, SessionChange};
use domain::report::{LineState, OpenFor};
use domain::risk::TradingStateChange;
use domain::{AdapterName, ReferenceData, RiskScope, Timestamp};
use serde::Serialize;

use crate::json::{AsText, Millis};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LifeCycleVO<'a> {
    date_time: Millis,
    strategy_name: Option<&'a str>,
    mode: &'static str,
    phase: &'static str,
    /// With EXIT, where it was stopped: panicked, hung, flooded or lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

impl<'a> LifeCycleVO<'a> {
    pub fn from_domain(at: Timestamp, event: &'a LifeCycle, reference: &'a ReferenceData) -> Self {
        Self {
            date_time: at.into(),
            strategy_name: reference.strategies.get(&event.strategy).map(|strategy| &*strategy.name),
            mode: mode(event.mode),
            phase: event.phase.name(),
            failure: event.failure.as_ref().map(|failure| failure.kind.name()),
            reason: event.failure.as_ref().map(|failure| &*failure.text),
        }
    }
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::RealTime => "REAL_TIME",
        Mode::Simulation => "SIMULATION",
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionEventVO<'a> {
    date_time: Millis,
    adapter: &'a str,
    qualifier: Option<&'a str>,
    state: &'static str,
    /// Of an adapter; a client's session has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    open_for: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<LineStateVO<'a>>,
}

#[derive(Debug, Serialize)]
pub struct LineStateVO<'a> {
    line: &'static str,
    up: bool,
    reason: Option<&'a str>,
}

impl<'a> SessionEventVO<'a> {
    pub fn from_domain(at: Timestamp, event: &'a SessionChange, reference: &'a ReferenceData) -> Self {
        let (adapter, qualifier) = split_adapter(&event.adapter, reference);
        let open_for = (!event.lines.is_empty()).then(|| OpenFor::new(event.state, &event.lines).name());
        let line = |state: &'a LineState| LineStateVO {
            line: state.line.name(),
            up: state.up,
            reason: state.reason.as_deref(),
        };
        let lines = event.lines.iter().map(line).collect();
        Self { date_time: at.into(), adapter, qualifier, state: event.state.name(), open_for, lines }
    }
}

/// The name of an adapter joins type and qualifier. They are taken from an account that trades through it; without one,
/// as for a client's FIX session, they are split at the first dash.
pub(crate) fn split_adapter<'a>(adapter: &'a AdapterName, reference: &'a ReferenceData) -> (&'a str, Option<&'a str>) {
    match reference.accounts.values().find(|account| account.adapter() == *adapter) {
        Some(account) => (&account.adapter_type, account.session_qualifier.as_deref()),
        None => adapter.0.split_once('-').map_or((&adapter.0, None), |(kind, qualifier)| (kind, Some(qualifier))),
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TradingStateVO<'a> {
    scope: AsText<RiskScope>,
    state: &'static str,
    date_time: Millis,
    reason: Option<&'a str>,
    changed_by: Option<&'a str>,
}

impl<'a> TradingStateVO<'a> {
    pub fn from_domain(change: &'a TradingStateChange) -> Self {
        Self {
            scope: AsText(change.scope),
            state: change.state.name(),
            date_time: change.at.into(),
            reason: change.reason.as_deref(),
            changed_by: change.changed_by.as_deref(),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogEventVO<'a> {
    date_time: Millis,
    level: &'static str,
    logger: &'a str,
    message: String,
    exception_class: Option<&'a str>,
    exception_message: Option<&'a str>,
}

impl<'a> LogEventVO<'a> {
    /// A line of the program's log; the underlying error is a separate field.
    pub fn of_line(at: Timestamp, level: &'static str, logger: &'a str, message: &str, error: Option<&'a str>) -> Self {
        Self {
            date_time: at.into(),
            level,
            logger,
            message: message.to_owned(),
            exception_class: None,
            exception_message: error,
        }
    }

    /// An alarm's code leads the message, as it does in FIX texts.
    pub fn from_domain(at: Timestamp, alarm: &Alarm) -> Self {
        Self {
            date_time: at.into(),
            level: level(alarm.level),
            logger: "engine",
            message: format!("{}: {}", alarm.code, alarm.text),
            exception_class: None,
            exception_message: None,
        }
    }
}

fn level(level: AlarmLevel) -> &'static str {
    match level {
        AlarmLevel::Info => "INFO",
        AlarmLevel::Warn => "WARN",
        AlarmLevel::Error => "ERROR",
    }
}
