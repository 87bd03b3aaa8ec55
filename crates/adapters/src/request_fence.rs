//! The instant after which requests that were sent can no longer take effect.

use std::collections::VecDeque;

use domain::report::{AdapterCapabilities, InquiryAnswer, InquiryResult, RequestTiming};
use domain::{Instruction, OrderId, Timestamp};

use crate::venue::SendOutcome;

/// Until when the requests that were sent can still take effect. Of older ones nothing needs to be kept.
pub(crate) struct RequestFence {
    /// `None` where there is no bound.
    life_millis: Option<i64>,
    /// The instant of each request that can still take effect, in the order of sending.
    requests: VecDeque<SentRequest>,
    /// A process before this one may have sent requests until this one began.
    started: Option<Timestamp>,
    /// When the venue was asked last what it has.
    asked: Option<Timestamp>,
}

struct SentRequest {
    at: Timestamp,
    order: OrderId,
    /// A submission or a replace; a cancel places nothing.
    places: bool,
}

impl RequestFence {
    pub(crate) fn new(capabilities: &AdapterCapabilities) -> Self {
        let life_millis = match capabilities.request_timing {
            None => Some(0),
            Some(RequestTiming { life_millis, .. }) => life_millis.map(i64::from),
        };
        Self { life_millis, requests: VecDeque::new(), started: None, asked: None }
    }

    pub(crate) fn start(&mut self, at: Timestamp) {
        self.started.get_or_insert(at);
    }

    pub(crate) fn record(&mut self, at: Timestamp, instruction: &Instruction, sending: &SendOutcome) {
        let (Instruction::Submit(order) | Instruction::Replace(order, _) | Instruction::Cancel(order)) = instruction
        else {
            if matches!(instruction, Instruction::ListOpenOrders | Instruction::Inquire(_)) {
                self.asked = Some(at);
            }
            return;
        };
        // Many instructions are carried out at one instant. What was asked before the request does not show what becomes of it.
        let at = if self.asked == Some(at) { Timestamp(at.0.saturating_add(1)) } else { at };
        let Some(life_millis) = self.life_millis else { return };
        while self.requests.front().is_some_and(|sent| sent.at.plus_millis(life_millis) < at) {
            self.requests.pop_front();
        }
        if !matches!(sending, SendOutcome::NotSent(_)) {
            let places = !matches!(instruction, Instruction::Cancel(_));
            self.requests.push_back(SentRequest { at, order: order.id, places });
        }
    }

    /// After it no request can change what the venue answered: an order that it does not know can only be placed.
    pub(crate) fn of_answer(&self, answer: &InquiryAnswer) -> Option<Timestamp> {
        let is_found = matches!(answer.result, InquiryResult::Found(..));
        let counts = |sent: &&SentRequest| sent.order == answer.order && (is_found || sent.places);
        self.dead_after(self.requests.iter().rev().find(counts))
    }

    pub(crate) fn of_all(&self) -> Option<Timestamp> {
        self.dead_after(self.requests.back())
    }

