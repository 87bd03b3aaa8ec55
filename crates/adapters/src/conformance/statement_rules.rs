//! Conformance rules of statements. The security of the harness has a contract size of one.

use std::collections::BTreeSet;

use domain::report::{VenueFill, VenueStatement};
use domain::{AccountId, Amount, Currency, Decimal, Overflow, Quantity, Timestamp};

use super::conformance_client::{ConformanceClient, RuleResult, failed};
use super::rules::{Rule, accepted, expect_reports};
use super::{Harness, OrderIntent, RuleVerdict};
use crate::venue::SendOutcome;

pub(super) fn all<H: Harness>() -> Vec<(&'static str, Rule<H>)> {
    vec![
        ("a statement says what open orders hold", statement_has_locked_cash),
        ("a statement has the positions of the account", statement_has_positions),
        ("the cash of a statement changes by the value and the charges of a fill", statement_agrees_with_charges),
        ("a statement is as of its question, not later", statement_is_as_of_its_question),
        ("without a session no statement is asked for", nobody_states_without_session),
    ]
}

fn statement_has_locked_cash<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    let account = open(desk)?;
    let before = desk.ask_for_statement(account)?;
    states_cash(&before)?;
    accepted(desk)?;
    let after = desk.ask_for_statement(account)?;
    let locked = |statement: &VenueStatement| statement.cash.iter().any(|balance| balance.locked.is_positive());
    match (locked(&before), locked(&after)) {
        (false, true) => Ok(()),
        _ => failed(format!("an order rests: before {:?}, after {:?}", before.cash, after.cash)),
    }
}

fn states_cash(statement: &VenueStatement) -> RuleResult {
    match statement.cash_complete || !statement.cash.is_empty() {
        true => Ok(()),
        false => Err(RuleVerdict::NotSupported("the venue tells positions, not cash")),
    }
}

fn statement_has_positions<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    let account = open(desk)?;
    let before = desk.ask_for_statement(account)?;
    if !before.positions_complete {
        return Err(RuleVerdict::NotSupported("the venue tells assets, not positions"));
    }
    let (order, _) = trade(desk)?;
    let after = desk.ask_for_statement(account)?;
    let held = |statement: &VenueStatement| {
        let found = statement.positions.iter().find(|position| position.security == order.security);
        found.map_or(Quantity::ZERO, |position| position.quantity)
    };
    match held(&after).minus(held(&before)) {
        Ok(change) if change == order.side.signed(order.terms.quantity) => Ok(()),
        _ => failed(format!("{} traded, before {before:?}, after {after:?}", order.terms.quantity)),
    }
}

fn statement_agrees_with_charges<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    let account = open(desk)?;
    let before = desk.ask_for_statement(account)?;
    states_cash(&before)?;
    let (order, fills) = trade(desk)?;
    let after = desk.ask_for_statement(account)?;
    let total = |statement: &VenueStatement, currency: Currency| {
        statement.balance(currency).map_or(Amount::ZERO, |balance| balance.total)
    };
    let own: BTreeSet<Currency> = before.cash.iter().chain(&after.cash).map(|balance| balance.currency).collect();
    let is_changed = |currency: &Currency| total(&after, *currency) != total(&before, *currency);
    let changed: Vec<Currency> = own.into_iter().filter(is_changed).collect();
    let mut paid_in = 0;
    for currency in &changed {
        let change = total(&after, *currency).minus(total(&before, *currency));
        let expected = AssetRole::ALL.map(|role| change_by(&order, &fills, *currency, role));
        match expected.iter().position(|expected| *expected == change) {
            Some(role) if AssetRole::ALL[role] == AssetRole::Quote => paid_in += 1,
            Some(_) => {}
            None => return failed(format!("{currency} changed by {change:?}, by the fills {expected:?}")),
        }
    }
    if paid_in == 1 { Ok(()) } else { failed(format!("a trade was paid in {paid_in} currencies of {changed:?}")) }
}

/// What a currency is in a trade. At a spot venue the base is an asset like the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AssetRole {
    Quote,
    Base,
    /// Only charges are in it.
    Charge,
}

impl AssetRole {
    const ALL: [Self; 3] = [Self::Quote, Self::Base, Self::Charge];
}

/// How the fills and their charges change what is held of the currency.
fn change_by(
    order: &domain::Order,
    fills: &[VenueFill],
    currency: Currency,
    role: AssetRole,
) -> Result<Amount, Overflow> {
    fills.iter().try_fold(Amount::ZERO, |sum, fill| {
        let quantity = order.side.signed(fill.quantity);
        let traded = match role {
            AssetRole::Quote => Amount::ZERO.minus(quantity.value_at(fill.price, Decimal::ONE)?)?,
            AssetRole::Base => Amount(quantity.0),
            AssetRole::Charge => Amount::ZERO,
        };
        let charges = fill.charges.iter().filter(|charge| charge.currency == currency).map(|charge| charge.amount);
        let fee = fill.fee.filter(|_| role == AssetRole::Quote);
        charges.chain(fee).try_fold(sum.plus(traded)?, Amount::minus)
    })
}

/// A later instant would compare the books with what was not yet in the statement.
fn statement_is_as_of_its_question<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    let account = open(desk)?;
    let as_of = desk.ask_for_statement(account)?.as_of;
    let asked_at = desk.asked_at;
    let is_earlier = as_of <= asked_at && as_of > Timestamp(0);
    if is_earlier { Ok(()) } else { failed(format!("asked at {asked_at}, stated as of {as_of}")) }
}

fn nobody_states_without_session<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult {
    let account = open(desk)?;
    desk.disconnect();
    match desk.ask_statement(account) {
        SendOutcome::NotSent(_) => Ok(()),
        sending => failed(format!("a question without a session: {sending:?}")),
    }
}

/// A session with a venue that gives statements, and the account of the harness.
fn open<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult<AccountId> {
    if !desk.harness.adapter().capabilities().lists.statement {
        return Err(RuleVerdict::NotSupported("the venue gives no statements"));
    }
    desk.connect()?;
    Ok(desk.harness.order(OrderIntent::Rest).account)
}

fn trade<H: Harness>(desk: &mut ConformanceClient<H>) -> RuleResult<(domain::Order, Vec<VenueFill>)> {
    let order = desk.send(OrderIntent::Trade)?;
    expect_reports(desk, order.id, &["accepted", "filled"])?;
    let fills = desk.fills().iter().filter(|fill| fill.order == order.id).cloned().collect();
    Ok((order, fills))
}
