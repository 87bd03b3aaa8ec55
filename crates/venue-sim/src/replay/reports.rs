//! Reports of matching before they are sent, and the ids in them.

use domain::report::ReportKind;
use domain::{OrderId, Text};

use super::config::ReplayConfig;

/// Reports of matching, before they are sent.
pub(super) type Reports = Vec<ReportKind>;

/// Id generator for orders and executions.
#[derive(Debug)]
pub(super) struct ReplayIds {
    name: Text,
    /// Prefix of an execution's number: the rule and the venue.
    execution: String,
    orders: u64,
    executions: u64,
}

impl ReplayIds {
    pub(super) fn new(config: &ReplayConfig) -> Self {
        let execution = format!("{}:{}-", config.rule.name(), config.name);
        Self { name: config.name.clone(), execution, orders: 0, executions: 0 }
    }

    pub(super) fn order(&mut self) -> Text {
        self.orders += 1;
        Text::numbered(&[&self.name, "-O"], self.orders)
    }

    /// The id of an execution: its prefix is the fill rule.
    pub(super) fn execution(&mut self) -> Text {
        self.executions += 1;
        Text::numbered(&[&self.execution], self.executions)
    }
}

pub(super) fn rejected(order: OrderId, reason: &str) -> ReportKind {
    ReportKind::Rejected { order, reason: reason.into() }
}
