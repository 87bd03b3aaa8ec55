//! What is new since the last check, in a run whose every step is checked.

/// What a check of a step looks at: where none of it is new, the same would be checked again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct StepNews {
    pub(super) durable: u64,
    /// Answers, reports and messages that clients have received by then.
    pub(super) told: u64,
}
