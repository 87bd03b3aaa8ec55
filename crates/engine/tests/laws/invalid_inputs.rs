//! Inputs that no correct client or venue would send.

use domain::command::{
    CancelOrder, Command, GenericEvent, MarketData, MarketDataSubscription, Mode, ModifyOrder, PlaceOrder,
    RecordTransaction, ReducePosition, RestatedFields, SettlementPrice, StrategyPhase,
};
use domain::order::{OrderKind, OrderTerms};
use domain::report::{
    AdapterCapabilities, FilledTotal, FillsPage, FillsScope, InquiryAnswer, InquiryResult, LineKind,
    ListingCapabilities, ListingScope, ListingStatus, OpenOrdersPage, RefusesRepeatedIds, Report, ReportKind,
    SessionState, VenueFill, VenueListing, VenueOrder, VenueOrderState, VenueSnapshot,
};
use domain::{
    AccountId, AdapterName, Amount, BookLevel, CommandEnvelope, Currency, Decimal, ExchangeId, Input, IntId, Mark,
    OrderBook, OrderId, PositionId, Price, PriceGap, Quantity, RiskScope, SecurityId, StaleCause, StrategyId, Text,
    Tick, TimeInForce, Timestamp, Trade, TradingState, TransactionKind, Uuid,
};
use proptest::prelude::*;
use proptest::sample::select;

use crate::engine_fixture::{NOON, blank_record, trader};
use crate::invalid_input_rules::{odd_limits, odd_reference, odd_settings};
use crate::steps::side;

pub(crate) fn odd_input() -> impl Strategy<Value = Input> {
    let command =
        odd_command().prop_map(|command| Input::Command(Box::new(CommandEnvelope { caller: trader(), command })));
    let report = (adapter(), odd_said()).prop_map(|(adapter, said)| {
        Input::Report(Report { adapter: AdapterName(adapter.into()), ext_at: Some(NOON), kind: said })
    });
    prop_oneof![
        8 => command,
        8 => report,
        2 => prop::collection::vec(odd_mark(), 0..3).prop_map(Input::Marks),
        1 => Just(Input::Clock),
        3 => odd_market().prop_map(Input::Market),
    ]
}

fn odd_command() -> impl Strategy<Value = Command> {
    let phases = select(StrategyPhase::ALL.to_vec());
    let wish =
        || (strategy(), security()).prop_map(|(strategy, security)| MarketDataSubscription { strategy, security });
    prop_oneof![
        8 => odd_place().prop_map(Command::Place),
        3 => odd_modify().prop_map(Command::Modify),
        2 => int_id().prop_map(|int_id| Command::Cancel(CancelOrder::new(int_id))),
        2 => (id(4), prop::option::of(quantity())).prop_map(|(position, quantity)| {
            Command::Reduce(ReducePosition { position: PositionId(position), quantity })
        }),
        6 => odd_record().prop_map(|record| Command::Record(*record)),
        1 => Just(Command::ResetPositions),
        1 => (security(), price()).prop_map(|(security, price)| {
            Command::SetSettlementPrice(SettlementPrice { security, price, date: None })
        }),
        1 => Just(Command::ResetCash),
        1 => account().prop_map(Command::NextOrderId),
        1 => wish().prop_map(Command::Subscribe),
        1 => wish().prop_map(Command::Unsubscribe),
        3 => scope().prop_map(|scope| Command::SetTradingState { scope, state: TradingState::Active, reason: None }),
        1 => scope().prop_map(|scope| Command::Kill { scope, reason: None }),
        1 => (scope(), odd_limits()).prop_map(|(scope, limits)| Command::SetLimits { scope, limits }),
        2 => odd_reference().prop_map(Command::Reference),
        1 => (strategy(), phases)
            .prop_map(|(strategy, phase)| Command::EnterPhase { strategy, mode: Mode::Simulation, phase, failure: None }),
        1 => odd_settings().prop_map(Command::Configure),
        1 => strategy().prop_map(|strategy| {
            Command::Publish(GenericEvent { strategy, name: "".into(), body: "\u{0}".into() })
        }),
    ]
}

