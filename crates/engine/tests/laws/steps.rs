//! Random steps of clients, venues, prices and clocks. Numbers are small, so that steps interact.

use domain::order::{OrderKind, Side};
use domain::risk::{Burst, Limits, SelfTrade};
use domain::{
    AccountId, Amount, Quantity, Scope, SecurityId, StrategyId, TimeInForce, Timestamp, TradingState, TransactionKind,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::desk::{SECURITIES, price_of};

#[derive(Debug, Clone)]
pub(crate) enum Step {
    Place(Ticket),
    Modify {
        order: Index,
        quantity: Option<i64>,
        ticks: Option<i64>,
        tif: Option<Lasting>,
    },
    Cancel {
        order: Index,
    },
    Reduce {
        position: Index,
        quantity: Option<i64>,
    },
    Record(Entry),
    ResetPositions,
    ResetCash,
    SetState(Scope, TradingState),
    Kill(Scope),
    SetLimits(Scope, Box<Limits>),
    Venue {
        order: Index,
        word: Word,
    },
    /// A report that was made before comes once more.
    Again(Index),
    Disconnect(usize),
    /// `shown` gives for each open order how the venue's snapshot shows it.
    Reconnect {
        adapter: usize,
        complete: bool,
        shown: Vec<Shown>,
    },
    Mark {
        security: SecurityId,
        ticks: i64,
    },
    Wait {
        millis: i64,
    },
}

/// An order as a client enters it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticket {
    pub(crate) account: AccountId,
    pub(crate) strategy: StrategyId,
    pub(crate) security: SecurityId,
    pub(crate) side: Side,
    pub(crate) quantity: i64,
    pub(crate) shape: Shape,
    pub(crate) ticks: i64,
    pub(crate) tif: Lasting,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    Market,
    Limit,
    Stop,
    StopLimit,
}

impl Shape {
    pub(crate) fn kind(self, security: SecurityId, ticks: i64) -> OrderKind {
        let (limit, stop) = (price_of(security, ticks), price_of(security, ticks + 3));
        match self {
            Self::Market => OrderKind::Market,
            Self::Limit => OrderKind::Limit { limit },
            Self::Stop => OrderKind::Stop { stop },
            Self::StopLimit => OrderKind::StopLimit { limit, stop },
        }
    }
}

/// A time in force whose date is relative to now.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lasting {
    Plainly(TimeInForce),
    Seconds(i64),
}

impl Lasting {
    pub(crate) fn tif(self, now: Timestamp) -> TimeInForce {
        match self {
            Self::Plainly(tif) => tif,
            Self::Seconds(seconds) => TimeInForce::Gtd { until: now.plus_seconds(seconds) },
        }
    }
}

/// A manual transaction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) kind: TransactionKind,
    pub(crate) account: AccountId,
    pub(crate) strategy: StrategyId,
    pub(crate) security: SecurityId,
    pub(crate) quantity: i64,
    pub(crate) ticks: i64,
}

/// A venue report on an order.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Word {
    Accepts,
    Rejects,
    Fills {
        quantity: i64,
        ticks: i64,
    },
    /// All that is left.
    FillsUp {
        ticks: i64,
    },
    Cancels,
    Expires,
    /// With the requested terms, else with another quantity of the venue's own.
    Replaces {
        quantity: i64,
    },
    RefusesCancel,
    RefusesReplace,
    /// One of the order's executions, or one that never was.
    Busts(Index),
    Corrects {
        which: Index,
        quantity: i64,
        ticks: i64,
    },
    Loses,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Shown {
    Live,
    /// With the requested terms.
    LiveReplaced,
    /// Live, with an execution that was not yet reported.
    LiveFilled,
    Canceled,
    Expired,
    Rejected,
    Nowhere,
}

