//! Cancel on disconnect: open orders are cancelled after a grace period unless the client logs on again. After a
//! restart the period begins at start-up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bus::{InFlightPermit, Inbox};
use domain::command::CancelOrder;
use domain::order::PendingRequest;
use domain::query::Filter;
use domain::{Answer, Caller, Command, CommandEnvelope, Order, OrderId, Query, Refusal, Source, Text, TimeInForce};
use fix::{CancelOnDisconnect, GatewaySettings};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::command_submission::Waits;
use crate::limits::{CANCEL_RETRY_MAX_SECONDS, CANCEL_RETRY_SECONDS};

/// The code of a refusal by a venue that takes no cancels.
const NO_CANCEL: &str = "venue-no-cancel";

/// A client, and what it may have left behind.
pub(crate) struct Absent {
    pub(crate) inbox: Inbox,
    pub(crate) comp_id: Text,
    pub(crate) waits: Waits,
}

/// When each order may be cancelled again: a venue that refuses is asked less and less often.
#[derive(Default)]
struct CancelRetries {
    next: BTreeMap<OrderId, CancelRetry>,
    /// Orders whose venue takes no cancels.
    given_up: BTreeSet<OrderId>,
}

struct CancelRetry {
    at: Instant,
    pause: Duration,
}

impl CancelRetries {
    /// Whether the order is cancelled now; the next time is after twice the pause.
    fn is_due(&mut self, order: OrderId, now: Instant) -> bool {
        let first = CancelRetry { at: now, pause: Duration::from_secs(CANCEL_RETRY_SECONDS) };
        if self.given_up.contains(&order) {
            return false;
        }
        let retry = self.next.entry(order).or_insert(first);
        let is_due = retry.at <= now;
        if is_due {
            retry.at = now + retry.pause;
            retry.pause = (retry.pause * 2).min(Duration::from_secs(CANCEL_RETRY_MAX_SECONDS));
        }
        is_due
    }
}

impl CancelRetries {
    /// What a venue cannot do is not tried again while the client is away.
    fn on_refused(&mut self, order: &Order, refusal: &Refusal) {
        if refusal.code() != NO_CANCEL {
            return tracing::warn!(order = %order.int_id, %refusal, "cancel on disconnect was refused; retrying");
        }
        tracing::error!(order = %order.int_id, %refusal, "cancel on disconnect is not possible: the order stays");
        self.given_up.insert(order.id);
    }
}

/// Runs until the session's task ends, which holds the other end of `present`.
pub(crate) async fn run(absent: Absent, rules: GatewaySettings, mut present: watch::Receiver<bool>) {
    let grace = Duration::from_secs(u64::from(rules.cancel_on_disconnect_grace_seconds));
    while present.wait_for(|is_here| !is_here).await.is_ok() {
        let back = timeout(grace, present.wait_for(|is_here| *is_here)).await.map(|seen| seen.map(drop));
        match back {
            Ok(Err(_)) => return,
            Ok(Ok(_)) => continue,
            Err(_) => absent.cancel_all(rules.cancel_on_disconnect, &mut present).await,
        }
        // A client that came and went during the last look is absent anew.
        if present.changed().await.is_err() {
            return;
        }
    }
}

impl Absent {
    /// A venue may be away too, and an order may still wait for room, so it is tried until nothing is left.
    pub(crate) async fn cancel_all(&self, which: CancelOnDisconnect, present: &mut watch::Receiver<bool>) {
        let mut retries = CancelRetries::default();
        while !*present.borrow_and_update() {
            // Before the question: what was handed over by then is in front of it.
            let is_all_there = !self.waits.is_so();
            match self.affected_orders(which).await {
                Some(orders) if orders.is_empty() && is_all_there => return,
                Some(orders) => self.cancel(&orders, &mut retries).await,
                None => {}
            }
            sleep(Duration::from_secs(CANCEL_RETRY_SECONDS)).await;
        }
    }

