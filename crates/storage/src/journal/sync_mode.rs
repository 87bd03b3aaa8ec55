//! When written bytes are forced to the disk: `always`, `interval:<ms>` or `os`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::StorageError;

const LONGEST_INTERVAL_MS: u64 = 60_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SyncMode {
    /// Each commit is synced before it counts as durable: it survives a power cut.
    #[default]
    Always,
    /// Written counts as durable; a power cut may take what was written since the last sync.
    Interval(Duration),
    /// Written counts as durable; the system decides when it reaches the disk. A killed process loses nothing.
    Os,
}

impl fmt::Display for SyncMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Always => f.write_str("always"),
            Self::Interval(every) => write!(f, "interval:{}", every.as_millis()),
            Self::Os => f.write_str("os"),
        }
    }
}

impl FromStr for SyncMode {
    type Err = StorageError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "always" => return Ok(Self::Always),
            "os" => return Ok(Self::Os),
            _ => {}
        }
        match text.strip_prefix("interval:").map(str::parse) {
            Some(Ok(ms @ 1..=LONGEST_INTERVAL_MS)) => Ok(Self::Interval(Duration::from_millis(ms))),
            _ => Err(StorageError::Setting {
                name: "journal.sync",
                reason: format!("'{text}' is none of always, interval:<ms> (1 to {LONGEST_INTERVAL_MS}), os"),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_printed_as_they_are_written() {
        for text in ["always", "interval:5", "interval:60000", "os"] {
            assert_eq!(text.parse::<SyncMode>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_wrong_mode_is_refused_with_the_right_ones() {
        for text in ["", "Always", "interval", "interval:", "interval:0", "interval:60001", "interval:-1"] {
            let refused = text.parse::<SyncMode>().unwrap_err().to_string();
            let expected = format!("journal.sync: '{text}' is none of always, interval:<ms> (1 to 60000), os");
            assert_eq!(refused, expected);
        }
    }
}
