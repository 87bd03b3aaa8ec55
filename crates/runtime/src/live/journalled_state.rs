//! The state of a loop between two turns, for the simulator, which compares it with a replay.

use engine::Engine;

use super::LiveLoop;
use crate::simulation::RunDigest;

impl LiveLoop {
    /// The newest journalled sequence, and what the loop has behind it: all that is journalled is applied in the same turn.
    pub fn journalled_state(&self) -> (u64, &Engine, &Option<RunDigest>) {
        (self.visible_sequence(), &self.parts.engine, &self.digest)
    }
}
