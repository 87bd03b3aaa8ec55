//! Faults that the lab is told to inject: by name, from the n-th matching request or event on, so many times or for so long, or by
//! a seed; by the admin port or by a script.

pub(crate) mod catalogue;
pub(crate) mod fault_request;
pub(crate) mod fault_script;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::SeededRng;
use serde_json::{Value, json};

use crate::faults::catalogue::Fault;
use crate::faults::fault_request::FaultRequest;
use crate::faults::fault_script::{Moment, ScriptLine};
use crate::lab_clock::LabClock;

const MICROS: i64 = 1_000_000;
/// Injections that are listed; of more the oldest are dropped.
const INJECTED_MAX: usize = 1_000;
/// The face of market streams, as a request to arm a fault names it.
const STREAMS_FACE: &str = "streams";
/// Of the matching requests or events of a fault with a seed, one in so many is struck.
const SEEDED_ONE_IN: u32 = 4;

#[derive(Debug)]
struct ArmedFault {
    fault: Fault,
    is_of_streams: bool,
    from: u64,
    /// Still to strike; none means until the end.
    left: Option<u64>,
    until_micros: Option<i64>,
    /// Matching requests or events so far.
    seen: u64,
    choice: Option<SeededRng>,
}

impl ArmedFault {
    fn new(request: &FaultRequest, now: i64) -> Result<Self, String> {
        let fault = Fault::parse(&request.fault)?;
        if request.from == 0 || request.count == Some(0) || request.seconds == Some(0) {
            return Err("from, count, seconds: must be at least 1".to_owned());
        }
        let is_of_streams = match request.face.as_deref() {
            None => false,
            Some(STREAMS_FACE) if fault == Fault::ServerShutdown => true,
            Some(other) => return Err(format!("face: {} has no form for {other}", request.fault)),
        };
        let is_open = request.seconds.is_some() || request.seed.is_some();
        Ok(Self {
            fault,
            is_of_streams,
            from: request.from,
            left: request.count.or(if is_open { None } else { Some(1) }),
            until_micros: request.seconds.map(|seconds| now + i64::from(seconds) * MICROS),
            seen: 0,
            choice: request.seed.map(|seed| SeededRng::new(seed, fault.number())),
        })
    }

    fn is_over(&self, now: i64) -> bool {
        self.left == Some(0) || self.until_micros.is_some_and(|until| now > until)
    }

    fn strikes(&mut self, now: i64) -> bool {
        if self.is_over(now) {
            return false;
        }
        self.seen += 1;
        let is_chosen = self.choice.as_mut().is_none_or(|choice| choice.one_in(SEEDED_ONE_IN));
        if self.seen < self.from || !is_chosen {
            return false;
        }
        self.left = self.left.map(|left| left - 1);
        true
    }
}

/// What was injected: the fault, how many requests and order requests there were until then, and when.
#[derive(Debug)]
struct Injection {
    fault: Fault,
    requests: u64,
    orders: u64,
    time_micros: i64,
}

#[derive(Debug, Default)]
struct FaultState {
    armed: Vec<ArmedFault>,
    injected: Vec<Injection>,
    script: Vec<ScriptLine>,
    requests: u64,
    orders: u64,
}

#[derive(Debug, Default)]
pub(crate) struct LabFaults {
    state: Mutex<FaultState>,
    /// Whether any is armed: a request looks for more than a dozen of them.
    has_armed: AtomicBool,
    clock: LabClock,
}

impl LabFaults {
    pub(crate) fn with_clock(clock: LabClock) -> Self {
        Self { clock, ..Self::default() }
    }

