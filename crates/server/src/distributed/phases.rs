//! Phase tracker: each phase is run once, also when it is announced again. After a reconnect the server repeats a phase
//! whose completion it has not received.

use domain::command::Phase;
use runtime::strategies::protocol::Request;

#[derive(Debug, Default)]
pub(super) struct Phases {
    told: Option<Phase>,
    /// The completion message of the newest phase.
    entered: Option<(Phase, Request)>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Telling {
    /// Not announced before.
    New,
    /// In progress.
    UnderWay,
    /// Completed, but the completion was not received.
    SayAgain(Request),
}

impl Phases {
    /// The server announces a phase.
    pub(super) fn tell(&mut self, phase: Phase) -> Telling {
        if self.told < Some(phase) {
            self.told = Some(phase);
            return Telling::New;
        }
        match &self.entered {
            Some((entered, said)) if *entered == phase => Telling::SayAgain(said.clone()),
            _ => Telling::UnderWay,
        }
    }

    /// The strategy sends a request, perhaps the completion of a phase.
    pub(super) fn said(&mut self, request: &Request) {
        if let Request::Entered { phase, .. } = request {
            self.entered = Some((*phase, request.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_gone_through_once_however_often_it_is_told() {
        let mut phases = Phases::default();
        assert_eq!([phases.tell(Phase::Init), phases.tell(Phase::Init)], [Telling::New, Telling::UnderWay]);
        let through = Request::Entered { phase: Phase::Init, wishes: vec![] };
        phases.said(&through);
        phases.said(&Request::Leave);
        assert_eq!(phases.tell(Phase::Init), Telling::SayAgain(through));
        assert_eq!([phases.tell(Phase::Prefeed), phases.tell(Phase::Prefeed)], [Telling::New, Telling::UnderWay]);
    }
}
