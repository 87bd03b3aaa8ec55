//! What is wrong at the moment: lines to venues, connections of clients, a bit that flipped.

use std::path::PathBuf;

use domain::{CommandEnvelope, SeededRng};
use venue_sim::Faults;

use crate::http_clients::HttpLine;
use crate::request_log::Intent;
use crate::schedule::{HttpClientKind, LinkFault, MILLI, OPERATOR, USER_CLIENTS};

pub(crate) struct Links {
    /// By client: what is wrong, and until when.
    faults: [Option<(LinkFault, i64)>; OPERATOR + 1],
    delayed: Vec<DelayedRequest>,
    rng: SeededRng,
}

pub(crate) struct DelayedRequest {
    due: i64,
    pub(crate) client: usize,
    pub(crate) intent: Intent,
    pub(crate) envelope: CommandEnvelope,
}

impl Links {
    pub(crate) fn new(seed: u64) -> Self {
        Self { faults: [None; OPERATOR + 1], delayed: vec![], rng: SeededRng::new(seed, 3) }
    }

    pub(crate) fn set_fault(&mut self, client: usize, fault: LinkFault, until: i64) {
        self.faults[client] = Some((fault, until));
    }

    /// What is under way still arrives.
    pub(crate) fn heal(&mut self) {
        self.faults = [None; OPERATOR + 1];
    }

    pub(crate) fn next_due(&self) -> i64 {
        self.delayed.iter().map(|request| request.due).min().unwrap_or(i64::MAX)
    }

    pub(crate) fn fault_of(&self, client: usize, now: i64) -> Option<LinkFault> {
        self.faults[client].filter(|(_, until)| now < *until).map(|(fault, _)| fault)
    }

    /// The request arrives later.
    pub(crate) fn hold_back(&mut self, now: i64, client: usize, intent: Intent, envelope: CommandEnvelope) {
        let due = now + self.rng.between(MILLI, LinkFault::DELAY_MAX);
        self.delayed.push(DelayedRequest { due, client, intent, envelope });
    }

    pub(crate) fn take_due(&mut self, now: i64) -> Vec<DelayedRequest> {
        let (due, later) = std::mem::take(&mut self.delayed).into_iter().partition(|request| request.due <= now);
        self.delayed = later;
        due
    }
}

/// Lines of those who use HTTP beside the traders' orders.
pub(crate) struct HttpLines {
    pub(crate) reader: HttpLine,
    pub(crate) administrator: HttpLine,
    pub(crate) users: [HttpLine; USER_CLIENTS],
}

impl HttpLines {
    pub(crate) fn new(seed: u64) -> Self {
        let line = |stream| HttpLine::new(SeededRng::new(seed, stream));
        Self {
            reader: line(1_010),
            administrator: line(1_011),
            users: std::array::from_fn(|user| line(1_012 + user as u64)),
        }
    }

    pub(crate) fn all(&mut self) -> impl Iterator<Item = &mut HttpLine> {
        [&mut self.reader, &mut self.administrator].into_iter().chain(&mut self.users)
    }

    pub(crate) fn set_fault(&mut self, caller: HttpClientKind, fault: LinkFault, until: i64) {
        let line = match caller {
            HttpClientKind::Reader => &mut self.reader,
            HttpClientKind::Administrator => &mut self.administrator,
            HttpClientKind::User(user) => &mut self.users[user],
        };
        line.set_fault(fault, until);
    }

    pub(crate) fn next_due(&self) -> i64 {
        let users = self.users.iter().map(HttpLine::next_due).min().unwrap_or(i64::MAX);
        self.reader.next_due().min(self.administrator.next_due()).min(users)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct FlippedBit {
    pub(crate) path: PathBuf,
    pub(crate) offset: u64,
    pub(crate) before: u8,
    pub(crate) after: u8,
}

impl FlippedBit {
    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// The line to a venue: until when it is faulty, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VenueLine {
    pub(crate) faulty_until: i64,
    pub(crate) faults: Faults,
}

impl VenueLine {
    pub(crate) fn working(seed: u64) -> Self {
        Self { faulty_until: 0, faults: Faults { seed, ..Faults::default() } }
    }
}