    fn state(&self) -> MutexGuard<'_, FaultState> {
        // Each change is one statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn arm(&self, request: &FaultRequest) -> Result<(), String> {
        let armed = ArmedFault::new(request, self.clock.micros())?;
        let mut state = self.state();
        state.armed.push(armed);
        self.note_armed(&state);
        Ok(())
    }

    /// Lines without a moment are armed now, the others when their moment comes.
    pub(crate) fn add_script(&self, lines: Vec<ScriptLine>) -> Result<(), String> {
        let (now, later): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| line.moment == Moment::Now);
        for line in &later {
            ArmedFault::new(&line.request, self.clock.micros())?;
        }
        for line in now {
            self.arm(&line.request)?;
        }
        self.state().script.extend(later);
        Ok(())
    }

    pub(crate) fn disarm_all(&self) {
        let mut state = self.state();
        state.armed.clear();
        state.script.clear();
        self.note_armed(&state);
    }

    /// After each change of what is armed.
    fn note_armed(&self, state: &FaultState) {
        self.has_armed.store(!state.armed.is_empty(), Ordering::Release);
    }

    pub(crate) fn list(&self) -> Value {
        let now = self.clock.micros();
        let state = self.state();
        let armed = state.armed.iter().filter(|armed| !armed.is_over(now)).map(|armed| {
            let seconds = armed.until_micros.map(|until| (until - now) / MICROS);
            json!({ "fault": armed.fault.name(), "from": armed.from, "seen": armed.seen, "left": armed.left, "seconds": seconds })
        });
        let injected = state.injected.iter().map(|entry| {
            json!({
                "fault": entry.fault.name(),
                "request": entry.requests,
                "order": entry.orders,
                "time": entry.time_micros / 1_000,
            })
        });
        let script = state.script.iter().map(|line| line.text.clone());
        json!({
            "armed": armed.collect::<Vec<_>>(),
            "script": script.collect::<Vec<_>>(),
            "injected": injected.collect::<Vec<_>>(),
        })
    }

    /// What was injected, without times: the same for the same seeds, scripts and requests.
    pub(crate) fn transcript(&self) -> String {
        let line =
            |entry: &Injection| format!("request {} order {}: {}\n", entry.requests, entry.orders, entry.fault.name());
        self.state().injected.iter().map(line).collect()
    }

    /// Counts a request; lines of a script whose moment it is are armed.
    pub(crate) fn count_request(&self, is_order: bool) {
        let mut state = self.state();
        state.requests += 1;
        state.orders += u64::from(is_order);
        if state.script.is_empty() {
            return;
        }
        let (requests, orders) = (state.requests, state.orders);
        let is_due = |line: &ScriptLine| match line.moment {
            Moment::Now => true,
            Moment::Order(number) => is_order && number == orders,
            Moment::Request(number) => number == requests,
        };
        let (due, later): (Vec<_>, Vec<_>) = std::mem::take(&mut state.script).into_iter().partition(is_due);
        state.script = later;
        let now = self.clock.micros();
        // They were checked when the script was added.
        state.armed.extend(due.iter().filter_map(|line| ArmedFault::new(&line.request, now).ok()));
        self.note_armed(&state);
    }

    /// Counts a matching request or event; true where the fault strikes it.
    pub(crate) fn strikes(&self, fault: Fault) -> bool {
        self.strikes_face(fault, false)
    }

    /// Of those that were armed for market streams.
    pub(crate) fn strikes_streams(&self, fault: Fault) -> bool {
        self.strikes_face(fault, true)
    }

    fn strikes_face(&self, fault: Fault, is_of_streams: bool) -> bool {
        if !self.has_armed.load(Ordering::Acquire) {
            return false;
        }
        let now = self.clock.micros();
        let mut state = self.state();
        let mut is_struck = false;
        for armed in state.armed.iter_mut().filter(|armed| armed.fault == fault && armed.is_of_streams == is_of_streams)
        {
            is_struck |= armed.strikes(now);
        }
        if is_struck {
            tracing::info!(fault = fault.name(), "fault injected");
            if state.injected.len() >= INJECTED_MAX {
                state.injected.remove(0);
            }
            let (requests, orders) = (state.requests, state.orders);
            state.injected.push(Injection { fault, requests, orders, time_micros: now });
        }
        is_struck
    }

    /// Whether the fault is armed, without counting: for faults that last.
    pub(crate) fn is_armed(&self, fault: Fault) -> bool {
        if !self.has_armed.load(Ordering::Acquire) {
            return false;
        }
        let now = self.clock.micros();
        self.state().armed.iter().any(|armed| armed.fault == fault && !armed.is_over(now))
    }

    /// Notes a fault that lasts when it is first seen by a client.
    pub(crate) fn lasts(&self, fault: Fault) -> bool {
        if !self.is_armed(fault) {
            return false;
        }
        let is_new = self.state().armed.iter().any(|armed| armed.fault == fault && armed.seen == 0);
        if is_new {
            self.strikes(fault);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::fault_script;

    fn request(text: &str) -> FaultRequest {
        serde_json::from_str(text).unwrap()
    }

    fn struck(faults: &LabFaults, fault: Fault, matches: usize) -> Vec<bool> {
        (0..matches).map(|_| faults.strikes(fault)).collect()
    }

    #[test]
    fn a_fault_strikes_from_the_nth_match_on_as_often_as_asked() {
        let faults = LabFaults::default();
        faults.arm(&request(r#"{"fault":"taken-unknown","from":3,"count":2}"#)).unwrap();
        assert_eq!(struck(&faults, Fault::TakenUnknown, 6), [false, false, true, true, false, false]);
        assert!(!faults.strikes(Fault::LateQuery));
        assert_eq!(faults.list()["injected"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn a_seed_decides_which_matches_are_struck_and_decides_so_again() {
        let run = |seed: u64| {
            let faults = LabFaults::default();
            faults.arm(&request(&format!(r#"{{"fault":"late-query","seed":{seed}}}"#))).unwrap();
            struck(&faults, Fault::LateQuery, 400)
        };
        assert_eq!(run(7), run(7));
        assert_ne!(run(7), run(8));
        let count = run(7).iter().filter(|struck| **struck).count();
        assert!((60..140).contains(&count), "{count} of 400 is not about one in four");
    }

    #[test]
    fn a_script_arms_at_the_nth_order_and_at_once() {
        let faults = LabFaults::default();
        let script = "# comment\nat order 2: taken-unknown\nat request 3 for 20 s: stream-mute\n2 times: late-query\n";
        faults.add_script(fault_script::parse(script).unwrap()).unwrap();
        assert_eq!(struck(&faults, Fault::LateQuery, 3), [true, true, false]);
        faults.count_request(true);
        assert!(!faults.strikes(Fault::TakenUnknown));
        faults.count_request(true);
        assert!(faults.strikes(Fault::TakenUnknown) && !faults.strikes(Fault::StreamMute));
        faults.count_request(false);
        assert!(faults.strikes(Fault::StreamMute) && faults.strikes(Fault::StreamMute));
        assert_eq!(
            faults.transcript(),
            "request 0 order 0: late-query\nrequest 0 order 0: late-query\nrequest 2 order 2: taken-unknown\n\
             request 3 order 2: stream-mute\nrequest 3 order 2: stream-mute\n"
        );
    }

    #[test]
    fn a_fault_that_is_disarmed_strikes_no_more() {
        let faults = LabFaults::default();
        faults.arm(&request(r#"{"fault":"stream-mute","seconds":60}"#)).unwrap();
        assert!(faults.strikes(Fault::StreamMute) && faults.strikes(Fault::StreamMute));
        faults.disarm_all();
        assert!(!faults.strikes(Fault::StreamMute));
    }

    #[test]
    fn what_cannot_be_injected_is_refused_by_its_name() {
        let faults = LabFaults::default();
        let refused = |text| faults.arm(&request(text)).unwrap_err();
        assert_eq!(refused(r#"{"fault":"id-reused"}"#), "fault: id-reused needs no arming: the venue is always so");
        assert!(refused(r#"{"fault":"gremlins"}"#).starts_with("fault: gremlins is none of taken-unknown,"));
        assert_eq!(refused(r#"{"fault":"late-query","from":0}"#), "from, count, seconds: must be at least 1");
    }
}
