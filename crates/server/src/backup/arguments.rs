//! Command line of `rialto backup` and `rialto restore`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use domain::Timestamp;
use storage::journal::CopyLimit;

use crate::config::ConfigArgs;

#[derive(Debug, Args)]
pub struct BackupArgs {
    /// The folder of the backups; made where it is missing. Give the same one each time: only what is new is copied.
    #[arg(value_name = "BACKUP")]
    pub folder: PathBuf,
    /// Also read again what earlier backups brought there.
    #[arg(long)]
    pub verify: bool,
    #[command(flatten)]
    pub config: ConfigArgs,
}

#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// The folder of the backups.
    #[arg(value_name = "BACKUP")]
    pub folder: PathBuf,
    /// An instant, such as 2026-03-02T09:30:00Z, or seq:N [default: all that the newest backup has].
    #[arg(long, value_name = "POINT")]
    pub to: Option<PointInTime>,
    /// Go on under the same name. Only where the first folder is gone for good: two that trade under one name give the same ids.
    #[arg(long)]
    pub same_instance: bool,
    /// Make the folder that of a further member of the cluster to which the backup belongs: the journal as it is, nothing added. Start it
    /// with --cluster; it follows from where the backup ends.
    #[arg(long, conflicts_with = "same_instance")]
    pub as_member: bool,
    #[command(flatten)]
    pub config: ConfigArgs,
}

/// Under which name a restored folder goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoredIdentity {
    /// Its own.
    New,
    /// That of the first folder, which is gone.
    Same,
    /// That of the cluster; nothing may be written that its log does not have.
    Member,
}

impl RestoredIdentity {
    pub fn of_flags(same_instance: bool, as_member: bool) -> Self {
        match (same_instance, as_member) {
            (_, true) => Self::Member,
            (true, false) => Self::Same,
            (false, false) => Self::New,
        }
    }
}

/// A moment of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointInTime {
    Sequence(u64),
    Instant(Timestamp),
}

impl PointInTime {
    pub(super) fn limit(point: Option<Self>) -> CopyLimit {
        match point {
            None => CopyLimit::NONE,
            Some(Self::Sequence(sequence)) => CopyLimit::at_sequence(sequence),
            Some(Self::Instant(at)) => CopyLimit { time: at.0, ..CopyLimit::NONE },
        }
    }
}

impl FromStr for PointInTime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is neither an instant, such as 2026-03-02T09:30:00Z, nor seq:N");
        match text.strip_prefix("seq:") {
            Some(number) => number.parse().map(Self::Sequence).map_err(|_| wrong()),
            None => text.parse().map(Self::Instant).map_err(|_| wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_sequence_or_an_instant() {
        assert_eq!("seq:17".parse(), Ok(PointInTime::Sequence(17)));
        let instant: Timestamp = "2026-03-02T09:30:00Z".parse().unwrap();
        assert_eq!("2026-03-02T09:30:00Z".parse(), Ok(PointInTime::Instant(instant)));
        for bad in ["", "17", "seq:", "seq:-1", "yesterday"] {
            let refused = bad.parse::<PointInTime>().unwrap_err();
            assert_eq!(refused, format!("'{bad}' is neither an instant, such as 2026-03-02T09:30:00Z, nor seq:N"));
        }
    }
}