    /// None while the engine does not answer.
    async fn affected_orders(&self, which: CancelOnDisconnect) -> Option<Vec<Arc<Order>>> {
        // It waits in line: the orders of others must not keep it out.
        let query = self.inbox.query_when_free(Query::OpenOrders(Filter::default()), InFlightPermit::default());
        let reply = query.await.ok()?.recv().await.ok()?;
        let Ok(Answer::Orders(orders)) = reply.outcome else { return None };
        Some(orders.into_iter().filter(|order| is_affected(order, &self.comp_id, which)).collect())
    }

    async fn cancel(&self, orders: &[Arc<Order>], retries: &mut CancelRetries) {
        for order in orders.iter().filter(|order| needs_cancel(order)) {
            if !retries.is_due(order.id, Instant::now()) {
                continue;
            }
            tracing::info!(session = %self.comp_id, order = %order.int_id, "cancel on disconnect: order is cancelled");
            let command = Command::Cancel(CancelOrder::new(order.int_id.clone()));
            let user = Some("cancel on disconnect".into());
            let caller = Caller::new(Source::Platform, user);
            if let Ok(ticket) = self.inbox.command(CommandEnvelope { caller, command })
                && let Ok(reply) = ticket.recv().await
                && let Err(refusal) = reply.outcome
            {
                retries.on_refused(order, &refusal);
            }
        }
    }
}

/// Also while a cancel is pending: the venue may refuse it.
fn is_affected(order: &Order, comp_id: &Text, which: CancelOnDisconnect) -> bool {
    let is_own = order.source == Source::Fix(comp_id.clone());
    is_own && order.state.is_working() && is_covered(order.terms.tif, which)
}

/// A pending replace is no hindrance; a second cancel would be refused.
fn needs_cancel(order: &Order) -> bool {
    !matches!(order.pending, PendingRequest::Cancel(..))
}

/// An order with a longer life than the day is meant to stay.
fn is_covered(tif: TimeInForce, which: CancelOnDisconnect) -> bool {
    match which {
        CancelOnDisconnect::Off => false,
        CancelOnDisconnect::DayOrders => !matches!(tif, TimeInForce::Gtc | TimeInForce::Gtd { .. }),
        CancelOnDisconnect::All => true,
    }
}

#[cfg(test)]
mod tests {
    use bus::inbox::{InboxReceiver, inbox};
    use bus::{Reply, RequestPayload};
    use domain::order::OrderRequest;
    use domain::report::ListingRefusal;

    use super::*;

    /// What the engine is asked next, while these orders are open.
    async fn next_asked(lanes: &InboxReceiver, open: &[Arc<Order>]) -> String {
        answer_next(lanes, open, Ok(Answer::Done)).await
    }