pub(crate) fn odd_place() -> impl Strategy<Value = PlaceOrder> {
    let names = (seldom(int_id()), seldom(text()));
    let whose = (mostly(account()), mostly(strategy()), seldom(id(2)));
    (names, whose, security(), side(), terms()).prop_map(|(names, whose, security, side, terms)| PlaceOrder {
        int_id: names.0,
        cl_ord_id: names.1,
        security,
        account: whose.0,
        strategy: whose.1,
        exchange: whose.2.map(ExchangeId),
        side,
        quantity: terms.quantity,
        kind: terms.kind,
        tif: terms.tif,
        exchange_order: true,
        reference: None,
        properties: domain::OrderProperties::default(),
        pass_through: None,
    })
}

fn odd_modify() -> impl Strategy<Value = ModifyOrder> {
    let numbers = (prop::option::of(quantity()), prop::option::of(price()), prop::option::of(price()));
    (int_id(), prop::option::of(text()), numbers, prop::option::of(tif())).prop_map(
        |(int_id, cl_ord_id, numbers, tif)| ModifyOrder {
            int_id,
            cl_ord_id,
            quantity: numbers.0,
            limit: numbers.1,
            stop: numbers.2,
            tif,
            restated: RestatedFields::default(),
            reference: None,
        },
    )
}

fn odd_record() -> impl Strategy<Value = Box<RecordTransaction>> {
    let whose = (mostly(account()), mostly(security()), mostly(strategy()));
    let costs = (seldom(amount()), seldom(amount()), seldom(amount()));
    let kind = select(TransactionKind::ALL.to_vec());
    let uuid = seldom(select(vec![0, 1, u128::MAX]));
    (kind, price(), quantity(), whose, costs, seldom(currency()), uuid).prop_map(
        |(kind, price, quantity, whose, costs, currency, uuid)| {
            Box::new(RecordTransaction {
                uuid: uuid.map(Uuid),
                quantity: fitting(kind, quantity),
                execution_commission: costs.0,
                clearing_commission: costs.1,
                fee: costs.2,
                currency,
                account: whose.0,
                security: whose.1,
                strategy: whose.2,
                ..blank_record(kind, price)
            })
        },
    )
}

/// Of the right sign, so that the number gets further.
fn fitting(kind: TransactionKind, quantity: Quantity) -> Option<Quantity> {
    match kind {
        TransactionKind::Buy => Some(quantity.abs()),
        TransactionKind::Sell => Some(quantity.abs().negated()),
        TransactionKind::Expiration | TransactionKind::Transfer => Some(quantity),
        _ => None,
    }
}

