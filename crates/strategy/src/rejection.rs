//! Rejection of a command.

use domain::{Command, Text};

/// A refused command, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRejection {
    /// The command.
    pub command: Command,
    /// Stable, kebab-case; the same codes as at every other interface.
    pub code: Text,
    /// For people, with the numbers behind it.
    pub reason: Text,
}
