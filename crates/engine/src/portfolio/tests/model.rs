//! Test model: the portfolio against a slow fold of every transaction with plain decimals.

use std::collections::BTreeMap;

use domain::amount::divide;
use domain::query::Filter;
use domain::{
    AccountId, Amount, Currency, Decimal, PositionId, ReferenceData, RiskScope, SecurityId, StrategyId, Transaction,
    TransactionKind,
};
use proptest::prelude::*;

use super::{Portfolio, PortfolioFixture};

#[derive(Debug, Default, PartialEq, Eq)]
struct Model {
    positions: BTreeMap<(StrategyId, AccountId, SecurityId), Lot>,
    cash: BTreeMap<(StrategyId, AccountId, Currency), Decimal>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Lot {
    quantity: Decimal,
    cost: Decimal,
    realized: Decimal,
}

impl Model {
    fn from_transactions(transactions: &[Transaction], reference: &ReferenceData) -> Self {
        let mut model = Self::default();
        transactions.iter().for_each(|booked| model.fold(booked, reference));
        model.cash.retain(|_, amount| !amount.is_zero());
        model
    }

    fn fold(&mut self, booked: &Transaction, reference: &ReferenceData) {
        self.pay(
            booked,
            booked.currency,
            -(booked.execution_commission.0 + booked.clearing_commission.0 + booked.fee.0),
        );
        if booked.kind.cash_sign().is_some() {
            return self.pay(booked, booked.currency, booked.quantity.0 * booked.price.0);
        }
        let security = &reference.securities[&booked.security.unwrap()];
        let unit = booked.price.0 * security.contract_size;
        let lot = self.positions.entry((booked.strategy, booked.account, security.id)).or_default();
        let before = lot.realized;
        lot.trade(booked.quantity.0, unit);
        let realized = lot.realized - before;
        let paid = match booked.kind {
            _ if security.is_margined() => realized,
            TransactionKind::Transfer => Decimal::ZERO,
            _ => -booked.quantity.0 * unit,
        };
        self.pay(booked, security.currency, paid);
    }

