//! How far a strategy has come in this life. After a cut the server tells of a phase again that it has not heard the end of;
//! the strategy goes through each once.

use domain::command::Phase;
use runtime::strategies::protocol::Request;

#[derive(Debug, Default)]
pub(super) struct Phases {
    told: Option<Phase>,
    /// What was said of the newest phase that the strategy has gone through.
    entered: Option<(Phase, Request)>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Telling {
    /// The strategy does not know of it.
    New,
    /// The strategy is at it.
    UnderWay,
    /// It has gone through it and said so, in vain.
    SayAgain(Request),
}

impl Phases {
    /// The server tells of a phase.
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

    /// The strategy says something, perhaps that it has gone through a phase.
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
