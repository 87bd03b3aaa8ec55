//! Rules that any adapter can be run through. Whoever writes an adapter gives the kit a world around it that can be
//! steered, a [`Harness`]; the kit makes a new one for every rule and says which rules were kept.

/// Somebody who trades through the adapter under test and writes down what is said.
mod desk;
/// The rules.
mod rules;

use std::fmt;

use domain::order::Terms;
use domain::report::Picture;
use domain::{Order, Timestamp};

use crate::venue::Adapter;
use desk::Desk;

/// The world around the adapter under test. It begins disconnected, with the market open.
pub trait Harness {
    /// Always the same adapter, until `restart`.
    fn adapter(&mut self) -> &mut dyn Adapter;

    fn now(&self) -> Timestamp;

    /// Lets so much time pass that the venue has surely answered.
    fn pass(&mut self);

    /// A new order with an id that was not used before; all for one security.
    fn order(&mut self, aim: Aim) -> Order;

    /// Other terms for a resting order, with which it would still rest.
    fn other_terms(&self, order: &Order) -> Terms;

    /// Cuts the line to the venue. What was sent before has reached it; what it says from now on is lost.
    fn cut(&mut self);

    fn mend(&mut self);

    /// Adapter and, where it lives beside it, venue die without a word and start again from what they wrote.
    fn restart(&mut self);

    /// Reads what the venue has written down, where that can be had.
    fn witness(&self) -> Option<Witness>;
}

/// What the venue would still know if it died at this moment.
pub type Witness = Box<dyn Fn() -> Picture>;

/// What an order shall do in the market of the harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// Stand in the book.
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
    /// What was seen instead.
    Broken(String),
    /// The harness cannot show it.
    NotShown(&'static str),
}

/// Runs every rule in a world of its own.
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
