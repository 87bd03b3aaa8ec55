//! What is new since the last check, in a run whose every step is checked.

/// What a check of a step looks at: where none of it is new, the same would be checked again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StepNews {
    pub(crate) durable: u64,
    /// Answers, reports and messages that clients have received by then.
    pub(crate) told: u64,
}
