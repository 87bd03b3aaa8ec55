//! Both lanes against a slow model: any requests in any order, each batch has what the rules require.

use std::collections::BTreeSet;

use domain::command::CancelOrder;
use domain::{AccountId, Caller, Command, IntId, MessageOrigin};
use proptest::prelude::*;

use super::*;
use crate::inbox::quotas::{InFlightLimits, InFlightPermit};
use crate::inbox::reply::Reply;
use crate::inbox::{Inbox, inbox, inbox_with};

/// The next action of a test run.
#[derive(Debug, Clone)]
enum Act {
    /// An order of that name, from a session or without one.
    Place(Option<u8>, u8),
    Cancel(Option<u8>, u8),
    Kill,
    Remember(u8),
    /// A turn of the engine.
    Take(usize),
}

/// What was handed over, as the model keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Asked {
    Place(Option<u8>, u8, usize),
    Cancel(Option<u8>, u8, usize),
    Kill(usize),
    Remember(u8, usize),
}

impl Asked {
    fn session(&self) -> Option<u8> {
        match self {
            Self::Place(session, ..) | Self::Cancel(session, ..) => *session,
            Self::Remember(session, _) => Some(*session),
            Self::Kill(_) => None,
        }
    }

    fn is_urgent(&self) -> bool {
        matches!(self, Self::Cancel(..) | Self::Kill(_) | Self::Remember(..))
    }
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let session = prop_oneof![Just(None), (0..3_u8).prop_map(Some)];
    let order = 0..6_u8;
    let act = prop_oneof![
        4 => (session.clone(), order.clone()).prop_map(|(session, order)| Act::Place(session, order)),
        4 => (session, order).prop_map(|(session, order)| Act::Cancel(session, order)),
        1 => Just(Act::Kill),
        1 => (0..3_u8).prop_map(Act::Remember),
        2 => (1..4_usize).prop_map(Act::Take),
    ];
    prop::collection::vec(act, 1..60)
}

fn envelope(session: Option<u8>, number: usize, command: Command) -> CommandEnvelope {
    let origin = session.map(|session| {
        let (session, number) = (session.to_string().into(), number as u64);
        Box::new(MessageOrigin { session, seq_num: number, request_echo: None, poss_resend: false })
    });
    // The reason of a command is its number, so that the test recognises it.
    let caller = Caller { user: Some(number.to_string().into()), origin, ..Caller::platform() };
    CommandEnvelope { caller, command }
}

fn name(order: u8) -> IntId {
    format!("O-{order}").parse().unwrap()
}

fn kill() -> Command {
    Command::Kill { scope: domain::risk::RiskScope::Platform, reason: None }
}

fn hand_over(inbox: &Inbox, asked: &Asked) {
    let ticket = match asked {
        Asked::Place(session, order, number) => {
            inbox.command(envelope(*session, *number, Command::NextOrderId(AccountId((*order).into()))))
        }
        Asked::Cancel(session, order, number) => {
            inbox.command(envelope(*session, *number, Command::Cancel(CancelOrder::new(name(*order)))))
        }
        Asked::Kill(number) => inbox.command(envelope(None, *number, kill())),
        Asked::Remember(session, number) => {
            inbox.append_ledger_record(number.to_string().into_bytes(), Some(&session.to_string()))
        }
    };
    drop(ticket.unwrap());
}

/// The number that a request was given.
fn number_of(request: &EngineRequest) -> usize {
    match &request.payload {
        RequestPayload::Command(envelope) => envelope.caller.user.as_ref().unwrap().parse().unwrap(),
        RequestPayload::LedgerRecord(record) => std::str::from_utf8(record).unwrap().parse().unwrap(),
        RequestPayload::Query(_) | RequestPayload::DeliveryLog(_) => unreachable!("the test sends none"),
    }
}

/// Everything that waits, oldest first, and the orders that the engine has.
#[derive(Default)]
struct Model {
    waiting: Vec<Asked>,
    known: BTreeSet<u8>,
}

impl Model {
    fn may_overtake(&self, at: usize) -> bool {
        let asked = &self.waiting[at];
        let has_older = |other: &Asked| asked.session().is_some() && other.session() == asked.session();
        let is_known = !matches!(asked, Asked::Cancel(_, order, _) if !self.known.contains(order));
        asked.is_urgent() && is_known && !self.waiting[..at].iter().any(has_older)
    }

