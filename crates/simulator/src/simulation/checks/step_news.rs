//! What is new since the last check, in a run whose every step is checked.

/// What a check of a step looks at: where none of it is new, the same would be checked again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::simulation) struct StepNews {
    pub(in crate::simulation) durable: u64,
    /// Answers, reports and messages that clients have received by then.
    pub(in crate::simulation) told: u64,
}
