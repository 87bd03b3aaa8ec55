//! Runs of strategy processes: what became of their newest requests. It is part of the state, so that a server that was restarted, and
//! a new leader of a cluster, answer a request that is sent again as the server before would have done.

use std::collections::BTreeMap;

use domain::StrategyId;
use domain::command::StrategyRequestKey;
use domain::query::{EngineResult, SettledRefusal};
use minicbor::{Decode, Decoder, Encode, Encoder};

/// Requests of a run that are kept, the newest: a process has no more of them unanswered.
pub(crate) const REQUESTS_KEPT: usize = 8_192;

#[derive(Debug, Clone, Default)]
pub(crate) struct ProcessRuns(BTreeMap<StrategyId, SettledRequests>);

#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct SettledRequests {
    #[n(0)]
    pub(crate) run: u64,
    #[n(1)]
    pub(crate) by_key: BTreeMap<u64, Option<SettledRefusal>>,
    /// The newest key that is no longer kept.
    #[n(2)]
    pub(crate) forgotten: u64,
}

/// Written only where there is one, so that the state of other engines is what earlier builds wrote.
impl<C> Encode<C> for ProcessRuns {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        self.0.encode(e, ctx)
    }

    fn is_nil(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'b, C> Decode<'b, C> for ProcessRuns {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        BTreeMap::decode(d, ctx).map(Self)
    }
}

impl ProcessRuns {
    /// A command with the key of a request was carried out or refused. The key 0 begins the run; requests of another run are not
    /// kept.
    pub(crate) fn on_settled(&mut self, request: StrategyRequestKey, outcome: &EngineResult) {
        let StrategyRequestKey { strategy, run, key } = request;
        if key == 0 {
            if outcome.is_ok() {
                self.0.insert(strategy, SettledRequests { run, ..SettledRequests::default() });
            }
            return;
        }
        if let Some(requests) = self.0.get_mut(&strategy).filter(|requests| requests.run == run) {
            let refusal = outcome.as_ref().err();
            requests.keep(
                key,
                refusal.map(|refusal| SettledRefusal { code: refusal.code().into(), text: refusal.to_string().into() }),
            );
        }
    }

    pub(crate) fn on_exit(&mut self, strategy: StrategyId) {
        self.0.remove(&strategy);
    }

    pub(crate) fn of(&self, strategy: StrategyId) -> Option<&SettledRequests> {
        self.0.get(&strategy)
    }
}

impl SettledRequests {
    fn keep(&mut self, key: u64, refusal: Option<SettledRefusal>) {
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
            SettledRefusal { code: "date-in-the-past".into(), text: Refusal::DateInThePast.to_string().into() };
        let known = SettledRequests { run: 7, by_key: BTreeMap::from([(1, None), (2, Some(refusal))]), forgotten: 0 };
        assert_eq!(runs.of(ONE), Some(&known));
        settle(&mut runs, 9, 0, Ok(Answer::Done));
        assert_eq!(runs.of(ONE), Some(&SettledRequests { run: 9, ..SettledRequests::default() }));
        runs.on_exit(ONE);
        assert_eq!(runs.of(ONE), None);
        assert!(Encode::<()>::is_nil(&runs));
    }

    #[test]
    fn runs_are_read_as_they_were_written() {
        let mut runs = ProcessRuns::default();
        settle(&mut runs, 7, 0, Ok(Answer::Done));
        settle(&mut runs, 7, 4, Err(Refusal::DateInThePast));
        let read: ProcessRuns = minicbor::decode(&minicbor::to_vec(&runs).unwrap()).unwrap();
        assert_eq!(read.of(ONE), runs.of(ONE));
    }

    #[test]
    fn only_the_newest_requests_are_kept_and_it_is_known_up_to_where_they_are_forgotten() {
        let mut runs = ProcessRuns::default();
        (0..=REQUESTS_KEPT as u64 + 3).for_each(|key| settle(&mut runs, 7, key, Ok(Answer::Done)));
        let known = runs.of(ONE).unwrap();
        assert_eq!((known.by_key.len(), known.forgotten), (REQUESTS_KEPT, 3));
    }
}
