//! Random steps of clients, venues, prices and clocks. Numbers are small, so that steps interact.

use domain::order::{OrderKind, Side};
use domain::risk::{BurstLimit, RiskLimits, SelfTradePrevention};
use domain::{
    AccountId, Amount, Quantity, RiskScope, SecurityId, StrategyId, TimeInForce, Timestamp, TradingState,
    TransactionKind,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::engine_fixture::{SECURITIES, price_of};

#[derive(Debug, Clone)]
pub(crate) enum Step {
    Place(RandomOrder),
    Modify {
        order: Index,
        quantity: Option<i64>,
        ticks: Option<i64>,
        tif: Option<RandomTif>,
    },
    Cancel {
        order: Index,
    },
    Reduce {
        position: Index,
        quantity: Option<i64>,
    },
    Record(RandomTransaction),
    ResetPositions,
    ResetCash,
    SetState(RiskScope, TradingState),
    Kill(RiskScope),
    SetLimits(RiskScope, Box<RiskLimits>),
    Venue {
        order: Index,
        word: RandomReport,
    },
    /// A report that was made before comes once more.
    Again(Index),
    Disconnect(usize),
    /// `shown` gives for each open order how the venue's snapshot shows it.
    Reconnect {
        adapter: usize,
        complete: bool,
        shown: Vec<RandomSnapshot>,
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
pub(crate) struct RandomOrder {
    pub(crate) account: AccountId,
    pub(crate) strategy: StrategyId,
    pub(crate) security: SecurityId,
    pub(crate) side: Side,
    pub(crate) quantity: i64,
    pub(crate) shape: RandomOrderKind,
    pub(crate) ticks: i64,
    pub(crate) tif: RandomTif,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum RandomOrderKind {
    Market,
    Limit,
    Stop,
    StopLimit,
}

impl RandomOrderKind {
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
pub(crate) enum RandomTif {
    Plainly(TimeInForce),
    Seconds(i64),
}

impl RandomTif {
    pub(crate) fn tif(self, now: Timestamp) -> TimeInForce {
        match self {
            Self::Plainly(tif) => tif,
            Self::Seconds(seconds) => TimeInForce::Gtd { until: now.plus_seconds(seconds) },
        }
    }
}

/// A manual transaction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RandomTransaction {
    pub(crate) kind: TransactionKind,
    pub(crate) account: AccountId,
    pub(crate) strategy: StrategyId,
    pub(crate) security: SecurityId,
    pub(crate) quantity: i64,
    pub(crate) ticks: i64,
}

/// A venue report on an order.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RandomReport {
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
pub(crate) enum RandomSnapshot {
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
        12 => random_order().prop_map(Step::Place),
        30 => (any::<Index>(), random_report()).prop_map(|(order, word)| Step::Venue { order, word }),
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

pub(crate) fn random_order() -> impl Strategy<Value = RandomOrder> {
    let shape = prop_oneof![2 => Just(RandomOrderKind::Market), 6 => Just(RandomOrderKind::Limit), 1 => Just(RandomOrderKind::Stop), 1 => Just(RandomOrderKind::StopLimit)];
    let whose = (account(), strategy(), select(SECURITIES.to_vec()), side());
    (whose, 0..60_i64, shape, ticks(), tif()).prop_map(
        |((account, strategy, security, side), quantity, shape, ticks, tif)| RandomOrder {
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

fn entry() -> impl Strategy<Value = RandomTransaction> {
    let whose = (account(), strategy(), select(SECURITIES.to_vec()));
    (select(TransactionKind::ALL.to_vec()), whose, -40..40_i64, ticks()).prop_map(
        |(kind, (account, strategy, security), quantity, ticks)| RandomTransaction {
            kind,
            account,
            strategy,
            security,
            quantity,
            ticks,
        },
    )
}

pub(crate) fn random_report() -> impl Strategy<Value = RandomReport> {
    prop_oneof![
        8 => Just(RandomReport::Accepts),
        1 => Just(RandomReport::Rejects),
        8 => (1..30_i64, ticks()).prop_map(|(quantity, ticks)| RandomReport::Fills { quantity, ticks }),
        4 => ticks().prop_map(|ticks| RandomReport::FillsUp { ticks }),
        3 => Just(RandomReport::Cancels),
        1 => Just(RandomReport::Expires),
        4 => (1..60_i64).prop_map(|quantity| RandomReport::Replaces { quantity }),
        2 => Just(RandomReport::RefusesCancel),
        2 => Just(RandomReport::RefusesReplace),
        2 => any::<Index>().prop_map(RandomReport::Busts),
        2 => (any::<Index>(), 1..30_i64, ticks())
            .prop_map(|(which, quantity, ticks)| RandomReport::Corrects { which, quantity, ticks }),
        1 => Just(RandomReport::Loses),
    ]
}

fn shown() -> impl Strategy<Value = RandomSnapshot> {
    prop_oneof![
        4 => Just(RandomSnapshot::Live),
        1 => Just(RandomSnapshot::LiveReplaced),
        2 => Just(RandomSnapshot::LiveFilled),
        1 => Just(RandomSnapshot::Canceled),
        1 => Just(RandomSnapshot::Expired),
        1 => Just(RandomSnapshot::Rejected),
        2 => Just(RandomSnapshot::Nowhere),
    ]
}

pub(crate) fn any_limits() -> impl Strategy<Value = RiskLimits> {
    let sizes = (maybe(1..60), maybe(1..300_000), maybe(0..5));
    let counts = (maybe(1..6), maybe(1..600_000), maybe(0..80), maybe(0..80), maybe(1..900_000));
    let pace = (maybe(1..4), maybe(1..3), maybe(2..4), maybe(1..100), maybe(1..6));
    let restricted = prop::option::weighted(0.05, select(SECURITIES.to_vec()));
    let flags = (prop::option::weighted(0.1, any::<bool>()), prop::option::weighted(0.2, self_trade()), restricted);
    (sizes, counts, pace, flags).prop_map(|(sizes, counts, pace, flags)| {
        let count = |number: Option<i64>| number.and_then(|number| u32::try_from(number).ok());
        let burst = |number: Option<i64>| count(number).map(|count| BurstLimit { count, millis: 1_000 });
        RiskLimits {
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
            messages_per_second: count(pace.4),
            restricted_securities: flags.2.map(|security| [security].into()),
            // The venue of the model never differs.
            break_limit: None,
            ..RiskLimits::default()
        }
    })
}

/// Most limits are absent, so that orders get through.
fn maybe(range: std::ops::Range<i64>) -> impl Strategy<Value = Option<i64>> {
    prop::option::weighted(0.15, range)
}

fn self_trade() -> impl Strategy<Value = SelfTradePrevention> {
    use SelfTradePrevention::{Allow, CancelBoth, CancelResting, RejectNewest};
    select(vec![Allow, RejectNewest, CancelResting, CancelBoth])
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

fn tif() -> impl Strategy<Value = RandomTif> {
    use TimeInForce::{Atc, Ato, Day, Fok, Gtc, Ioc};
    let plainly = select(vec![Day, Day, Day, Gtc, Gtc, Gtc, Ioc, Fok, Ato, Atc]).prop_map(RandomTif::Plainly);
    let until = select(vec![-1, 60, 5_000, 40_000]).prop_map(RandomTif::Seconds);
    prop_oneof![5 => plainly, 1 => until]
}

fn scope() -> impl Strategy<Value = RiskScope> {
    prop_oneof![
        Just(RiskScope::Platform),
        account().prop_map(RiskScope::Account),
        strategy().prop_map(RiskScope::Strategy),
        select(SECURITIES.to_vec()).prop_map(RiskScope::Security),
    ]
}

fn state() -> impl Strategy<Value = TradingState> {
    prop_oneof![4 => Just(TradingState::Active), 1 => Just(TradingState::Reducing), 1 => Just(TradingState::Halted)]
}
