//! Conformance kit: rules that every adapter must keep, run against a [`Harness`]. The author of an adapter supplies
//! the harness; the kit makes a new one for every rule and returns which rules were kept.

mod desk;
mod rules;

use std::fmt;

use domain::order::Terms;
use domain::report::Picture;
use domain::{Order, Timestamp};

use crate::venue::Adapter;
use desk::Desk;

/// Test environment of the adapter. It begins disconnected, with the market open.
pub trait Harness {
    /// Always the same adapter, until `restart`.
    fn adapter(&mut self) -> &mut dyn Adapter;

    fn now(&self) -> Timestamp;

    /// Lets enough time pass for the venue to answer.
    fn pass(&mut self);

    /// A new order with an id that was not used before; all for one security.
    fn order(&mut self, aim: Aim) -> Order;

    /// New terms for a resting order, with which it would still rest.
    fn other_terms(&self, order: &Order) -> Terms;

    /// Cuts the connection to the venue. Earlier requests have reached it; its reports are lost from now on.
    fn cut(&mut self);

    fn mend(&mut self);

    /// Adapter and, where it runs in the same process, venue crash and start again from their files.
    fn restart(&mut self);

    /// Reads the venue's durable state, where that is possible.
    fn witness(&self) -> Option<Witness>;
}

/// The venue's state if it crashed now.
pub type Witness = Box<dyn Fn() -> Picture>;

/// What an order does in the market of the harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// Rest in the book.
    Rest,
    /// Be filled in full at once.
    Trade,
}

/// A rule and whether it was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub rule: &'static str,
    pub verdict: Verdict,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Kept,
    /// What happened instead.
    Broken(String),
    /// The harness cannot test it.
    NotShown(&'static str),
}

/// Runs every rule in a harness of its own.
pub fn check<H: Harness>(make: impl Fn() -> H) -> Vec<Outcome> {
    let judge = |(rule, kept): (&'static str, rules::Rule<H>)| {
        let verdict = kept(&mut Desk::new(make())).err().unwrap_or(Verdict::Kept);
        Outcome { rule, verdict }
    };
    rules::all().into_iter().map(judge).collect()
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.verdict {
            Verdict::Kept => write!(f, "kept: {}", self.rule),
            Verdict::Broken(seen) => write!(f, "BROKEN: {}: {seen}", self.rule),
            Verdict::NotShown(why) => write!(f, "not shown: {}: {why}", self.rule),
        }
    }
}