pub(crate) fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => ticket().prop_map(Step::Place),
        30 => (any::<Index>(), word()).prop_map(|(order, word)| Step::Venue { order, word }),
        4 => any::<Index>().prop_map(|order| Step::Cancel { order }),
        6 => (any::<Index>(), prop::option::of(0..60_i64), prop::option::of(ticks()), prop::option::weighted(0.2, tif()))
            .prop_map(|(order, quantity, ticks, tif)| Step::Modify { order, quantity, ticks, tif }),
        3 => (any::<Index>(), prop::option::of(1..40_i64)).prop_map(|(position, quantity)| Step::Reduce { position, quantity }),
        3 => any::<Index>().prop_map(Step::Again),
        2 => entry().prop_map(Step::Record),
        1 => prop_oneof![Just(Step::ResetPositions), Just(Step::ResetCash)],
        2 => (scope(), state()).prop_map(|(scope, state)| Step::SetState(scope, state)),
        1 => scope().prop_map(Step::Kill),
        2 => (scope(), any_limits()).prop_map(|(scope, limits)| Step::SetLimits(scope, Box::new(limits))),
        1 => (0..2_usize).prop_map(Step::Disconnect),
        2 => (0..2_usize, any::<bool>(), prop::collection::vec(shown(), 8))
            .prop_map(|(adapter, complete, shown)| Step::Reconnect { adapter, complete, shown }),
        4 => (select(SECURITIES.to_vec()), ticks()).prop_map(|(security, ticks)| Step::Mark { security, ticks }),
        4 => select(vec![1, 250, 500, 1_000, 7_000, 40_000, 3_600_000, 30_000_000])
            .prop_map(|millis| Step::Wait { millis }),
    ]
}

/// A day without limits, halts and lost connections, so that only cash decides.
pub(crate) fn free_step() -> impl Strategy<Value = Step> {
    any_step().prop_filter("nothing that binds", |step| {
        !matches!(step, Step::SetLimits(..) | Step::SetState(..) | Step::Kill(_) | Step::Disconnect(_))
    })
}

pub(crate) fn ticket() -> impl Strategy<Value = Ticket> {
    let shape = prop_oneof![2 => Just(Shape::Market), 6 => Just(Shape::Limit), 1 => Just(Shape::Stop), 1 => Just(Shape::StopLimit)];
    let whose = (account(), strategy(), select(SECURITIES.to_vec()), side());
    (whose, 0..60_i64, shape, ticks(), tif()).prop_map(
        |((account, strategy, security, side), quantity, shape, ticks, tif)| Ticket {
            account,
            strategy,
            security,
            side,
            quantity,
            shape,
            ticks,
            tif,
        },
    )
}

fn entry() -> impl Strategy<Value = Entry> {
    let whose = (account(), strategy(), select(SECURITIES.to_vec()));
    (select(TransactionKind::ALL.to_vec()), whose, -40..40_i64, ticks()).prop_map(
        |(kind, (account, strategy, security), quantity, ticks)| Entry {
            kind,
            account,
            strategy,
            security,
            quantity,
            ticks,
        },
    )
}

pub(crate) fn word() -> impl Strategy<Value = Word> {
    prop_oneof![
        8 => Just(Word::Accepts),
        1 => Just(Word::Rejects),
        8 => (1..30_i64, ticks()).prop_map(|(quantity, ticks)| Word::Fills { quantity, ticks }),
        4 => ticks().prop_map(|ticks| Word::FillsUp { ticks }),
        3 => Just(Word::Cancels),
        1 => Just(Word::Expires),
        4 => (1..60_i64).prop_map(|quantity| Word::Replaces { quantity }),
        2 => Just(Word::RefusesCancel),
        2 => Just(Word::RefusesReplace),
        2 => any::<Index>().prop_map(Word::Busts),
        2 => (any::<Index>(), 1..30_i64, ticks())
            .prop_map(|(which, quantity, ticks)| Word::Corrects { which, quantity, ticks }),
        1 => Just(Word::Loses),
    ]
}