    fn pay(&mut self, booked: &Transaction, currency: Currency, amount: Decimal) {
        *self.cash.entry((booked.strategy, booked.account, currency)).or_default() += amount;
    }
}

impl Lot {
    fn trade(&mut self, change: Decimal, unit: Decimal) {
        let is_closing = self.quantity * change < Decimal::ZERO;
        let closed = if is_closing { self.quantity.abs().min(change.abs()) } else { Decimal::ZERO };
        if is_closing {
            let sign = sign_of(self.quantity);
            let taken = divide(self.cost * closed, self.quantity.abs()).unwrap();
            let taken = if closed == self.quantity.abs() { self.cost } else { taken };
            self.realized += sign * closed * unit - taken;
            self.cost -= taken;
            self.quantity -= sign * closed;
        }
        let opened = change - sign_of(change) * closed;
        self.quantity += opened;
        self.cost += opened * unit;
    }
}

fn sign_of(amount: Decimal) -> Decimal {
    if amount.is_sign_negative() { Decimal::NEGATIVE_ONE } else { Decimal::ONE }
}

fn actual_state(portfolio: &Portfolio) -> Model {
    let positions = (1..).map_while(|id| portfolio.position(PositionId(id)));
    let balances = portfolio.balances(Filter::default()).into_iter().filter(|balance| !balance.amount.is_zero());
    Model {
        positions: positions
            .map(|held| {
                let lot = Lot { quantity: held.quantity.0, cost: held.cost.0, realized: held.realized_pl.0 };
                ((held.strategy, held.account, held.security), lot)
            })
            .collect(),
        cash: balances.map(|held| ((held.strategy, held.account, held.currency), held.amount.0)).collect(),
    }
}

/// The strategies, and the accounts, add up to the platform.
fn assert_sums_add_up(desk: &PortfolioFixture) {
    let valuer = desk.valuer();
    let value = |scope| desk.portfolio.worth(scope, &valuer).map(|worth| worth.0);
    let whole = value(RiskScope::Platform).expect("everything has a price and a rate");
    let strategies: Decimal = [1, 2].map(|id| value(RiskScope::Strategy(StrategyId(id))).unwrap()).iter().sum();
    let accounts: Decimal = [1, 2].map(|id| value(RiskScope::Account(AccountId(id))).unwrap()).iter().sum();
    // Each scope rounds once for each foreign currency.
    let rounding = Amount("0.000000000010".parse().unwrap()).0;
    assert!((strategies - whole).abs() <= rounding && (accounts - whole).abs() <= rounding);
}

fn assert_survives_the_disk(desk: &PortfolioFixture) {
    let bytes = minicbor::to_vec(&desk.portfolio).unwrap();
    let mut read: Portfolio = minicbor::decode(&bytes).unwrap();
    read.refresh(&desk.valuer());
    assert_eq!(minicbor::to_vec(&read).unwrap(), bytes);
    assert_eq!(actual_state(&read), actual_state(&desk.portfolio));
    let (valuer, filter) = (desk.valuer(), Filter::default());
    assert_eq!(read.positions(filter), desk.portfolio.positions(filter));
    assert_eq!(read.values(&valuer, None), desk.portfolio.values(&valuer, None));
    for scope in desk.portfolio.totals.scopes() {
        assert_eq!(read.day_result(scope, &valuer), desk.portfolio.day_result(scope, &valuer));
        assert_eq!(read.exposure(scope, &valuer), desk.portfolio.exposure(scope, &valuer));
    }
}

fn a_line() -> impl Strategy<Value = String> {
    let symbol = || prop::sample::select(vec!["AAPL", "EUR.USD", "ES", "CALL", "BUND", "GOLD", "BTC.PERP"]);
    let price = || (1..200_000_i64).prop_map(|cents| Decimal::new(cents, 2));
    let amount = || (1..50_000_i64, 0..4_u32).prop_map(|(digits, scale)| Decimal::new(digits, scale));
    let whose = || (1..=2, 1..=2).prop_map(|(strategy, account)| format!("for {strategy} at {account}"));
    let traded = prop::sample::select(vec!["buy", "sell", "buy", "sell", "expiration", "transfer -", "transfer "]);
    let cash = prop::sample::select(vec!["credit", "debit", "dividend", "fees"]);
    prop_oneof![
        6 => (traded, amount(), symbol(), price(), amount(), whose()).prop_map(
            |(kind, quantity, symbol, price, fee, whose)| {
                let space = if kind.ends_with('-') { "" } else { " " };
                format!("{kind}{space}{quantity} {symbol} @ {price} fee {fee} {whose}")
            }
        ),
        1 => (cash, amount(), whose()).prop_map(|(kind, amount, whose)| format!("{kind} {amount} EUR {whose}")),
        3 => (symbol(), price()).prop_map(|(symbol, price)| format!("mark {symbol} {price} {price}")),
        1 => Just("wait 1".into()),
        1 => Just("roll".into()),
    ]
}

const ALL_PRICED: &str = "
    mark AAPL 10 11
    mark EUR.USD 1.1 1.2
    mark ES 5000 5001
    mark CALL 1 2
    mark BUND 99 100
    mark GOLD 2000 2001
    mark BTC.PERP 60000 60001
";

proptest! {
    #[test]
    fn any_day_equals_the_fold_of_its_transactions(lines in prop::collection::vec(a_line(), 1..80)) {
        let mut desk = PortfolioFixture::default();
        desk.tell(ALL_PRICED);
        desk.tell(&lines.join("\n"));
        prop_assert_eq!(actual_state(&desk.portfolio), Model::from_transactions(&desk.recorded, &desk.reference));
        prop_assert_eq!(&desk.portfolio.rebuilt(), &desk.portfolio.live);
        assert_sums_add_up(&desk);
        assert_survives_the_disk(&desk);
    }
}
