//! Read confirmation: a Test Request after reports that the client may have missed; only its answer proves that they
//! were read. After a sequence reset unconfirmed reports are sent again.

/// Begins with a Logon and ends with its connection.
#[derive(Debug, Default)]
pub(crate) struct ReadConfirmation {
    /// Whether anything was sent that the client has not confirmed.
    has_unconfirmed: bool,
    stage: ConfirmationStage,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum ConfirmationStage {
    #[default]
    CatchingUp,
    /// Until the Test Request after this sequence is answered.
    TestRequestSent(u64),
    Confirmed,
}

/// What to do when a client has caught up.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ConfirmationStep {
    /// There was nothing to read.
    NotNeeded,
    /// A Test Request with this TestReqID (112).
    SendTestRequest(String),
    /// A session that fell behind catches up once more: its reports belong to the present connection.
    Postponed,
}

impl ReadConfirmation {
    pub(crate) fn new(has_unconfirmed: bool) -> Self {
        Self { has_unconfirmed, stage: ConfirmationStage::CatchingUp }
    }

    /// A report is sent that the client may have missed.
    pub(crate) fn on_report_sent(&mut self) {
        self.has_unconfirmed = true;
    }

    /// Everything up to this sequence is sent.
    pub(crate) fn on_caught_up(&mut self, sequence: u64) -> ConfirmationStep {
        match (&self.stage, self.has_unconfirmed) {
            (ConfirmationStage::CatchingUp, true) => {
                self.stage = ConfirmationStage::TestRequestSent(sequence);
                ConfirmationStep::SendTestRequest(test_req_id(sequence))
            }
            (ConfirmationStage::CatchingUp, false) => {
                self.stage = ConfirmationStage::Confirmed;
                ConfirmationStep::NotNeeded
            }
            (ConfirmationStage::TestRequestSent(_) | ConfirmationStage::Confirmed, _) => ConfirmationStep::Postponed,
        }
    }

    /// The sequence up to which the client has read everything, where this is the expected answer.
    pub(crate) fn on_test_response(&mut self, id: &[u8]) -> Option<u64> {
        match self.stage {
            ConfirmationStage::TestRequestSent(sequence) if test_req_id(sequence).as_bytes() == id => {
                self.stage = ConfirmationStage::Confirmed;
                Some(sequence)
            }
            ConfirmationStage::TestRequestSent(_) | ConfirmationStage::CatchingUp | ConfirmationStage::Confirmed => {
                None
            }
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
        let mut receipt = ReadConfirmation::new(false);
        receipt.on_report_sent();
        assert_eq!(receipt.on_test_response(b"TOLD-7"), None);
        assert_eq!(receipt.on_caught_up(7), ConfirmationStep::SendTestRequest("TOLD-7".to_owned()));
        assert_eq!(receipt.on_test_response(b"TEST"), None);
        // A session that fell behind catches up again: the mark of its Logon stays.
        assert_eq!(receipt.on_caught_up(9), ConfirmationStep::Postponed);
        assert_eq!(receipt.on_test_response(b"TOLD-9"), None);
        assert_eq!(receipt.on_test_response(b"TOLD-7"), Some(7));
        assert_eq!(receipt.on_test_response(b"TOLD-7"), None);
    }

    #[test]
    fn a_client_that_missed_nothing_needs_no_confirmation() {
        assert_eq!(ReadConfirmation::new(false).on_caught_up(7), ConfirmationStep::NotNeeded);
        assert_eq!(ReadConfirmation::new(true).on_caught_up(7), ConfirmationStep::SendTestRequest("TOLD-7".to_owned()));
    }
}