fn odd_said() -> impl Strategy<Value = ReportKind> {
    let session = select(vec![SessionState::Disconnected, SessionState::Connected, SessionState::LoggedOn]);
    let reason = || Text::from("because");
    prop_oneof![
        1 => Just(ReportKind::Attached(AdapterCapabilities {
            exchanges: vec![ExchangeId(1), ExchangeId(77)],
            expires_orders: false,
            refuses_repeated_ids: RefusesRepeatedIds::Forever,
            simulated: false,
            lists: ListingCapabilities { open_orders: true, fills: Some(FillsScope::All), ..Default::default() },
            ..AdapterCapabilities::default()
        })),
        2 => session.prop_map(ReportKind::Session),
        2 => odd_picture().prop_map(ReportKind::Snapshot),
        3 => order().prop_map(|order| ReportKind::Accepted { order, ext_id: None }),
        1 => order().prop_map(move |order| ReportKind::Rejected { order, reason: reason() }),
        6 => odd_fill().prop_map(ReportKind::Filled),
        1 => order().prop_map(|order| ReportKind::Canceled { order, reason: None }),
        1 => order().prop_map(|order| ReportKind::Expired { order, reason: None }),
        3 => (order(), terms()).prop_map(|(order, terms)| ReportKind::Replaced { order, terms, ext_id: None }),
        1 => order().prop_map(move |order| ReportKind::CancelRejected { order, reason: reason() }),
        1 => order().prop_map(move |order| ReportKind::ReplaceRejected { order, reason: reason() }),
        2 => (order(), exec_id()).prop_map(|(order, exec_id)| ReportKind::Busted { order, exec_id, reason: None }),
        2 => (exec_id(), odd_fill()).prop_map(|(exec_id, by)| ReportKind::Corrected { exec_id, by }),
        2 => (order(), exec_id(), proptest::option::of(odd_fill())).prop_map(|(order, exec_id, by)| {
            ReportKind::TakenBack { order, exec_id, by: by.map(Box::new), at: None }
        }),
        1 => order().prop_map(move |order| ReportKind::NotSent { order, reason: reason() }),
        1 => Just(ReportKind::Gap),
        1 => Just(ReportKind::ReportsLost),
        1 => order().prop_map(move |order| ReportKind::UnclearReport { order, reason: reason() }),
        1 => (order(), 0..1_000_i64).prop_map(|(order, quantity)| ReportKind::FilledInAll { order, quantity: quantity.into() }),
        1 => (0..3_usize, any::<bool>()).prop_map(|(line, up)| ReportKind::Line { line: LineKind::ALL[line], up, reason: None }),
        4 => odd_answer().prop_map(ReportKind::Inquiry),
        4 => odd_page().prop_map(ReportKind::OpenOrders),
        4 => odd_fills().prop_map(ReportKind::Fills),
        2 => odd_listing(),
        1 => Just(ReportKind::ListingFailed { scope: ListingScope::OpenOrders, reason: reason() }),
        1 => order().prop_map(move |order| ReportKind::DeliveryUnknown { order, reason: reason(), dead_after: None }),
    ]
}

/// Of known and unknown securities, with steps and bounds of any sign.
fn odd_listing() -> impl Strategy<Value = ReportKind> {
    let statuses = [ListingStatus::Trading, ListingStatus::Halted, ListingStatus::Delisted, ListingStatus::Unlisted];
    let status = (0..statuses.len()).prop_map(move |place| statuses[place]);
    (0..4_u64, status, prop::option::of(price()), prop::option::of(quantity())).prop_map(
        |(security, status, tick, lot)| ReportKind::Listed {
            security: SecurityId(security),
            listing: VenueListing { tick, lot, quantity_max: lot, ..VenueListing::new(status) },
        },
    )
}

fn odd_fill() -> impl Strategy<Value = VenueFill> {
    (order(), exec_id(), quantity(), price()).prop_map(|(order, exec_id, quantity, price)| VenueFill {
        order,
        exec_id,
        quantity,
        price,
        at: None,
        fee: None,
        charges: vec![],
        ext_order: None,
        liquidity: None,
    })
}

fn odd_answer() -> impl Strategy<Value = InquiryAnswer> {
    let found = odd_picture().prop_filter_map("an order was found", |picture| {
        Some(InquiryResult::Found(picture.orders.first()?.clone(), picture.fills))
    });
    let result = prop_oneof![2 => found, 1 => Just(InquiryResult::NotFound)];
    let filled = prop::option::of(odd_total().prop_map(Box::new));
    let whose = (order(), prop::bool::weighted(0.2));
    (whose, instant(), prop::option::of(instant()), result, filled).prop_map(
        |((other, is_foreign), as_of, dead_after, result, filled)| {
            let order = match &result {
                InquiryResult::Found(seen, _) if !is_foreign => seen.order,
                _ => other,
            };
            InquiryAnswer { order, as_of, dead_after, result, other_legs: None, filled }
        },
    )
}

fn odd_total() -> impl Strategy<Value = FilledTotal> {
    (quantity(), price(), prop::option::of(instant())).prop_map(|(quantity, average_price, at)| FilledTotal {
        quantity,
        average_price,
        at,
    })
}

