//! Faults that the lab is told to inject: by name, from the n-th matching request or event on, so many times or for so long.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::sequencer::now_micros;

const MICROS: i64 = 1_000_000;
/// Injections that are listed; of more the oldest are dropped.
const INJECTED_MAX: usize = 1_000;

macro_rules! faults {
    ($($(#[$meta:meta])* $variant:ident = $name:literal),+ $(,)?) => {
        /// A fault that a venue was seen to have.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Fault {
            $($(#[$meta])* $variant),+
        }

        impl Fault {
            const ALL: &'static [(Fault, &'static str)] = &[$((Fault::$variant, $name)),+];
        }
    };
}

faults! {
    /// A new order is taken, and answered -1007.
    TakenUnknown = "taken-unknown",
    /// A new order is not taken, and answered -1007.
    NotTakenUnknown = "not-taken-unknown",
    /// A new order is taken, and the connection is cut instead of an answer.
    CutAnswer = "cut-answer",
    /// The query of an order that exists is answered -2013.
    LateQuery = "late-query",
    /// An order request reaches the matching engine just before its window ends.
    LateRequest = "late-request",
    /// No event of an account is sent; the connection lives.
    StreamMute = "stream-mute",
    /// A subscription to a market stream is confirmed and never sends.
    StreamNever = "stream-never",
    /// The subscriptions of a connection end.
    KeyExpired = "key-expired",
    /// A connection is told of a shutdown and ended.
    ServerShutdown = "server-shutdown",
    /// The events of one command come in reverse order, and twice.
    EventsShuffled = "events-shuffled",
    /// The event of a trade is not sent.
    FillOnlyInList = "fill-only-in-list",
    /// A list of orders or trades lacks its newer half.
    ListPartial = "list-partial",
    /// One message of changes of a book is not sent.
    DepthDamage = "depth-damage",
    /// The venue's clock is three seconds ahead.
    ClockOff = "clock-off",
    /// A request is answered 429.
    RateLimited = "rate-limited",
    /// An answer about an order has an unknown field and an unknown status.
    OddValues = "odd-values",
    /// A signed request is answered -2015.
    KeyRevoked = "key-revoked",
    /// New orders are rejected, cancels are accepted.
    CancelOnly = "cancel-only",
}

/// What the venue does without any fault: ids of clients are free again, trade ids are those of one symbol.
const ALWAYS: [&str; 2] = ["id-reused", "trade-ids-repeat"];

/// Faults of the catalogue that this build does not inject yet.
const NOT_YET: [&str; 16] = [
    "replace-half",
    "replace-cut",
    "fill-after-cancel",
    "fills-replayed",
    "order-ids-reissued",
    "odd-fills",
    "fee-foreign",
    "strangers",
    "balance-moves",
    "filters-change",
    "endpoint-moved",
    "signature-rule",
    "fix-numbers-reset",
    "fix-gap-flags",
    "fix-logon-blocked",
    "fix-contradiction",
];

impl Fault {
    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(fault, _)| *fault == self).map_or("", |(_, name)| name)
    }

    fn parse(name: &str) -> Result<Self, String> {
        if let Some((fault, _)) = Self::ALL.iter().find(|(_, known)| *known == name) {
            return Ok(*fault);
        }
        if ALWAYS.contains(&name) {
            return Err(format!("fault: {name} needs no arming: the venue is always so"));
        }
        if NOT_YET.contains(&name) {
            return Err(format!("fault: {name} is not injected by this build yet"));
        }
        let known: Vec<_> = Self::ALL.iter().map(|(_, name)| *name).collect();
        Err(format!("fault: {name} is none of {}", known.join(", ")))
    }
}

/// A request of the admin port.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FaultRequest {
    fault: String,
    /// The first matching request or event that it strikes, counted from 1.
    #[serde(default = "first")]
    from: u64,
    /// How many it strikes; without a count and without seconds it is one.
    #[serde(default)]
    count: Option<u64>,
    /// How long it lasts.
    #[serde(default)]
    seconds: Option<u32>,
}

fn first() -> u64 {
    1
}