    /// A cancel is answered so.
    async fn answer_next(lanes: &InboxReceiver, open: &[Arc<Order>], canceled: Result<Answer, Refusal>) -> String {
        let request = loop {
            match lanes.requests.try_recv() {
                Some(request) => break request,
                None => sleep(Duration::from_millis(100)).await,
            }
        };
        let (asked, outcome) = match &request.payload {
            RequestPayload::Query(_) => ("open orders".to_owned(), Ok(Answer::Orders(open.to_vec()))),
            RequestPayload::Command(envelope) => match &envelope.command {
                Command::Cancel(cancel) => (format!("cancel {}", cancel.int_id), canceled),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        };
        request.reply_to.send(Reply { sequence: 1, outcome });
        asked
    }

    #[tokio::test(start_paused = true)]
    async fn an_order_that_waits_for_room_when_its_client_goes_is_cancelled_too() {
        let ((inbox, lanes), waits) = (inbox(), Waits::default());
        let (_here, mut present) = watch::channel(false);
        waits.begin();
        let absent = Absent { inbox, comp_id: "DESK".into(), waits: waits.clone() };
        let over = tokio::spawn(async move { absent.cancel_all(CancelOnDisconnect::All, &mut present).await });
        for _ in 0..3 {
            assert_eq!(next_asked(&lanes, &[]).await, "open orders", "there may be one behind it");
        }
        waits.end();
        let order = Arc::new(Order { source: Source::Fix("DESK".into()), ..samples::order(1) });
        let open = [order.clone()];
        let asked = [next_asked(&lanes, &open).await, next_asked(&lanes, &open).await];
        assert_eq!(asked, ["open orders".to_owned(), format!("cancel {}", order.int_id)]);
        assert_eq!(next_asked(&lanes, &[]).await, "open orders");
        over.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_cancel_that_is_refused_again_and_again_is_repeated_after_ever_longer_pauses() {
        let ((inbox, lanes), waits) = (inbox(), Waits::default());
        let (_here, mut present) = watch::channel(false);
        let absent = Absent { inbox, comp_id: "DESK".into(), waits };
        let began = Instant::now();
        tokio::spawn(async move { absent.cancel_all(CancelOnDisconnect::All, &mut present).await });
        let open = [Arc::new(Order { source: Source::Fix("DESK".into()), ..samples::order(1) })];
        let mut cancelled = Vec::new();
        while cancelled.len() < 8 {
            if next_asked(&lanes, &open).await.starts_with("cancel") {
                cancelled.push(began.elapsed().as_secs());
            }
        }
        let pauses: Vec<u64> = cancelled.windows(2).map(|pair| pair[1] - pair[0]).collect();
        // It is looked every second or so; the pauses themselves are 1, 2, 4, 8, 16, 30, 30.
        let limits = [1..=2, 2..=4, 4..=6, 8..=10, 16..=18, 30..=32, 30..=32];
        assert!(pauses.iter().zip(limits).all(|(pause, limit)| limit.contains(pause)), "{pauses:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_order_whose_venue_takes_no_cancels_is_tried_once() {
        let ((inbox, lanes), waits) = (inbox(), Waits::default());
        let (_here, mut present) = watch::channel(false);
        let absent = Absent { inbox, comp_id: "DESK".into(), waits };
        tokio::spawn(async move { absent.cancel_all(CancelOnDisconnect::All, &mut present).await });
        let open = [1, 2].map(|id| Arc::new(Order { source: Source::Fix("DESK".into()), ..samples::order(id) }));
        let no_cancel = Refusal::Listing { adapter: open[0].adapter.clone(), refusal: ListingRefusal::NoCancel };
        let mut asked = Vec::new();
        while asked.len() < 100 {
            asked.push(answer_next(&lanes, &open, Err(no_cancel.clone())).await);
        }
        let canceled: Vec<_> = asked.iter().filter(|what| what.starts_with("cancel")).collect();
        assert_eq!(canceled, [&format!("cancel {}", open[0].int_id), &format!("cancel {}", open[1].int_id)]);
    }

    #[test]
    fn the_setting_says_which_orders_go_with_their_client() {
        let tifs = [TimeInForce::Day, TimeInForce::Gtc, TimeInForce::Gtd { until: domain::Timestamp(1) }];
        let covered = |which| tifs.map(|tif| is_covered(tif, which));
        assert_eq!(covered(CancelOnDisconnect::Off), [false, false, false]);
        assert_eq!(covered(CancelOnDisconnect::DayOrders), [true, false, false]);
        assert_eq!(covered(CancelOnDisconnect::All), [true, true, true]);
    }

    #[test]
    fn a_pending_replace_is_cancelled_and_a_pending_cancel_is_waited_for() {
        let comp_id: Text = "DESK".into();
        let order = |pending| Order { source: Source::Fix(comp_id.clone()), pending, ..samples::order(1) };
        let request = || {
            Box::new(OrderRequest {
                cl_ord_id: None,
                source: Source::Fix(comp_id.clone()),
                requested_by: None,
                reason: None,
            })
        };
        let replaced = PendingRequest::Replace(request(), Box::new(samples::order(1).terms));
        let pending = [PendingRequest::Nothing, replaced, PendingRequest::Cancel(request(), None)];
        let seen = pending.map(|pending| {
            let order = order(pending);
            (is_affected(&order, &comp_id, CancelOnDisconnect::All), needs_cancel(&order))
        });
        assert_eq!(seen, [(true, true), (true, true), (true, false)]);
        assert!(!is_affected(&order(PendingRequest::Nothing), &"OTHER".into(), CancelOnDisconnect::All));
    }
}