fn shown() -> impl Strategy<Value = Shown> {
    prop_oneof![
        4 => Just(Shown::Live),
        1 => Just(Shown::LiveReplaced),
        2 => Just(Shown::LiveFilled),
        1 => Just(Shown::Canceled),
        1 => Just(Shown::Expired),
        1 => Just(Shown::Rejected),
        2 => Just(Shown::Nowhere),
    ]
}

pub(crate) fn any_limits() -> impl Strategy<Value = Limits> {
    let sizes = (maybe(1..60), maybe(1..300_000), maybe(0..5));
    let counts = (maybe(1..6), maybe(1..600_000), maybe(0..80), maybe(0..80), maybe(1..900_000));
    let pace = (maybe(1..4), maybe(1..3), maybe(2..4), maybe(1..100));
    let flags = (prop::option::weighted(0.1, any::<bool>()), prop::option::weighted(0.2, self_trade()));
    (sizes, counts, pace, flags).prop_map(|(sizes, counts, pace, flags)| {
        let count = |number: Option<i64>| number.and_then(|number| u32::try_from(number).ok());
        let burst = |number: Option<i64>| count(number).map(|count| Burst { count, millis: 1_000 });
        Limits {
            max_order_quantity: sizes.0.map(Quantity::from),
            max_order_notional: sizes.1.map(Amount::from),
            price_collar_percent: sizes.2.map(Amount::from),
            stale_after_seconds: count(pace.3),
            max_open_orders: count(counts.0),
            max_open_notional: counts.1.map(Amount::from),
            max_long: counts.2.map(Quantity::from),
            max_short: counts.3.map(Quantity::from),
            max_gross_exposure: counts.4.map(Amount::from),
            cash_check: flags.0,
            orders_per_second: count(pace.0),
            duplicate_guard: burst(pace.1),
            reject_breaker: burst(pace.2),
            self_trade: flags.1,
            ..Limits::default()
        }
    })
}

/// Most limits are absent, so that orders get through.
fn maybe(range: std::ops::Range<i64>) -> impl Strategy<Value = Option<i64>> {
    prop::option::weighted(0.15, range)
}

fn self_trade() -> impl Strategy<Value = SelfTrade> {
    use SelfTrade::{Allow, CancelBoth, CancelResting, RefuseNewest};
    select(vec![Allow, RefuseNewest, CancelResting, CancelBoth])
}

fn account() -> impl Strategy<Value = AccountId> {
    (1..=2_u64).prop_map(AccountId)
}

fn strategy() -> impl Strategy<Value = StrategyId> {
    (1..=3_u64).prop_map(StrategyId)
}

pub(crate) fn side() -> impl Strategy<Value = Side> {
    prop_oneof![Just(Side::Buy), Just(Side::Sell)]
}

pub(crate) fn ticks() -> impl Strategy<Value = i64> {
    -20..20_i64
}

fn tif() -> impl Strategy<Value = Lasting> {
    use TimeInForce::{Atc, Ato, Day, Fok, Gtc, Ioc};
    let plainly = select(vec![Day, Day, Day, Gtc, Gtc, Gtc, Ioc, Fok, Ato, Atc]).prop_map(Lasting::Plainly);
    let until = select(vec![-1, 60, 5_000, 40_000]).prop_map(Lasting::Seconds);
    prop_oneof![5 => plainly, 1 => until]
}

fn scope() -> impl Strategy<Value = Scope> {
    prop_oneof![
        Just(Scope::Platform),
        account().prop_map(Scope::Account),
        strategy().prop_map(Scope::Strategy),
        select(SECURITIES.to_vec()).prop_map(Scope::Security),
    ]
}

fn state() -> impl Strategy<Value = TradingState> {
    prop_oneof![4 => Just(TradingState::Active), 1 => Just(TradingState::Reducing), 1 => Just(TradingState::Halted)]
}
