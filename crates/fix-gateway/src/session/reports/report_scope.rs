//! Report scope: whose orders a session reports on. A client is told of its own orders, a drop copy session of those of others.

use std::sync::Arc;

use domain::{AccountId, Event, Order, ReferenceData, Source, StrategyId, Text};
use fix::DropCopyRule;

#[derive(Debug, Clone)]
pub(crate) enum ReportScope {
    /// Orders of the client of this CompID, and the answers to its requests.
    Client(Text),
    /// Orders of others, by rule.
    Copies(Arc<DropCopyRule>),
}

impl ReportScope {
    /// Whether the session reports this event.
    pub(crate) fn covers(&self, event: &Event, reference: &ReferenceData) -> bool {
        match self {
            Self::Client(comp_id) => comp_id_of(event) == Some(comp_id),
            Self::Copies(rule) => is_copied(rule, event, reference),
        }
    }

    pub(crate) fn covers_order(&self, order: &Order, reference: &ReferenceData) -> bool {
        match self {
            Self::Client(comp_id) => order.source.session() == Some(comp_id),
            Self::Copies(rule) => is_in_lists(rule, &order.source, order.account, order.strategy, reference),
        }
    }
}

/// The client that an event concerns.
pub(crate) fn comp_id_of(event: &Event) -> Option<&Text> {
    match event {
        Event::OrderStatus(status) => status.client.as_ref()?.comp_id.as_ref(),
        Event::Refused(refused) => refused.source.session(),
        Event::MassCancel(cancel) => cancel.source.session(),
        _ => None,
    }
}

/// A refusal is no change of an order, and is between the client and us.
pub(crate) fn is_copied(rule: &DropCopyRule, event: &Event, reference: &ReferenceData) -> bool {
    let Event::OrderStatus(status) = event else { return false };
    let view = status.client.as_ref();
    let source = view.and_then(|view| view.source());
    let Some((view, source)) = view.zip(source) else { return false };
    is_in_lists(rule, &source, view.account, status.strategy, reference)
}

fn is_in_lists(
    rule: &DropCopyRule,
    source: &Source,
    account: AccountId,
    strategy: StrategyId,
    reference: &ReferenceData,
) -> bool {
    let account_name = || reference.accounts.get(&account).map(|account| account.name.to_string());
    let strategy_name = || reference.strategies.get(&strategy).map(|strategy| strategy.name.to_string());
    is_listed(&rule.sources, || [Some(interface(source).to_owned()), None])
        && is_listed(&rule.sessions, || [source.session().map(ToString::to_string), None])
        && is_listed(&rule.accounts, || [Some(account.0.to_string()), account_name()])
        && is_listed(&rule.strategies, || [Some(strategy.0.to_string()), strategy_name()])
}

/// An empty list has all.
fn is_listed(list: &[String], names: impl FnOnce() -> [Option<String>; 2]) -> bool {
    list.is_empty() || names().iter().flatten().any(|name| list.contains(name))
}

/// As in the session file.
fn interface(source: &Source) -> &'static str {
    match source {
        Source::Fix(_) => "FIX",
        Source::Rest => "REST",
        Source::Ui => "UI",
        Source::Strategy => "STRATEGY",
        Source::Platform => "PLATFORM",
        Source::External => "EXTERNAL",
    }
}

/// Accounts and strategies of a rule that are not in the reference data: they may come later, or be misspelt.
pub(crate) fn unknown_names(rule: &DropCopyRule, reference: &ReferenceData) -> Vec<String> {
    let is_account = |name: &String| {
        reference.accounts.values().any(|account| *account.name == **name || account.id.0.to_string() == *name)
    };
    let is_strategy = |name: &String| {
        reference.strategies.values().any(|strategy| *strategy.name == **name || strategy.id.0.to_string() == *name)
    };
    let accounts = rule.accounts.iter().filter(|name| !is_account(name));
    let accounts = accounts.map(|name| format!("DropCopyAccounts: there is no account {name}"));
    let strategies = rule.strategies.iter().filter(|name| !is_strategy(name));
    accounts.chain(strategies.map(|name| format!("DropCopyStrategies: there is no strategy {name}"))).collect()
}
