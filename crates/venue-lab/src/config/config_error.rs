//! Why a configuration cannot be used.

/// It names the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabConfigError(pub String);

impl std::fmt::Display for LabConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LabConfigError {}
