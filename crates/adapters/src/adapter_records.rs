//! Records of an adapter in the journal: what it must know after a restart where another member of a cluster may go on for it, so
//! that the files of one machine are not enough.

use std::sync::Arc;

use bus::ledger::adapter_stream;
use bus::{InboxError, Ledger, ReplyReceiver};
use domain::AdapterName;

/// Each stream has one record.
const KEY: u64 = 0;

/// The records of one adapter, by name.
#[derive(Clone)]
pub struct AdapterRecords {
    ledger: Arc<dyn Ledger>,
    adapter: AdapterName,
}

impl AdapterRecords {
    /// Of this adapter.
    pub fn new(ledger: Arc<dyn Ledger>, adapter: AdapterName) -> Self {
        Self { ledger, adapter }
    }

    /// As far as it is durable.
    pub fn read(&self, name: &str) -> Option<String> {
        let record = self.ledger.last(&adapter_stream(&self.adapter.0, name))?;
        Some(String::from_utf8_lossy(&record.bytes).into_owned())
    }

    /// In place of what the record was. The reply comes when it is durable; what the adapter reports afterwards is behind it.
    pub fn write(&self, name: &str, text: &str) -> Result<ReplyReceiver, InboxError> {
        self.ledger.append(&adapter_stream(&self.adapter.0, name), KEY, text.as_bytes())
    }
}