fn odd_page() -> impl Strategy<Value = OpenOrdersPage> {
    (odd_picture(), instant(), prop::option::of(instant()), 0..3_u32, any::<bool>()).prop_map(
        |(picture, as_of, dead_after, page, last)| OpenOrdersPage {
            as_of,
            dead_after,
            page,
            last,
            orders: picture.orders,
        },
    )
}

fn odd_fills() -> impl Strategy<Value = FillsPage> {
    let cursor = || prop::option::of(select(vec![Text::from("1"), Text::from("2")]));
    (odd_picture(), instant(), cursor(), cursor(), any::<bool>()).prop_map(
        |(picture, as_of, from, next_cursor, last)| FillsPage {
            security: None,
            from,
            fills: picture.fills,
            next_cursor,
            last,
            as_of,
        },
    )
}

fn odd_picture() -> impl Strategy<Value = VenueSnapshot> {
    let fate = select(vec![
        VenueOrderState::Live,
        VenueOrderState::Canceled,
        VenueOrderState::Expired,
        VenueOrderState::Rejected,
    ]);
    let seen = (order(), terms(), fate).prop_map(|(order, terms, fate)| VenueOrder {
        order,
        ext_id: None,
        terms,
        state: fate,
        reason: None,
    });
    let orders = prop::collection::vec(seen, 0..3);
    (orders, prop::collection::vec(odd_fill(), 0..3), any::<bool>())
        .prop_map(|(orders, fills, complete)| VenueSnapshot { orders, fills, complete, ..VenueSnapshot::default() })
}

fn odd_mark() -> impl Strategy<Value = Mark> {
    let prices = (prop::option::of(price()), prop::option::of(price()), prop::option::of(price()));
    (security(), prices, instant(), stale_cause()).prop_map(|(security, (bid, ask, last), at, stale)| Mark {
        security,
        bid,
        ask,
        last,
        at,
        stale,
    })
}

fn stale_cause() -> impl Strategy<Value = Option<StaleCause>> {
    prop::option::of(select(StaleCause::ALL.to_vec()))
}

fn odd_market() -> impl Strategy<Value = MarketData> {
    let feed = || Text::from("odd");
    let tick = (odd_mark(), quantity()).prop_map(move |(mark, volume)| {
        MarketData::Tick(Tick {
            security: mark.security,
            feed: feed(),
            at: mark.at,
            last: mark.last,
            last_at: Some(mark.at),
            vol_last: Some(volume),
            bid: mark.bid,
            ask: mark.ask,
            vol_bid: Some(volume),
            vol_ask: None,
            vol: Some(volume),
            stale: None,
        })
    });
    let trade = (security(), instant(), price(), quantity()).prop_map(move |(security, at, price, quantity)| {
        MarketData::Trade(Trade { security, feed: feed(), at, price, quantity, aggressor: None, ext_id: None })
    });
    let level = (price(), quantity()).prop_map(|(price, quantity)| BookLevel { price, quantity });
    let book = (security(), instant(), prop::collection::vec(level, 0..3)).prop_map(move |(security, at, levels)| {
        MarketData::Book(OrderBook { security, feed: feed(), at, bids: levels.clone(), asks: levels })
    });
    let gap = (security(), select(StaleCause::ALL.to_vec()))
        .prop_map(move |(security, cause)| MarketData::Gap(PriceGap { security, feed: feed(), cause }));
    prop_oneof![tick, trade, book, gap]
}

fn terms() -> impl Strategy<Value = OrderTerms> {
    let kind = prop_oneof![
        Just(OrderKind::Market),
        price().prop_map(|limit| OrderKind::Limit { limit }),
        price().prop_map(|stop| OrderKind::Stop { stop }),
        (price(), price()).prop_map(|(limit, stop)| OrderKind::StopLimit { limit, stop }),
    ];
    (quantity(), kind, tif()).prop_map(|(quantity, kind, tif)| OrderTerms { quantity, kind, tif })
}

fn tif() -> impl Strategy<Value = TimeInForce> {
    use TimeInForce::{Atc, Day, Fok, Gtc};
    prop_oneof![3 => select(vec![Day, Gtc, Fok, Atc]), 1 => instant().prop_map(|until| TimeInForce::Gtd { until })]
}

