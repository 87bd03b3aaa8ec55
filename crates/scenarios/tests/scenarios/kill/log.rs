//! Responses to clients, and the outcomes.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

/// An order that was sent. Its note is unique, so that it can be found without an id.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    pub(crate) note: String,
    pub(crate) order: Value,
    pub(crate) outcome: Outcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Acknowledged {
        int_id: String,
    },
    Refused {
        status: u16,
        code: String,
    },
    /// Sent, and the server was killed before it answered.
    Unknown,
    /// It was unknown, and the restart showed: it had been taken.
    TurnedOutTaken,
    /// It was unknown, and the restart showed: it had never been.
    TurnedOutNever,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ClientLog {
    pub(crate) orders: Vec<Attempt>,
    /// Ids that `/next-order-id` gave.
    pub(crate) ids: Vec<String>,
}

impl Attempt {
    /// The id that the client brought.
    pub(crate) fn brought_id(&self) -> Option<&str> {
        self.order["intId"].as_str()
    }
}

impl ClientLog {
    pub(crate) fn absorb(&mut self, other: Self) {
        self.orders.extend(other.orders);
        self.ids.extend(other.ids);
    }

    /// Writes down what a restart showed of an order.
    pub(crate) fn settle(&mut self, attempt: &Attempt, outcome: Outcome) {
        let known = self.orders.iter_mut().rev().find(|known| known.note == attempt.note);
        known.expect("it was logged").outcome = outcome;
    }

    /// How often each refusal came.
    pub(crate) fn refusals(&self) -> BTreeMap<&str, usize> {
        let mut refusals = BTreeMap::new();
        for attempt in &self.orders {
            if let Outcome::Refused { code, .. } = &attempt.outcome {
                *refusals.entry(code.as_str()).or_default() += 1;
            }
        }
        refusals
    }

    fn count(&self, fits: impl Fn(&Outcome) -> bool) -> usize {
        self.orders.iter().filter(|attempt| fits(&attempt.outcome)).count()
    }
}

impl fmt::Display for ClientLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "orders {}, acknowledged {}, refused {} {:?}, unknown {} (taken {}, never {}), ids given {}",
            self.orders.len(),
            self.count(|outcome| matches!(outcome, Outcome::Acknowledged { .. })),
            self.count(|outcome| matches!(outcome, Outcome::Refused { .. })),
            self.refusals(),
            self.count(|outcome| matches!(outcome, Outcome::TurnedOutTaken | Outcome::TurnedOutNever)),
            self.count(|outcome| *outcome == Outcome::TurnedOutTaken),
            self.count(|outcome| *outcome == Outcome::TurnedOutNever),
            self.ids.len(),
        )
    }
}
