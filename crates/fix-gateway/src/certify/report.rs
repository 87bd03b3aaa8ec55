//! Steps of the plan and what became of each.

use std::collections::BTreeMap;
use std::fmt;

/// A step of the plan, in the order in which a client takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CertificationStep {
    Logon,
    TestRequest,
    Gap,
    SequenceReset,
    NewOrder,
    Resend,
    PossDup,
    Fill,
    Replace,
    Cancel,
    Reject,
    UniqueIds,
    ValidMessages,
    Heartbeat,
    Logout,
}

impl CertificationStep {
    pub const ALL: [Self; 15] = [
        Self::Logon,
        Self::TestRequest,
        Self::Gap,
        Self::SequenceReset,
        Self::NewOrder,
        Self::Resend,
        Self::PossDup,
        Self::Fill,
        Self::Replace,
        Self::Cancel,
        Self::Reject,
        Self::UniqueIds,
        Self::ValidMessages,
        Self::Heartbeat,
        Self::Logout,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Logon => "logon",
            Self::TestRequest => "test-request",
            Self::Gap => "gap",
            Self::SequenceReset => "sequence-reset",
            Self::NewOrder => "new-order",
            Self::Resend => "resend",
            Self::PossDup => "poss-dup",
            Self::Fill => "fill",
            Self::Replace => "replace",
            Self::Cancel => "cancel",
            Self::Reject => "reject",
            Self::UniqueIds => "unique-ids",
            Self::ValidMessages => "valid-messages",
            Self::Heartbeat => "heartbeat",
            Self::Logout => "logout",
        }
    }

    /// What the client is to do; what it does by itself begins with "by itself".
    pub fn expects(self) -> &'static str {
        match self {
            Self::Logon => "log on",
            Self::TestRequest => "by itself: a Heartbeat (0) with our TestReqID (112)",
            Self::Gap => "by itself: a Resend Request (2) for the number that we leave out",
            Self::SequenceReset => "by itself: goes on behind our gap fill (4)",
            Self::NewOrder => "send a New Order Single (D) for 100: it rests",
            Self::Resend => "by itself: answers our Resend Request (2) with what it sent, or with gap fills",
            Self::PossDup => "by itself: what it sends again has PossDupFlag (43) and OrigSendingTime (122)",
            Self::Fill => "send a New Order Single (D) for 200: it is filled in two executions",
            Self::Replace => "replace (G) the order that rests",
            Self::Cancel => "cancel (F) the order that rests",
            Self::Reject => "send a New Order Single (D) for 300: it is rejected, and the session goes on",
            Self::UniqueIds => "by itself: every ClOrdID (11) is new, except with PossResend (97)",
            Self::ValidMessages => "by itself: every message keeps the dictionary, and ours are not rejected",
            Self::Heartbeat => "wait for a heartbeat interval: a Heartbeat (0) without our asking",
            Self::Logout => "log out (5)",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CertificationVerdict {
    Passed,
    /// With the reason.
    Failed(String),
    NotSeen,
}

/// The verdict on each step; a failure stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CertificationReport(BTreeMap<CertificationStep, CertificationVerdict>);

impl CertificationReport {
    pub fn verdict(&self, step: CertificationStep) -> &CertificationVerdict {
        self.0.get(&step).unwrap_or(&CertificationVerdict::NotSeen)
    }

    /// Whether it is new.
    pub(super) fn pass(&mut self, step: CertificationStep) -> bool {
        let is_new = *self.verdict(step) == CertificationVerdict::NotSeen;
        if is_new {
            self.0.insert(step, CertificationVerdict::Passed);
        }
        is_new
    }

    /// Whether it is new; the first reason stays.
    pub(super) fn fail(&mut self, step: CertificationStep, reason: String) -> bool {
        let is_new = !matches!(self.verdict(step), CertificationVerdict::Failed(_));
        if is_new {
            self.0.insert(step, CertificationVerdict::Failed(reason));
        }
        is_new
    }

    fn count(&self, is_meant: impl Fn(&CertificationVerdict) -> bool) -> usize {
        CertificationStep::ALL.into_iter().filter(|step| is_meant(self.verdict(*step))).count()
    }

    pub fn failed(&self) -> usize {
        self.count(|verdict| matches!(verdict, CertificationVerdict::Failed(_)))
    }

    /// One line of the report.
    pub(super) fn line(&self, step: CertificationStep) -> String {
        match self.verdict(step) {
            CertificationVerdict::Passed => format!("passed    {}", step.name()),
            CertificationVerdict::Failed(reason) => format!("FAILED    {}: {reason}", step.name()),
            CertificationVerdict::NotSeen => format!("not seen  {}: {}", step.name(), step.expects()),
        }
    }
}

impl fmt::Display for CertificationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in CertificationStep::ALL {
            writeln!(f, "{}", self.line(step))?;
        }
        let passed = self.count(|verdict| *verdict == CertificationVerdict::Passed);
        let unseen = self.count(|verdict| *verdict == CertificationVerdict::NotSeen);
        write!(f, "{passed} passed, {} failed, {unseen} not seen", self.failed())
    }
}
