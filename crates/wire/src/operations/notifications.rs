//! Notifications: life cycle, sessions, trading states, log lines.

use domain::command::Mode;
use domain::event::{Alarm, AlarmLevel, LifeCycle, SessionChange};
use domain::report::{LineState, OpenFor};
use domain::risk::TradingStateChange;
use domain::{AdapterName, ReferenceData, RiskScope, Timestamp};

use crate::json::{AsText, Millis};
use crate::value_object::value_object;

value_object! {
    /// A step in the life of a strategy.
    pub struct LifeCycleVO<'a> ("LifeCycleEvent", golden)
    from (at: Timestamp, event: &'a LifeCycle, reference: &'a ReferenceData) {
        dateTime: Millis = at.into(),
        strategyName: Option<&'a str> = reference.strategies.get(&event.strategy).map(|strategy| &*strategy.name),
        mode: &'static str [OneOf(&["REAL_TIME", "SIMULATION"])] = mode(event.mode),
        phase: &'static str [OneOf(&["INIT", "PREFEED", "START", "RUN", "EXIT"])] = event.phase.name(),
        // With EXIT, where it was stopped: panicked, hung, flooded or lost.
        ? failure: &'static str [OneOf(&["panicked", "hung", "flooded", "lost"])] =
            event.failure.as_ref().map(|failure| failure.kind.name()),
        ? reason: &'a str = event.failure.as_ref().map(|failure| &*failure.text),
    }
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::RealTime => "REAL_TIME",
        Mode::Simulation => "SIMULATION",
    }
}

value_object! {
    /// An adapter that came or went, or one of its lines.
    pub struct SessionEventVO<'a> ("SessionEvent", golden)
    from (at: Timestamp, event: &'a SessionChange, reference: &'a ReferenceData)
    let (adapter, qualifier) = split_adapter(&event.adapter, reference);
    // A client's session has no lines.
    let has_lines = !event.lines.is_empty(); {
        dateTime: Millis = at.into(),
        adapter: &'a str = adapter,
        qualifier: Option<&'a str> = qualifier,
        state: &'static str [OneOf(SESSION_STATES)] = event.state.name(),
        ? openFor: &'static str [OneOf(OPEN_FOR)] = has_lines.then(|| OpenFor::new(event.state, &event.lines).name()),
        ? lines: Vec<LineStateVO<'a>> = has_lines.then(|| event.lines.iter().map(LineStateVO::from_domain).collect()),
    }
}

value_object! {
    /// A connection of an adapter to its venue.
    pub struct LineStateVO<'a> ("LineState")
    from (state: &'a LineState) {
        line: &'static str [OneOf(LINES)] = state.line.name(),
        up: bool = state.up,
        reason: Option<&'a str> = state.reason.as_deref(),
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

value_object! {
    /// Whether a scope may trade.
    pub struct TradingStateVO<'a> ("TradingState", golden)
    from (change: &'a TradingStateChange) {
        scope: AsText<RiskScope> = AsText(change.scope),
        state: &'static str [OneOf(TRADING_STATES)] = change.state.name(),
        dateTime: Millis = change.at.into(),
        reason: Option<&'a str> = change.reason.as_deref(),
        changedBy: Option<&'a str> = change.changed_by.as_deref(),
    }
}

value_object! {
    /// A line of the log.
    pub struct LogEventVO<'a> ("LogEvent", golden) {
        dateTime: Millis,
        level: &'static str [OneOf(LOG_LEVELS)],
        logger: &'a str,
        message: String,
        exceptionClass: Option<&'a str>,
        exceptionMessage: Option<&'a str>,
    }
}

impl<'a> LogEventVO<'a> {
    /// A line of the program's log; the underlying error is a separate field.
    pub fn of_line(at: Timestamp, level: &'static str, logger: &'a str, message: &str, error: Option<&'a str>) -> Self {
        let message = message.to_owned();
        Self { dateTime: at.into(), level, logger, message, exceptionClass: None, exceptionMessage: error }
    }

    /// An alarm's code leads the message, as it does in FIX texts.
    pub fn from_domain(at: Timestamp, alarm: &Alarm) -> Self {
        Self::of_line(at, level(alarm.level), "engine", &format!("{}: {}", alarm.code, alarm.text), None)
    }
}

fn level(level: AlarmLevel) -> &'static str {
    match level {
        AlarmLevel::Info => "INFO",
        AlarmLevel::Warn => "WARN",
        AlarmLevel::Error => "ERROR",
    }
}
