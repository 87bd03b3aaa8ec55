//! Phase tracker: each phase is run once, also when it is announced again. After a reconnect the server repeats a phase
//! whose completion it has not received.

use domain::command::StrategyPhase;
use runtime::strategies::protocol::StrategyRequestBody;

#[derive(Debug, Default)]
pub(super) struct PhaseTracker {
    announced: Option<StrategyPhase>,
    /// The completion message of the newest phase.
    completed: Option<(StrategyPhase, StrategyRequestBody)>,
}

#[derive(Debug, PartialEq)]
pub(super) enum PhaseNotice {
    /// Not announced before.
    New,
    /// In progress.
    InProgress,
    /// Completed, but the completion was not received.
    Resend(StrategyRequestBody),
}

impl PhaseTracker {
    /// The server announces a phase.
    pub(super) fn on_phase(&mut self, phase: StrategyPhase) -> PhaseNotice {
        if self.announced < Some(phase) {
            self.announced = Some(phase);
            return PhaseNotice::New;
        }
        match &self.completed {
            Some((entered, said)) if *entered == phase => PhaseNotice::Resend(said.clone()),
            _ => PhaseNotice::InProgress,
        }
    }

    /// The strategy sends a request, perhaps the completion of a phase.
    pub(super) fn on_request(&mut self, request: &StrategyRequestBody) {
        if let StrategyRequestBody::Entered { phase, .. } = request {
            self.completed = Some((*phase, request.clone()));
        }
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
}
