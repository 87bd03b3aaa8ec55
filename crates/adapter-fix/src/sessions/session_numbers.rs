//! Sequence numbers of a session as a line of text, in its file and in the journal.

use std::fmt;

use fix::{SeqNum, UtcTimestamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SessionNumbers {
    /// When both sides began at 1.
    pub(crate) created: UtcTimestamp,
    /// The next number of each direction.
    pub(crate) outgoing: SeqNum,
    pub(crate) incoming: SeqNum,
}

impl SessionNumbers {
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let created = words.next()?.parse().ok().map(UtcTimestamp::from_nanos)?;
        let (outgoing, incoming) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        words.next().is_none().then_some(Self { created, outgoing, incoming })
    }

    /// Where a session goes on. Behind the file the journal has what another member used; the file alone can have what this one used
    /// where the journal lost its end. A number that is too high costs the venue a question, one that is too low the session.
    pub(crate) fn latest(file: Option<Self>, journal: Option<Self>) -> Option<Self> {
        match (file, journal) {
            (Some(file), Some(journal)) if file.created > journal.created => Some(file),
            (Some(file), Some(journal)) if file.created == journal.created => {
                Some(Self { outgoing: file.outgoing.max(journal.outgoing), ..journal })
            }
            (file, journal) => journal.or(file),
        }
    }
}

impl fmt::Display for SessionNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.created.nanos(), self.outgoing, self.incoming)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(line: &str) -> Option<SessionNumbers> {
        SessionNumbers::parse(line)
    }

    #[test]
    fn a_session_goes_on_behind_everything_that_may_have_been_used() {
        let latest =
            |file, journal| SessionNumbers::latest(numbers(file), numbers(journal)).map(|line| line.to_string());
        let line = |text: &str| Some(text.to_owned());
        assert_eq!(latest("", ""), None);
        assert_eq!(latest("5 3 7", ""), line("5 3 7"), "from before there was a cluster");
        assert_eq!(latest("", "5 1003 6"), line("5 1003 6"), "this member never led");
        assert_eq!(latest("5 3 90", "5 1003 6"), line("5 1003 6"), "another member has led since");
        assert_eq!(latest("5 1200 90", "5 1003 6"), line("5 1200 6"), "the journal lost its end");
        assert_eq!(latest("5 900 90", "6 1003 1"), line("6 1003 1"), "another member has begun anew since");
        assert_eq!(latest("7 2 1", "6 1003 1"), line("7 2 1"), "this member has begun anew, and the journal lost it");
    }
}