    fn dead_after(&self, request: Option<&SentRequest>) -> Option<Timestamp> {
        let newest = request.map(|sent| sent.at).or(self.started)?;
        self.life_millis.map(|millis| newest.plus_millis(millis))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::report::{RefusesRepeatedIds, VenueOrder, VenueOrderState};

    use super::*;

    fn fence(timing: Option<RequestTiming>) -> RequestFence {
        RequestFence::new(&AdapterCapabilities {
            exchanges: vec![],
            expires_orders: true,
            refuses_repeated_ids: RefusesRepeatedIds::WhileOpen,
            simulated: false,
            request_timing: timing,
            ..AdapterCapabilities::default()
        })
    }

    fn of_order(fence: &RequestFence, id: u64, result: InquiryResult) -> Option<i64> {
        let as_of = Timestamp(0);
        let answer =
            InquiryAnswer { order: OrderId(id), as_of, dead_after: None, result, other_legs: None, filled: None };
        fence.of_answer(&answer).map(|at| at.nanos_since(Timestamp(0)) / 1_000_000)
    }

    fn submit(fence: &mut RequestFence, millis: i64, id: u64, sending: &SendOutcome) {
        let at = Timestamp(0).plus_millis(millis);
        fence.record(at, &Instruction::Submit(Arc::new(samples::order(id))), sending);
    }

    #[test]
    fn a_question_before_a_request_of_the_same_instant_proves_nothing_of_it() {
        let asked_at = Timestamp(0).plus_millis(1_000);
        let of_all = |instructions: &[Instruction]| {
            let mut fence = fence(None);
            instructions.iter().for_each(|instruction| fence.record(asked_at, instruction, &SendOutcome::Sent));
            fence.of_all()
        };
        let [question, request] = [Instruction::ListOpenOrders, Instruction::Submit(Arc::new(samples::order(1)))];
        assert_eq!(of_all(&[request.clone(), question.clone()]), Some(asked_at), "the answer shows what became of it");
        assert!(of_all(&[question, request]) > Some(asked_at));
    }

    #[test]
    fn a_request_lives_from_its_sending_and_one_of_an_earlier_process_from_the_start() {
        let mut fence = fence(Some(RequestTiming { life_millis: Some(5_000), read_lag_millis: 100 }));
        let millis = |at: Option<Timestamp>| at.map(|at| at.nanos_since(Timestamp(0)) / 1_000_000);
        fence.start(Timestamp(0).plus_millis(1_000));
        submit(&mut fence, 2_000, 1, &SendOutcome::Sent);
        submit(&mut fence, 3_000, 2, &SendOutcome::Unknown { reason: "cut".into(), dead_after: None });
        submit(&mut fence, 4_000, 3, &SendOutcome::NotSent("full".into()));
        let of = |fence: &RequestFence| [1, 2, 3].map(|id| of_order(fence, id, InquiryResult::NotFound));
        assert_eq!(of(&fence), [Some(7_000), Some(8_000), Some(6_000)]);
        assert_eq!(millis(fence.of_all()), Some(8_000));
        // The first two can no longer take effect, so only the start is remembered of them.
        submit(&mut fence, 9_000, 4, &SendOutcome::Sent);
        assert_eq!(of(&fence), [Some(6_000); 3]);
        assert_eq!(fence.requests.len(), 1);
    }

    #[test]
    fn without_a_bound_nothing_is_ever_over() {
        let mut endless = fence(Some(RequestTiming { life_millis: None, read_lag_millis: 0 }));
        endless.start(Timestamp(0));
        submit(&mut endless, 1, 1, &SendOutcome::Sent);
        assert_eq!((of_order(&endless, 1, InquiryResult::NotFound), endless.of_all()), (None, None));
        let mut immediate = fence(None);
        assert_eq!(immediate.of_all(), None);
        submit(&mut immediate, 1, 1, &SendOutcome::Sent);
        assert_eq!(of_order(&immediate, 1, InquiryResult::NotFound), Some(1));
    }

    #[test]
    fn a_cancel_cannot_place_an_order_that_the_venue_does_not_know() {
        let mut fence = fence(Some(RequestTiming { life_millis: Some(5_000), read_lag_millis: 100 }));
        submit(&mut fence, 1_000, 1, &SendOutcome::Sent);
        let order = Arc::new(samples::order(1));
        fence.record(Timestamp(0).plus_millis(3_000), &Instruction::Cancel(order.clone()), &SendOutcome::Sent);
        let (terms, state) = (order.terms, VenueOrderState::Live);
        let seen = VenueOrder { order: order.id, ext_id: None, terms, state, reason: None };
        let found = InquiryResult::Found(seen, vec![]);
        assert_eq!(of_order(&fence, 1, InquiryResult::NotFound), Some(6_000));
        assert_eq!(of_order(&fence, 1, found), Some(8_000));
    }
}