    fn take(&mut self, most: usize) -> Vec<Asked> {
        let mut taken = Vec::new();
        let mut at = 0;
        // What overtakes leaves at once, so what its session sent next has nothing before it any more.
        while at < self.waiting.len() && taken.len() < most && self.waiting.iter().any(|other| !other.is_urgent()) {
            if self.may_overtake(at) {
                taken.push(self.waiting.remove(at));
            } else {
                at += 1;
            }
        }
        taken.extend(self.waiting.drain(..most.min(self.waiting.len())));
        self.known.extend(taken.iter().filter_map(|asked| match asked {
            Asked::Place(_, order, _) => Some(*order),
            _ => None,
        }));
        taken
    }
}

fn number(asked: &Asked) -> usize {
    match asked {
        Asked::Place(_, _, number) | Asked::Cancel(_, _, number) | Asked::Kill(number) | Asked::Remember(_, number) => {
            *number
        }
    }
}

fn is_known(known: &BTreeSet<u8>, envelope: &CommandEnvelope) -> bool {
    match &envelope.command {
        Command::Cancel(cancel) => known.iter().any(|order| name(*order) == cancel.int_id),
        _ => true,
    }
}

/// Runs the actions; returns all requests in the order in which they were processed.
fn play(acts: Vec<Act>) -> Result<Vec<Asked>, TestCaseError> {
    let ((inbox, lanes), mut model, mut taken) = (inbox(), Model::default(), Vec::new());
    let mut acts: Vec<_> = acts.into_iter().enumerate().collect();
    let end = acts.len();
    acts.extend((0..2 * end).map(|turn| (end + turn, Act::Take(1))));
    for (at, act) in acts {
        let asked = match act {
            Act::Place(session, order) => Asked::Place(session, order, at),
            Act::Cancel(session, order) => Asked::Cancel(session, order, at),
            Act::Kill => Asked::Kill(at),
            Act::Remember(session) => Asked::Remember(session, at),
            Act::Take(most) => {
                let known = model.known.clone();
                let got: Vec<_> =
                    lanes.requests.take_batch(most, |asked| is_known(&known, asked)).iter().map(number_of).collect();
                let expected = model.take(most);
                prop_assert_eq!(&got, &expected.iter().map(number).collect::<Vec<_>>());
                taken.extend(expected);
                continue;
            }
        };
        hand_over(&inbox, &asked);
        model.waiting.push(asked);
    }
    prop_assert!(lanes.requests.is_empty() && model.waiting.is_empty());
    Ok(taken)
}

proptest! {
    #[test]
    fn whatever_comes_is_taken_by_the_rules(acts in acts()) {
        let asked = acts.iter().filter(|act| !matches!(act, Act::Take(_))).count();
        let taken = play(acts)?;
        let numbers: BTreeSet<_> = taken.iter().map(number).collect();
        prop_assert_eq!((taken.len(), numbers.len()), (asked, asked), "nothing is lost or taken twice");
        for (at, later) in taken.iter().enumerate() {
            for earlier in &taken[..at] {
                let is_same = later.session().is_some() && earlier.session() == later.session();
                prop_assert!(!is_same || number(earlier) < number(later), "a session's own order is kept");
            }
        }
        for (at, cancel) in taken.iter().enumerate() {
            let Asked::Cancel(_, order, came) = cancel else { continue };
            let first = taken.iter().position(|asked| matches!(asked, Asked::Place(_, name, _) if name == order));
            if let Some(first) = first.filter(|first| number(&taken[*first]) < *came) {
                prop_assert!(first < at, "a cancel overtook the order it names");
            }
        }
    }
}

#[test]
fn a_known_order_is_cancelled_and_the_switch_pulled_before_a_flood_is_worked_off() {
    let (inbox, lanes) = inbox();
    for order in 0..100 {
        hand_over(&inbox, &Asked::Place(Some(1), order, order.into()));
    }
    hand_over(&inbox, &Asked::Cancel(Some(2), 200, 200));
    hand_over(&inbox, &Asked::Cancel(Some(1), 200, 201));
    hand_over(&inbox, &Asked::Kill(202));
    let taken: Vec<_> = lanes.requests.take_batch(2, |_| true).iter().map(number_of).collect();
    assert_eq!(taken, [200, 202, 0, 1], "the flooding session's own cancel waits for what it sent before");
}

