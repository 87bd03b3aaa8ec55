//! The steps of a contact: how each ended, and what all of them came to.

use std::fmt;

use domain::WireId;

/// One step, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContactStep {
    /// What was tried.
    pub name: &'static str,
    /// What came of it.
    pub outcome: StepOutcome,
}

/// How a step ended, with a text for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepOutcome {
    /// As it should.
    Ok(String),
    /// Not as it should.
    Failed(String),
    /// The venue or its adapter does not have it.
    NotOffered(String),
}

impl fmt::Display for ContactStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (outcome, text) = match &self.outcome {
            StepOutcome::Ok(text) => ("ok", text),
            StepOutcome::Failed(text) => ("failed", text),
            StepOutcome::NotOffered(text) => ("not offered", text),
        };
        let separator = if text.is_empty() { "" } else { ": " };
        write!(f, "{}: {outcome}{separator}{text}", self.name)
    }
}

/// What a contact came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContactOutcome {
    /// In the order in which they were tried.
    pub steps: Vec<ContactStep>,
    /// The client id of an order that may still be open.
    pub left_open: Option<WireId>,
    /// Somebody ended it early.
    pub is_interrupted: bool,
}

impl ContactOutcome {
    /// How many steps failed.
    pub fn failures(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step.outcome, StepOutcome::Failed(_))).count()
    }
}

/// Why a step did not pass.
pub(super) enum StepEnd {
    Failed(String),
    NotOffered(String),
}

impl From<String> for StepEnd {
    fn from(reason: String) -> Self {
        Self::Failed(reason)
    }
}

pub(super) type StepResult = Result<String, StepEnd>;
