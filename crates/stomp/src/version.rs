//! STOMP versions and their negotiation.

use std::fmt;

/// A version of STOMP. Later ones are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StompVersion {
    V10,
    V11,
    V12,
}

impl StompVersion {
    pub const ALL: [Self; 3] = [Self::V10, Self::V11, Self::V12];

    /// All supported versions, as an ERROR frame lists them.
    pub const SUPPORTED: &'static str = "1.0,1.1,1.2";

    pub fn name(self) -> &'static str {
        match self {
            Self::V10 => "1.0",
            Self::V11 => "1.1",
            Self::V12 => "1.2",
        }
    }

    /// The highest version that both sides support. A client that names none speaks 1.0.
    pub fn highest_common(accepted: Option<&str>) -> Option<Self> {
        let Some(accepted) = accepted else {
            return Some(Self::V10);
        };
        let speaks = |version: &Self| accepted.split(',').any(|name| name.trim() == version.name());
        Self::ALL.into_iter().rfind(speaks)
    }
}

impl fmt::Display for StompVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_common_version_is_chosen() {
        let chosen = |accepted| StompVersion::highest_common(accepted).map(StompVersion::name);
        assert_eq!(chosen(None), Some("1.0"));
        assert_eq!(chosen(Some("1.0,1.1,1.2")), Some("1.2"));
        assert_eq!(chosen(Some("1.1, 1.0,2.0")), Some("1.1"));
        assert_eq!(chosen(Some("1.3,2.1")), None);
        assert_eq!(chosen(Some("")), None);
    }
}
