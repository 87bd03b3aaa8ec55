//! What the FIX and STOMP sessions have come to.

use std::fmt;

use crate::fix_sessions::FixClient;
use crate::stomp_sessions::{StompCounts, TopicClient};

/// What the FIX sessions have come to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FixCoverage {
    logons: u64,
    gaps: u64,
    resends: u64,
    repeats: u64,
    requests: u64,
    reports: u64,
}

/// What the STOMP sessions have come to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StompCoverage {
    counts: StompCounts,
    /// Messages that a client had asked for again.
    again: u64,
}

impl FixCoverage {
    pub(super) fn add_client(&mut self, client: &FixClient) {
        let (session, counts) = (&client.session, client.session.counts);
        self.logons += counts.logons;
        self.gaps += counts.gaps;
        self.resends += counts.resends;
        self.repeats += counts.repeats;
        self.requests += session.sent.len() as u64;
        self.reports += session.received.len() as u64;
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.logons += other.logons;
        self.gaps += other.gaps;
        self.resends += other.resends;
        self.repeats += other.repeats;
        self.requests += other.requests;
        self.reports += other.reports;
    }
}

impl StompCoverage {
    pub(super) fn add_client(&mut self, client: &TopicClient) {
        self.counts.add(&client.counts);
        self.again += client.asked_again();
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        self.again += other.again;
    }
}

impl fmt::Display for FixCoverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>9}  Logons", self.logons)?;
        writeln!(f, "{:>9}  requests of clients", self.requests)?;
        writeln!(f, "{:>9}  reports and refusals received", self.reports)?;
        writeln!(f, "{:>9}  gaps that a client found", self.gaps)?;
        writeln!(f, "{:>9}  gaps that the platform found", self.resends)?;
        writeln!(f, "{:>9}  messages that came again", self.repeats)
    }
}

impl fmt::Display for StompCoverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { counts, again } = self;
        writeln!(f, "{:>9}  connections", counts.connects)?;
        writeln!(f, "{:>9}  messages of topics", counts.messages)?;
        writeln!(f, "{:>9}  of them replayed, {again} asked for again", counts.replayed)?;
        writeln!(f, "{:>9}  of them in snapshots", counts.shown)?;
        writeln!(f, "{:>9}  events of clients confirmed", counts.confirmed)?;
        writeln!(f, "{:>9}  times told that events were lost", counts.gaps)?;
        writeln!(f, "{:>9}  times cut off as too slow", counts.slow)
    }
}