#[derive(Debug)]
struct ArmedFault {
    fault: Fault,
    from: u64,
    /// Still to strike; none means until the end.
    left: Option<u64>,
    until_micros: Option<i64>,
    /// Matching requests or events so far.
    seen: u64,
}

impl ArmedFault {
    fn is_over(&self, now: i64) -> bool {
        self.left == Some(0) || self.until_micros.is_some_and(|until| now > until)
    }

    fn strikes(&mut self, now: i64) -> bool {
        if self.is_over(now) {
            return false;
        }
        self.seen += 1;
        if self.seen < self.from {
            return false;
        }
        self.left = self.left.map(|left| left - 1);
        true
    }
}

#[derive(Debug, Default)]
struct FaultState {
    armed: Vec<ArmedFault>,
    /// Name and time of what was injected.
    injected: Vec<(&'static str, i64)>,
}

#[derive(Debug, Default)]
pub(crate) struct LabFaults {
    state: Mutex<FaultState>,
}

impl LabFaults {
    fn state(&self) -> MutexGuard<'_, FaultState> {
        // Each change is one statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn arm(&self, request: &FaultRequest) -> Result<(), String> {
        let fault = Fault::parse(&request.fault)?;
        if request.from == 0 || request.count == Some(0) || request.seconds == Some(0) {
            return Err("from, count, seconds: must be at least 1".to_owned());
        }
        let left = request.count.or(if request.seconds.is_none() { Some(1) } else { None });
        let until_micros = request.seconds.map(|seconds| now_micros() + i64::from(seconds) * MICROS);
        self.state().armed.push(ArmedFault { fault, from: request.from, left, until_micros, seen: 0 });
        Ok(())
    }

    pub(crate) fn disarm_all(&self) {
        self.state().armed.clear();
    }

    pub(crate) fn list(&self) -> Value {
        let now = now_micros();
        let state = self.state();
        let armed = state.armed.iter().filter(|armed| !armed.is_over(now)).map(|armed| {
            let seconds = armed.until_micros.map(|until| (until - now) / MICROS);
            json!({ "fault": armed.fault.name(), "from": armed.from, "seen": armed.seen, "left": armed.left, "seconds": seconds })
        });
        let injected = state.injected.iter().map(|(name, at)| json!({ "fault": name, "time": at / 1_000 }));
        json!({ "armed": armed.collect::<Vec<_>>(), "injected": injected.collect::<Vec<_>>() })
    }

    /// Counts a matching request or event; true where the fault strikes it.
    pub(crate) fn strikes(&self, fault: Fault) -> bool {
        let now = now_micros();
        let mut state = self.state();
        let mut is_struck = false;
        for armed in state.armed.iter_mut().filter(|armed| armed.fault == fault) {
            is_struck |= armed.strikes(now);
        }
        if is_struck {
            tracing::info!(fault = fault.name(), "fault injected");
            if state.injected.len() >= INJECTED_MAX {
                state.injected.remove(0);
            }
            state.injected.push((fault.name(), now));
        }
        is_struck
    }

    /// Whether the fault is armed, without counting: for faults that last.
    pub(crate) fn is_armed(&self, fault: Fault) -> bool {
        let now = now_micros();
        self.state().armed.iter().any(|armed| armed.fault == fault && !armed.is_over(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> FaultRequest {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_fault_strikes_from_the_nth_match_on_as_often_as_asked() {
        let faults = LabFaults::default();
        faults.arm(&request(r#"{"fault":"taken-unknown","from":3,"count":2}"#)).unwrap();
        let struck: Vec<bool> = (0..6).map(|_| faults.strikes(Fault::TakenUnknown)).collect();
        assert_eq!(struck, [false, false, true, true, false, false]);
        assert!(!faults.strikes(Fault::LateQuery));
        assert_eq!(faults.list()["injected"].as_array().map(Vec::len), Some(2));
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
        assert_eq!(refused(r#"{"fault":"strangers"}"#), "fault: strangers is not injected by this build yet");
        assert!(refused(r#"{"fault":"gremlins"}"#).starts_with("fault: gremlins is none of taken-unknown,"));
        assert_eq!(refused(r#"{"fault":"late-query","from":0}"#), "from, count, seconds: must be at least 1");
    }
}
