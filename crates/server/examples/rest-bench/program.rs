//! The program around the engine, as far as a door needs one to be measured.

use std::collections::BTreeMap;
use std::path::Path;

use bus::operations::{BrokerDoors, Check, FixAct, FixSession, FixTrouble, LogLine, Operations, ReferenceTrouble};
use storage::journal::Watch;

pub(crate) struct Program(pub(crate) Watch);

impl Operations for Program {
    fn checks(&self) -> Vec<Check> {
        vec![]
    }

    fn parameters(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    fn shut_down(&self) {}

    fn durable(&self) -> u64 {
        self.0.durable()
    }

    fn broker(&self) -> BrokerDoors {
        BrokerDoors::default()
    }

    fn read_reference(&self, _: Option<&Path>) -> Result<usize, ReferenceTrouble> {
        Ok(0)
    }

    fn write_metrics(&self, _: &mut String) {}

    fn log_lines(&self) -> Vec<(u64, LogLine)> {
        vec![]
    }

    fn fix_sessions(&self) -> Vec<FixSession> {
        vec![]
    }

    fn act_on_fix_session(&self, _: &str, _: FixAct) -> Result<(), FixTrouble> {
        Err(FixTrouble::Unknown)
    }
}
