//! Runs of strategy processes: what became of their newest requests. It is part of the state, so that a server that was restarted, and
//! a new leader of a cluster, answer a request that is sent again as the server before would have done.

use std::collections::BTreeMap;

use domain::StrategyId;
use domain::command::StrategyRequestKey;
use domain::query::{EngineResult, RequestRefusal};
use minicbor::{Decode, Encode};

/// Requests of a run that are kept, the newest: a process has no more of them unanswered.
pub(crate) const REQUESTS_KEPT: usize = 8_192;

#[derive(Debug, Clone, Default, Encode, Decode)]
pub(crate) struct ProcessRuns {
    #[n(0)]
    by_strategy: BTreeMap<StrategyId, SettledRequests>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct SettledRequests {
    #[n(0)]
    pub(crate) run: u64,
    #[n(1)]
    pub(crate) by_key: BTreeMap<u64, Option<RequestRefusal>>,
    /// The newest key that is no longer kept.
    #[n(2)]
    pub(crate) forgotten: u64,
}

impl ProcessRuns {
    /// A command with the key of a request was carried out or refused. The key 0 begins the run; requests of another run are not
    /// kept.
    pub(crate) fn on_settled(&mut self, request: StrategyRequestKey, outcome: &EngineResult) {
        let StrategyRequestKey { strategy, run, key } = request;
        if key == 0 {
            if outcome.is_ok() {
                self.by_strategy.insert(strategy, SettledRequests { run, ..SettledRequests::default() });
            }
            return;
        }
        if let Some(requests) = self.by_strategy.get_mut(&strategy).filter(|requests| requests.run == run) {
            let refusal = outcome.as_ref().err();
            requests.keep(
                key,
                refusal.map(|refusal| RequestRefusal { code: refusal.code().into(), text: refusal.to_string().into() }),
            );
        }
    }

    pub(crate) fn on_exit(&mut self, strategy: StrategyId) {
        self.by_strategy.remove(&strategy);
    }

    pub(crate) fn of(&self, strategy: StrategyId) -> Option<&SettledRequests> {
        self.by_strategy.get(&strategy)
    }
}

impl SettledRequests {
    fn keep(&mut self, key: u64, refusal: Option<RequestRefusal>) {
        self.by_key.insert(key, refusal);
        if self.by_key.len() > REQUESTS_KEPT
            && let Some((oldest, _)) = self.by_key.pop_first()
        {
            self.forgotten = self.forgotten.max(oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::{Answer, Refusal};

    use super::*;

    const ONE: StrategyId = StrategyId(2);

    fn settle(runs: &mut ProcessRuns, run: u64, key: u64, outcome: EngineResult) {
        runs.on_settled(StrategyRequestKey { strategy: ONE, run, key }, &outcome);
    }

    #[test]
    fn a_run_knows_its_requests_until_it_ends_or_the_next_begins() {
        let mut runs = ProcessRuns::default();
        settle(&mut runs, 5, 1, Ok(Answer::Done));
        assert_eq!(runs.of(ONE), None, "a request of no run");
        settle(&mut runs, 7, 0, Ok(Answer::Done));
        settle(&mut runs, 7, 1, Ok(Answer::Done));
        settle(&mut runs, 7, 2, Err(Refusal::DateInThePast));
        settle(&mut runs, 5, 3, Ok(Answer::Done));
        let refusal =
            RequestRefusal { code: "date-in-the-past".into(), text: Refusal::DateInThePast.to_string().into() };
        let known = SettledRequests { run: 7, by_key: BTreeMap::from([(1, None), (2, Some(refusal))]), forgotten: 0 };
        assert_eq!(runs.of(ONE), Some(&known));
        settle(&mut runs, 9, 0, Ok(Answer::Done));
        assert_eq!(runs.of(ONE), Some(&SettledRequests { run: 9, ..SettledRequests::default() }));
        runs.on_exit(ONE);
        assert_eq!(runs.of(ONE), None);
    }

    #[test]
    fn only_the_newest_requests_are_kept_and_it_is_known_up_to_where_they_are_forgotten() {
        let mut runs = ProcessRuns::default();
        (0..=REQUESTS_KEPT as u64 + 3).for_each(|key| settle(&mut runs, 7, key, Ok(Answer::Done)));
        let known = runs.of(ONE).unwrap();
        assert_eq!((known.by_key.len(), known.forgotten), (REQUESTS_KEPT, 3));
    }
}
