//! Conformance kit: rules that every adapter must keep, run against a [`Harness`]. The author of an adapter supplies
//! the harness; the kit makes a new one for every rule and returns which rules were kept.

mod conformance_client;
mod rules;

use std::fmt;

use domain::order::OrderTerms;
use domain::report::VenueSnapshot;
use domain::{Order, Timestamp};

use crate::venue::Adapter;
use conformance_client::ConformanceClient;

/// Test environment of the adapter. It begins disconnected, with the market open.
pub trait Harness {
    /// Always the same adapter, until `restart`.
    fn adapter(&mut self) -> &mut dyn Adapter;

    fn now(&self) -> Timestamp;

    /// Lets enough time pass for the venue to answer.
    fn advance(&mut self);

    /// A new order with an id that was not used before; all for one security.
    fn order(&mut self, aim: OrderIntent) -> Order;

    /// New terms for a resting order, with which it would still rest.
    fn other_terms(&self, order: &Order) -> OrderTerms;

    /// Cuts the connection to the venue. Earlier requests have reached it; its reports are lost from now on.
    fn disconnect(&mut self);

    fn reconnect(&mut self);

    /// Adapter and, where it runs in the same process, venue crash and start again from their files.
    fn restart(&mut self);

    /// Reads the venue's durable state, where that is possible.
    fn durable_view(&self) -> Option<DurableView>;
}

/// The venue's state if it crashed now.
pub type DurableView = Box<dyn Fn() -> VenueSnapshot>;

/// What an order does in the market of the harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderIntent {
    /// Rest in the book.
    Rest,
    /// Be filled in full at once.
    Trade,
}

/// A rule and whether it was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleOutcome {
    pub rule: &'static str,
    pub verdict: RuleVerdict,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleVerdict {
    Passed,
    /// What happened instead.
    Failed(String),
    /// The harness cannot test it.
    NotSupported(&'static str),
}

/// Runs every rule in a harness of its own.
pub fn check<H: Harness>(make: impl Fn() -> H) -> Vec<RuleOutcome> {
    let judge = |(rule, kept): (&'static str, rules::Rule<H>)| {
        let verdict = kept(&mut ConformanceClient::new(make())).err().unwrap_or(RuleVerdict::Passed);
        RuleOutcome { rule, verdict }
    };
    rules::all().into_iter().map(judge).collect()
}

impl fmt::Display for RuleOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.verdict {
            RuleVerdict::Passed => write!(f, "kept: {}", self.rule),
            RuleVerdict::Failed(seen) => write!(f, "BROKEN: {}: {seen}", self.rule),
            RuleVerdict::NotSupported(why) => write!(f, "not shown: {}: {why}", self.rule),
        }
    }
}