/// The ends of what a decimal can be, and what lies around the bounds of the books.
pub(crate) fn decimal() -> impl Strategy<Value = Decimal> {
    let tiny = Decimal::new(1, 28);
    let longest = Decimal::from_parts(u32::MAX, u32::MAX, u32::MAX, false, 28);
    let third = Decimal::ONE / Decimal::from(3);
    let bound = Decimal::from(1_000_000_000_000_000_000_i64);
    let odd = vec![
        Decimal::MAX,
        Decimal::MIN,
        longest,
        tiny,
        -tiny,
        third,
        bound,
        bound - tiny,
        bound + Decimal::ONE,
        -bound,
    ];
    let plain = vec![Decimal::ZERO, Decimal::ONE, Decimal::NEGATIVE_ONE, Decimal::TEN, Decimal::from(25)];
    let large = vec![Decimal::from(10_i64.pow(9)), Decimal::new(123_456_789_012_345_678, 12)];
    prop_oneof![2 => select(odd), 6 => select(plain), 2 => select(large)]
}

fn price() -> impl Strategy<Value = Price> {
    decimal().prop_map(Price)
}

fn quantity() -> impl Strategy<Value = Quantity> {
    decimal().prop_map(Quantity)
}

fn amount() -> impl Strategy<Value = Amount> {
    decimal().prop_map(Amount)
}

/// Mostly one that exists, else the ends.
fn id(known: u64) -> impl Strategy<Value = u64> {
    prop_oneof![12 => 1..=known, 1 => select(vec![0, 999, u64::MAX])]
}

fn order() -> impl Strategy<Value = OrderId> {
    id(6).prop_map(OrderId)
}

pub(crate) fn security() -> impl Strategy<Value = SecurityId> {
    id(5).prop_map(SecurityId)
}

fn account() -> impl Strategy<Value = AccountId> {
    id(2).prop_map(AccountId)
}

fn strategy() -> impl Strategy<Value = StrategyId> {
    id(3).prop_map(StrategyId)
}

/// The usual value, most of the time.
fn mostly<T: std::fmt::Debug>(value: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>> {
    prop::option::weighted(0.9, value)
}

fn seldom<T: std::fmt::Debug>(value: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>> {
    prop::option::weighted(0.1, value)
}

fn scope() -> impl Strategy<Value = RiskScope> {
    prop_oneof![
        Just(RiskScope::Platform),
        account().prop_map(RiskScope::Account),
        strategy().prop_map(RiskScope::Strategy),
        security().prop_map(RiskScope::Security),
    ]
}

fn adapter() -> impl Strategy<Value = &'static str> {
    select(vec!["SIM-A", "SIM-A", "SIM-A", "SIM-A", "SIM-B", "SIM-B", "SIM-B", "SIM-B", "nobody", ""])
}

fn text() -> impl Strategy<Value = Text> {
    select(vec!["", "A-1", "two words", "naïve", "0123456789012345678901234567890123456789012345678901234567890123456"])
        .prop_map(Text::from)
}

fn int_id() -> impl Strategy<Value = IntId> {
    select(vec!["A-1", "A-2", "B-1", "R-1", "~"]).prop_map(|id| id.parse().unwrap())
}

fn exec_id() -> impl Strategy<Value = Text> {
    select(vec!["x1", "x2", "x3", "x4", "o1", "o2", "o3", ""]).prop_map(Text::from)
}

pub(crate) fn currency() -> impl Strategy<Value = Currency> {
    select(vec!["USD", "EUR", "LONGCODE"]).prop_map(|code| code.parse().unwrap())
}

pub(crate) fn instant() -> impl Strategy<Value = Timestamp> {
    let ends = select(vec![Timestamp(0), Timestamp(i64::MAX), Timestamp(i64::MIN)]);
    prop_oneof![3 => (-90_000..90_000_i64).prop_map(|seconds| NOON.plus_seconds(seconds)), 1 => ends]
}
