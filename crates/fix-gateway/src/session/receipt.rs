//! Read confirmation: a Test Request after reports that the client may have missed; only its answer proves that they
//! were read. After a sequence reset unconfirmed reports are sent again.

/// Begins with a Logon and ends with its connection.
#[derive(Debug, Default)]
pub(crate) struct Receipt {
    /// Whether anything was sent that the client has not confirmed.
    is_owed: bool,
    stage: Stage,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    CatchingUp,
    /// Until the Test Request after this sequence is answered.
    Asked(u64),
    Settled,
}

/// What to do when a client has caught up.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// There was nothing to read.
    Needless,
    /// A Test Request with this TestReqID (112).
    AskFor(String),
    /// A session that fell behind catches up once more: its reports belong to the present connection.
    Later,
}

impl Receipt {
    pub(crate) fn new(is_owed: bool) -> Self {
        Self { is_owed, stage: Stage::CatchingUp }
    }

    /// A report is sent that the client may have missed.
    pub(crate) fn owe(&mut self) {
        self.is_owed = true;
    }

    /// Everything up to this sequence is sent.
    pub(crate) fn caught_up(&mut self, sequence: u64) -> Proof {
        match (&self.stage, self.is_owed) {
            (Stage::CatchingUp, true) => {
                self.stage = Stage::Asked(sequence);
                Proof::AskFor(test_req_id(sequence))
            }
            (Stage::CatchingUp, false) => {
                self.stage = Stage::Settled;
                Proof::Needless
            }
            (Stage::Asked(_) | Stage::Settled, _) => Proof::Later,
        }
    }

    /// The sequence up to which the client has read everything, where this is the expected answer.
    pub(crate) fn answered(&mut self, id: &[u8]) -> Option<u64> {
        match self.stage {
            Stage::Asked(sequence) if test_req_id(sequence).as_bytes() == id => {
                self.stage = Stage::Settled;
                Some(sequence)
            }
            Stage::Asked(_) | Stage::CatchingUp | Stage::Settled => None,
        }
    }
}

fn test_req_id(sequence: u64) -> String {
    format!("TOLD-{sequence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_expected_test_request_answer_confirms_and_only_once() {
        let mut receipt = Receipt::new(false);
        receipt.owe();
        assert_eq!(receipt.answered(b"TOLD-7"), None);
        assert_eq!(receipt.caught_up(7), Proof::AskFor("TOLD-7".to_owned()));
        assert_eq!(receipt.answered(b"TEST"), None);
        // A session that fell behind catches up again: the mark of its Logon stays.
        assert_eq!(receipt.caught_up(9), Proof::Later);
        assert_eq!(receipt.answered(b"TOLD-9"), None);
        assert_eq!(receipt.answered(b"TOLD-7"), Some(7));
        assert_eq!(receipt.answered(b"TOLD-7"), None);
    }

    #[test]
    fn a_client_that_missed_nothing_needs_no_confirmation() {
        assert_eq!(Receipt::new(false).caught_up(7), Proof::Needless);
        assert_eq!(Receipt::new(true).caught_up(7), Proof::AskFor("TOLD-7".to_owned()));
    }
}
