//! Dead-man timers: the kill switch of a scope fires when its timer is not renewed in time. Part of the journalled state:
//! a timer that ran out while the server was down fires when it starts.

use std::collections::BTreeMap;

use domain::query::{Answer, EngineResult};
use domain::risk::{DEAD_MAN_SECONDS_MAX, DeadManTimer, EngineSettings, RiskScope};
use domain::{Caller, Refusal, Text, Timestamp};

use super::Risk;
use crate::outbox::{Moment, Outbox};
use crate::trading::Trading;

/// The field of a request.
const SECONDS: &str = "seconds";

impl Risk {
    pub(crate) fn dead_man_timers(&self) -> Vec<DeadManTimer> {
        self.dead_man.iter().flat_map(BTreeMap::values).cloned().collect()
    }

    fn dead_man(&self, scope: RiskScope) -> Option<&DeadManTimer> {
        self.dead_man.as_ref()?.get(&scope)
    }

    pub(crate) fn next_dead_man(&self) -> Option<Timestamp> {
        self.dead_man.iter().flat_map(BTreeMap::values).map(|timer| timer.expires).min()
    }

    fn arm(&mut self, at: Timestamp, scope: RiskScope, seconds: u32, renewed_by: Option<Text>) -> DeadManTimer {
        let timer = DeadManTimer { scope, seconds, expires: at.plus_seconds(seconds.into()), renewed_by };
        self.dead_man.get_or_insert_default().insert(scope, timer.clone());
        timer
    }

    fn disarm(&mut self, scope: RiskScope) {
        let timers = self.dead_man.take().map(|mut timers| {
            timers.remove(&scope);
            timers
        });
        self.dead_man = timers.filter(|timers| !timers.is_empty());
    }
}

impl Trading {
    pub(crate) fn arm_dead_man(
        &mut self,
        moment: Moment,
        caller: &Caller,
        scope: RiskScope,
        seconds: Option<u32>,
    ) -> EngineResult {
        let seconds = self.dead_man_seconds(scope, seconds)?;
        Ok(Answer::DeadManTimers(vec![self.risk.arm(moment.at, scope, seconds, caller.user.clone())]))
    }

    fn dead_man_seconds(&self, scope: RiskScope, asked: Option<u32>) -> Result<u32, Refusal> {
        let configured = self.settings.dead_man_seconds.filter(|_| scope == RiskScope::Platform);
        // A longer time would undo what is configured.
        let max = configured.unwrap_or(DEAD_MAN_SECONDS_MAX);
        match asked.or_else(|| self.risk.dead_man(scope).map(|timer| timer.seconds)).or(configured) {
            None => Err(Refusal::NoDeadMan(scope)),
            Some(0) => Err(Refusal::NotPositive { field: SECONDS, value: 0.into() }),
            Some(seconds) if seconds > max => {
                Err(Refusal::TooLarge { field: SECONDS, value: seconds.into(), limit: max.into() })
            }
            Some(seconds) => Ok(seconds),
        }
    }

    pub(crate) fn disarm_dead_man(&mut self, scope: RiskScope) -> EngineResult {
        if scope == RiskScope::Platform && self.settings.dead_man_seconds.is_some() {
            return Err(Refusal::DeadManConfigured);
        }
        self.risk.dead_man(scope).ok_or(Refusal::NoDeadMan(scope))?;
        self.risk.disarm(scope);
        Ok(Answer::Done)
    }

    /// At every start. A timer that runs goes on, also over a restart; one that is no longer configured ends.
    pub(crate) fn configure_dead_man(&mut self, moment: Moment, settings: &EngineSettings) {
        let running = self.risk.dead_man(RiskScope::Platform);
        match settings.dead_man_seconds {
            Some(seconds) if running.is_some_and(|timer| timer.seconds <= seconds) => {}
            Some(seconds) => drop(self.risk.arm(moment.at, RiskScope::Platform, seconds, None)),
            None if self.settings.dead_man_seconds.is_some() => self.risk.disarm(RiskScope::Platform),
            None => {}
        }
    }

    /// The kill switch of every scope whose timer has run out. The timer ends with it: the next renewal arms it again.
    pub(crate) fn fire_dead_man(&mut self, moment: Moment, out: &mut Outbox) {
        let timers = self.risk.dead_man_timers();
        for timer in timers.into_iter().filter(|timer| timer.expires <= moment.at) {
            let scope = timer.scope;
            self.risk.disarm(scope);
            let reason = format!("the dead-man timer was not renewed within {} s", timer.seconds);
            out.error("dead-man-timer", format!("{scope} is HALTED and its orders are cancelled: {reason}"));
            let caller = Caller { user: Some("dead-man timer".into()), ..Caller::platform() };
            // The kill switch refuses nothing.
            let _ = self.kill(moment, &caller, scope, Some(reason.into()), out);
        }
    }
}
