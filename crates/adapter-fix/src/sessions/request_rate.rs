//! Throttle of a dialect: so many messages in so many seconds. Cancels keep a tenth for themselves, and questions leave half of it to orders and cancels.

use std::collections::VecDeque;

use domain::Timestamp;

use crate::dialect::Throttle;
use crate::requests::{RequestKind, RequestRefusal};

/// Orders and replaces may use so many tenths.
const SHARE_TENTHS: usize = 9;
/// Questions and requests for prices leave room for orders.
const QUESTIONS_SHARE_TENTHS: usize = 5;

pub(crate) struct RequestRate {
    throttle: Option<Throttle>,
    /// When each request of the span left.
    sent: VecDeque<Timestamp>,
}

impl RequestRate {
    pub(crate) fn new(throttle: Option<Throttle>) -> Self {
        Self { throttle, sent: VecDeque::new() }
    }

    /// Counts a request, or refuses it at once.
    pub(crate) fn take(&mut self, at: Timestamp, kind: RequestKind) -> Result<(), RequestRefusal> {
        let Some(Throttle { messages, seconds }) = self.throttle else { return Ok(()) };
        while self.sent.front().is_some_and(|sent_at| sent_at.plus_seconds(seconds.into()) <= at) {
            self.sent.pop_front();
        }
        let whole = usize::try_from(messages).unwrap_or(usize::MAX);
        let limit = match kind {
            RequestKind::Cancel => whole,
            RequestKind::New | RequestKind::Replace => (whole * SHARE_TENTHS / 10).max(1),
            RequestKind::Status
            | RequestKind::MassStatus
            | RequestKind::TradeCapture
            | RequestKind::Positions
            | RequestKind::MarketData => (whole * QUESTIONS_SHARE_TENTHS / 10).max(1),
        };
        if self.sent.len() >= limit {
            let reason = format!("the venue takes {messages} messages in {seconds} s");
            return Err(RequestRefusal::new("venue-rate", reason));
        }
        self.sent.push_back(at);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After a log-on every open order may be asked about at once.
    #[test]
    fn questions_leave_half_of_the_throttle_to_orders_and_cancels() {
        for question in [RequestKind::Status, RequestKind::MassStatus, RequestKind::TradeCapture] {
            let mut rate = RequestRate::new(Some(Throttle { messages: 10, seconds: 2 }));
            let taken = |rate: &mut RequestRate, kind| rate.take(Timestamp(0), kind).is_ok();
            let asked = (0..10).filter(|_| taken(&mut rate, question)).count();
            let sent = (0..10).filter(|_| taken(&mut rate, RequestKind::New)).count();
            assert_eq!((asked, sent), (5, 4));
        }
    }

    #[test]
    fn cancels_keep_a_tenth_and_the_span_slides() {
        let mut rate = RequestRate::new(Some(Throttle { messages: 10, seconds: 2 }));
        let at = |second: i64| Timestamp(0).plus_seconds(second);
        let taken = |rate: &mut RequestRate, second, kind| rate.take(at(second), kind).is_ok();
        let orders = (0..10).filter(|_| taken(&mut rate, 0, RequestKind::New)).count();
        let cancels = (0..10).filter(|_| taken(&mut rate, 1, RequestKind::Cancel)).count();
        assert_eq!((orders, cancels), (9, 1));
        let refusal = rate.take(at(1), RequestKind::Status).unwrap_err().to_string();
        assert_eq!(refusal, "venue-rate: the venue takes 10 messages in 2 s");
        assert!(taken(&mut rate, 2, RequestKind::New));
    }
}
