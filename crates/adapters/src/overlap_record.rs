//! For how long requests of the leader before may still come in at a venue. That follows from the configuration that it had, not from
//! that of this member, so each leader keeps its own in the journal before it logs on.

use std::time::Duration;

use bus::{InboxError, ReplyReceiver};

use crate::adapter_records::AdapterRecords;

/// The name of the record.
const NAME: &str = "overlap";
const NANOS_PER_MILLI: u128 = 1_000_000;

/// The overlap of the newest leader that logged on, in the journal of a cluster.
#[derive(Default)]
pub struct OverlapRecord {
    /// None where no other process could trade.
    records: Option<AdapterRecords>,
    /// In milliseconds; zero also where a journal from before has no such record.
    recorded: i64,
    /// Perhaps not durable yet.
    asked: Option<ReplyReceiver>,
}

impl OverlapRecord {
    /// What the journal has of the adapter. A text that says no time is an error: another time could be too short.
    pub fn read(records: Option<AdapterRecords>) -> Result<Self, String> {
        let known = records.as_ref().and_then(|records| records.read(NAME));
        let unclear = |text: &str| format!("the record {NAME} in the journal is no time in milliseconds: {text:?}");
        let recorded = known.map(|text| text.parse().map_err(|_| unclear(&text))).transpose()?;
        Ok(Self { records, recorded: recorded.unwrap_or_default(), asked: None })
    }

    /// For how many milliseconds a request of the leader before may still come, where it may. `led` is how long this one leads.
    pub(crate) fn millis_left(&self, own: i64, led: Duration) -> Option<i64> {
        let longest = Duration::from_millis(u64::try_from(own.max(self.recorded)).unwrap_or(0));
        let left = longest.checked_sub(led).filter(|left| !left.is_zero())?;
        Some(i64::try_from(left.as_nanos().div_ceil(NANOS_PER_MILLI)).unwrap_or(i64::MAX))
    }

    /// Whether the next leader will know of this one's; what the journal lacks is asked for. To be called when nothing of the leader before
    /// comes any more, because it takes the place of that one's.
    pub(crate) fn is_kept(&mut self, own: i64) -> Result<bool, InboxError> {
        let Some(records) = self.records.as_ref().filter(|_| self.recorded != own) else { return Ok(true) };
        match self.asked.as_mut().map(ReplyReceiver::try_recv) {
            None => match records.write(NAME, &own.to_string()) {
                Ok(reply) => self.asked = Some(reply),
                // It is tried again.
                Err(InboxError::Busy) => {}
                Err(InboxError::Stopped) => return Err(InboxError::Stopped),
            },
            Some(None) => {}
            Some(Some(Err(_))) => return Err(InboxError::Stopped),
            Some(Some(Ok(reply))) => {
                self.asked = None;
                if reply.outcome.is_ok() {
                    self.recorded = own;
                }
            }
        }
        Ok(self.recorded == own)
    }
}
