//! Open transactions of one connection: their SENDs and ACKs wait for COMMIT.

use std::collections::BTreeMap;

use super::action::Publication;
use super::protocol_error::ProtocolError;
use super::subscriptions::AckTarget;

/// Open transactions of one connection.
pub const TRANSACTIONS_MAX: usize = 100;
/// Frames that one open transaction holds.
pub const TRANSACTION_FRAMES_MAX: usize = 1_000;
/// Octets that all open transactions of one connection hold.
pub const TRANSACTION_BYTES_MAX: usize = 4 * 1_024 * 1_024;

/// Executed at once or on COMMIT.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TransactionStep {
    Publish(Publication),
    Ack(AckTarget),
    Nack(AckTarget),
}

impl TransactionStep {
    fn bytes(&self) -> usize {
        match self {
            Self::Publish(sent) => sent.body.len() + sent.headers.iter().map(|(n, v)| n.len() + v.len()).sum::<usize>(),
            Self::Ack(_) | Self::Nack(_) => 0,
        }
    }
}

/// The transactions of one connection, by the ids the client gave them.
#[derive(Debug, Default)]
pub(crate) struct Transactions {
    open: BTreeMap<String, Vec<TransactionStep>>,
    bytes: usize,
}

impl Transactions {
    pub(crate) fn begin(&mut self, id: String) -> Result<(), ProtocolError> {
        if self.open.contains_key(&id) {
            return Err(ProtocolError::TransactionExists);
        }
        if self.open.len() == TRANSACTIONS_MAX {
            return Err(ProtocolError::TooManyTransactions { limit: TRANSACTIONS_MAX });
        }
        self.open.insert(id, Vec::new());
        Ok(())
    }

    pub(crate) fn add(&mut self, id: &str, step: TransactionStep) -> Result<(), ProtocolError> {
        let steps = self.open.get_mut(id).ok_or(ProtocolError::UnknownTransaction)?;
        if steps.len() == TRANSACTION_FRAMES_MAX {
            return Err(ProtocolError::TransactionTooLong { limit: TRANSACTION_FRAMES_MAX });
        }
        let bytes = self.bytes + step.bytes();
        if bytes > TRANSACTION_BYTES_MAX {
            return Err(ProtocolError::TransactionTooLarge { limit: TRANSACTION_BYTES_MAX });
        }
        self.bytes = bytes;
        steps.push(step);
        Ok(())
    }

    /// Ends a transaction and returns its steps: executed on COMMIT, dropped on ABORT.
    pub(crate) fn end(&mut self, id: &str) -> Result<Vec<TransactionStep>, ProtocolError> {
        let steps = self.open.remove(id).ok_or(ProtocolError::UnknownTransaction)?;
        self.bytes -= steps.iter().map(TransactionStep::bytes).sum::<usize>();
        Ok(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::destination::Destination;
    use crate::headers::Headers;

    fn publish(bytes: usize) -> TransactionStep {
        let destination = Destination::parse("/queue/a").unwrap();
        TransactionStep::Publish(Publication { destination, headers: Headers::default(), body: vec![0; bytes] })
    }

    #[test]
    fn every_limit_is_kept_and_freed_by_the_end() {
        let mut transactions = Transactions::default();
        for id in 0..TRANSACTIONS_MAX {
            transactions.begin(id.to_string()).unwrap();
        }
        assert_eq!(
            transactions.begin("more".to_owned()),
            Err(ProtocolError::TooManyTransactions { limit: TRANSACTIONS_MAX })
        );
        transactions.add("0", publish(TRANSACTION_BYTES_MAX)).unwrap();
        let large = ProtocolError::TransactionTooLarge { limit: TRANSACTION_BYTES_MAX };
        assert_eq!(transactions.add("1", publish(1)), Err(large));
        assert_eq!(transactions.end("0").unwrap().len(), 1);
        for _ in 0..TRANSACTION_FRAMES_MAX {
            transactions.add("1", publish(1)).unwrap();
        }
        let long = ProtocolError::TransactionTooLong { limit: TRANSACTION_FRAMES_MAX };
        assert_eq!(transactions.add("1", publish(1)), Err(long));
    }
}