#[test]
fn the_answer_to_one_session_is_recorded_before_the_flood_of_another_is_worked_off() {
    let (inbox, lanes) = inbox();
    for order in 0..100 {
        hand_over(&inbox, &Asked::Place(Some(1), order, order.into()));
    }
    hand_over(&inbox, &Asked::Remember(2, 200));
    hand_over(&inbox, &Asked::Remember(1, 201));
    hand_over(&inbox, &Asked::Cancel(Some(2), 1, 202));
    drop(inbox.append_ledger_record(b"203".to_vec(), None).unwrap());
    let taken: Vec<_> = lanes.requests.take_batch(2, |_| true).iter().map(number_of).collect();
    assert_eq!(taken, [200, 202, 0, 1], "what was recorded of the flooding session stays behind its orders");
    let rest: Vec<_> = lanes.requests.try_iter().map(|request| number_of(&request)).skip(98).collect();
    assert_eq!(rest, [201, 203], "a record of no session waits for its turn");
}

#[test]
fn a_strategy_s_cancel_stays_behind_its_own_orders_and_its_delivery_log() {
    let ((inbox, lanes), trend) = (inbox(), Caller::new(Source::Strategy, Some("TREND".into())));
    let ask = |command| drop(inbox.command(CommandEnvelope { caller: trend.clone(), command }).unwrap());
    hand_over(&inbox, &Asked::Place(Some(1), 1, 1));
    inbox.append_delivery_log(vec![7], "TREND").unwrap();
    ask(Command::Cancel(CancelOrder::new(name(9))));
    ask(Command::ResetCash);
    let kinds = lanes.requests.take_batch(9, |_| true).into_iter().map(|request| match request.payload {
        RequestPayload::Command(envelope) => format!("{:?}", envelope.command).chars().take(6).collect(),
        other => format!("{other:?}"),
    });
    assert_eq!(kinds.collect::<Vec<_>>(), ["NextOr", "DeliveryLog([7])", "Cancel", "ResetC"]);
}

#[test]
fn the_kill_switch_finds_room_where_orders_and_cancels_find_none() {
    let room = LaneLimits { requests: 1, cancels: 1, kills: 1, records: 1 };
    let (inbox, lanes) = inbox_with(room, InFlightLimits::default());
    let asked = [Asked::Place(None, 1, 0), Asked::Cancel(None, 1, 1), Asked::Remember(1, 2), Asked::Kill(3)];
    asked.iter().for_each(|asked| hand_over(&inbox, asked));
    assert_eq!(inbox.depth(), LaneDepth { ordinary: 1, urgent: 3 });
    let busy = inbox.command(envelope(None, 4, Command::ResetCash)).map(drop);
    assert_eq!(busy, Err(InboxError::Busy));
    assert_eq!(lanes.requests.take_batch(8, |_| true).len(), 4);
    assert!(inbox.command(envelope(None, 4, Command::ResetCash)).is_ok());
}

#[tokio::test]
async fn waiting_callers_get_slots_in_turn_and_an_error_when_the_engine_stops() {
    let room = LaneLimits { requests: 1, ..LaneLimits::default() };
    let (inbox, lanes) = inbox_with(room, InFlightLimits::default());
    let first = inbox.command(envelope(None, 1, Command::ResetCash)).unwrap();
    let client = inbox.quotas().session(None, None);
    let allowance = client.acquire(&Command::ResetCash).await;
    let (other, told) = (inbox.clone(), envelope(None, 2, Command::ResetCash));
    let waiting = tokio::spawn(async move { other.command_when_free(told, allowance).await });
    tokio::task::yield_now().await;
    let answer =
        |request: EngineRequest| request.reply_to.send(Reply { sequence: 1, outcome: Ok(domain::Answer::Done) });
    lanes.requests.try_iter().take(1).for_each(answer);
    assert!(first.recv().await.is_ok());
    let second = waiting.await.unwrap().unwrap();
    let third =
        tokio::spawn(
            async move { inbox.query_when_free(domain::Query::State, InFlightPermit::default()).await.map(drop) },
        );
    tokio::task::yield_now().await;
    drop(lanes);
    assert_eq!(third.await.unwrap(), Err(InboxError::Stopped));
    assert!(second.recv().await.is_err());
}
