//! Duplicates after a reconnect. The server sends events again: those that were received before are dropped, so that the
//! strategy receives each once. It repeats a phase whose completion it has not received: each phase is run once.

use std::collections::BTreeSet;

use domain::EventClass;
use domain::command::StrategyPhase;
use domain::lookup_map::fingerprint;
use runtime::strategies::protocol::StrategyRequestBody;

/// Each phase is run once, also when it is announced again.
#[derive(Debug, Default)]
pub(crate) struct PhaseTracker {
    announced: Option<StrategyPhase>,
    /// The completion message of the newest phase.
    completed: Option<(StrategyPhase, StrategyRequestBody)>,
}

#[derive(Debug, PartialEq)]
pub(crate) enum PhaseNotice {
    /// Not announced before.
    New,
    /// In progress.
    InProgress,
    /// Completed, but the completion was not received.
    Resend(StrategyRequestBody),
}

impl PhaseTracker {
    /// The server announces a phase.
    pub(crate) fn on_phase(&mut self, phase: StrategyPhase) -> PhaseNotice {
        if self.announced < Some(phase) {
            self.announced = Some(phase);
            return PhaseNotice::New;
        }
        match &self.completed {
            Some((entered, said)) if *entered == phase => PhaseNotice::Resend(said.clone()),
            _ => PhaseNotice::InProgress,
        }
    }

    /// The completion message of the newest phase that was completed.
    pub(crate) fn completed(&self) -> Option<&StrategyRequestBody> {
        self.completed.as_ref().map(|(_, completion)| completion)
    }

    /// The strategy sends a request, perhaps the completion of a phase.
    pub(crate) fn on_request(&mut self, request: &StrategyRequestBody) {
        if let StrategyRequestBody::Entered { phase, .. } = request {
            self.completed = Some((*phase, request.clone()));
        }
    }
}

/// Events that are kept; a gap is repeated from the newest sequence on, so few are needed.
const EVENTS_MAX: usize = 4_096;

/// Drops events that were received before.
#[derive(Debug, Default)]
pub(crate) struct DuplicateFilter {
    events: BTreeSet<(u64, u128)>,
    newest: u64,
}

impl DuplicateFilter {
    /// Whether an event is new.
    pub(crate) fn is_new(&mut self, sequence: u64, class: u8, payload: &[u8]) -> bool {
        // Changes of reference data are not replayed, and may overtake older events of its own.
        if class != EventClass::Reference as u8 {
            self.newest = self.newest.max(sequence);
        }
        let is_new = self.events.insert((sequence, fingerprint(&[&[class], payload])));
        if self.events.len() > EVENTS_MAX {
            self.events.pop_first();
        }
        is_new
    }

    /// All events of its own up to this sequence were received.
    pub(crate) fn newest(&self) -> u64 {
        self.newest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_gone_through_once_however_often_it_is_told() {
        let mut phases = PhaseTracker::default();
        assert_eq!(
            [phases.on_phase(StrategyPhase::Init), phases.on_phase(StrategyPhase::Init)],
            [PhaseNotice::New, PhaseNotice::InProgress]
        );
        let through = StrategyRequestBody::Entered { phase: StrategyPhase::Init, wishes: vec![] };
        phases.on_request(&through);
        phases.on_request(&StrategyRequestBody::Exit);
        assert_eq!(phases.on_phase(StrategyPhase::Init), PhaseNotice::Resend(through));
        assert_eq!(
            [phases.on_phase(StrategyPhase::Prefeed), phases.on_phase(StrategyPhase::Prefeed)],
            [PhaseNotice::New, PhaseNotice::InProgress]
        );
    }

    #[test]
    fn what_one_input_caused_is_several_events_and_each_is_heard_once() {
        let mut seen = DuplicateFilter::default();
        let told = [(5, 1, "a"), (5, 2, "a"), (5, 1, "a"), (6, 1, "a"), (5, 2, "a"), (5, 1, "b")];
        let new =
            told.map(|(sequence, class, payload): (u64, u8, &str)| seen.is_new(sequence, class, payload.as_bytes()));
        assert_eq!((new, seen.newest()), ([true, true, false, true, false, true], 6));
    }

    #[test]
    fn a_change_of_reference_data_does_not_say_that_older_events_were_received() {
        let (mut seen, reference) = (DuplicateFilter::default(), EventClass::Reference as u8);
        assert!(seen.is_new(5, EventClass::Fill as u8, b"a"));
        assert_eq!([seen.is_new(9, reference, b"a"), seen.is_new(9, reference, b"a")], [true, false]);
        assert_eq!(seen.newest(), 5);
    }
}
