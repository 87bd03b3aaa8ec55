//! Strategies: their phases and the legal order of these, after EXIT a strategy may begin again; the runs of those in processes of their
//! own; and their market data subscriptions. A security is subscribed at its venues while at least one strategy subscribes.

pub(crate) mod process_runs;
pub(crate) mod subscription_set;

use std::sync::Arc;

use domain::command::{MarketDataSubscription, StrategyFailure, StrategyPhase};
use domain::event::LifeCycle;
use domain::query::{Answer, EngineResult, ProcessRun};
use domain::{Event, Instruction, Refusal, SecurityId, StrategyId};

use crate::outbox::Outbox;
use crate::trading::Trading;

impl Trading {
    pub(crate) fn enter_phase(&mut self, step: LifeCycle, out: &mut Outbox) -> EngineResult {
        let LifeCycle { strategy, mode, phase, .. } = step;
        let name = self.reference.strategy(strategy)?.name.clone();
        let now = self.phases.get(&strategy).map(|(_, phase)| *phase);
        if !may_follow(now, phase) {
            return Err(Refusal::PhaseOrder { strategy: name, now, wanted: phase });
        }
        self.phases.insert(strategy, (mode, phase));
        if phase == StrategyPhase::Exit {
            self.process_runs.on_exit(strategy);
        }
        self.record_failure(&name, &step, out);
        out.publish(Event::LifeCycle(Arc::new(step)));
        Ok(Answer::Done)
    }

    /// A failure raises an alarm and is kept until the strategy begins again.
    fn record_failure(&mut self, name: &str, step: &LifeCycle, out: &mut Outbox) {
        match &step.failure {
            Some(failure) => {
                out.error("strategy-stopped", format!("strategy {name} {}", failure.text));
                self.failures.insert(step.strategy, failure.clone());
            }
            None => drop(self.failures.remove(&step.strategy)),
        }
    }

    pub(crate) fn phases(&self) -> Vec<(StrategyId, StrategyPhase, Option<StrategyFailure>)> {
        let whole =
            |(id, (_, phase)): (&StrategyId, &(_, StrategyPhase))| (*id, *phase, self.failures.get(id).cloned());
        self.phases.iter().map(whole).collect()
    }

    pub(crate) fn process_run(&self, strategy: StrategyId) -> Option<ProcessRun> {
        let (requests, (_, phase)) = (self.process_runs.of(strategy)?, self.phases.get(&strategy)?);
        Some(ProcessRun {
            run: requests.run,
            phase: *phase,
            requests: requests.by_key.iter().map(|(key, refusal)| (*key, refusal.clone())).collect(),
            forgotten: requests.forgotten,
        })
    }
}

fn may_follow(now: Option<StrategyPhase>, next: StrategyPhase) -> bool {
    match (now, next) {
        (None | Some(StrategyPhase::Exit), next) => next == StrategyPhase::Init,
        // A strategy may exit at any time; otherwise no phase is skipped.
        (Some(_), StrategyPhase::Exit) => true,
        (Some(now), next) => next as u8 == now as u8 + 1,
    }
}

impl Trading {
    pub(crate) fn subscribe(&mut self, wish: MarketDataSubscription, out: &mut Outbox) -> EngineResult {
        self.reference.security(wish.security)?;
        self.reference.strategy(wish.strategy)?;
        let first = !self.subscriptions.has_subscribers(wish.security);
        if self.subscriptions.by_security.insert((wish.security, wish.strategy)) {
            out.publish(Event::Subscription(wish, true));
        }
        if first {
            self.instruct_feeds(wish.security, Instruction::Subscribe(wish.security), out);
        }
        Ok(Answer::Done)
    }

    pub(crate) fn unsubscribe(&mut self, wish: MarketDataSubscription, out: &mut Outbox) -> EngineResult {
        self.reference.security(wish.security)?;
        self.reference.strategy(wish.strategy)?;
        if !self.subscriptions.by_security.remove(&(wish.security, wish.strategy)) {
            return Ok(Answer::Done);
        }
        out.publish(Event::Subscription(wish, false));
        if !self.subscriptions.has_subscribers(wish.security) {
            self.instruct_feeds(wish.security, Instruction::Unsubscribe(wish.security), out);
        }
        Ok(Answer::Done)
    }

    fn instruct_feeds(&self, security: SecurityId, instruction: Instruction, out: &mut Outbox) {
        let Ok(security) = self.reference.security(security) else { return };
        for adapter in self.adapters.adapters_for(security.exchange) {
            out.instruct(adapter, instruction.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_come_in_order_and_a_strategy_may_leave_at_any_time() {
        let ways: Vec<_> = [None]
            .into_iter()
            .chain(StrategyPhase::ALL.map(Some))
            .map(|now| {
                let next = StrategyPhase::ALL.into_iter().filter(|next| may_follow(now, *next));
                format!(
                    "{} -> {}",
                    now.map_or("-", StrategyPhase::name),
                    next.map(StrategyPhase::name).collect::<Vec<_>>().join(" ")
                )
            })
            .collect();
        assert_eq!(
            ways,
            [
                "- -> INIT",
                "INIT -> PREFEED EXIT",
                "PREFEED -> START EXIT",
                "START -> RUN EXIT",
                "RUN -> EXIT",
                "EXIT -> INIT"
            ]
        );
    }
}
