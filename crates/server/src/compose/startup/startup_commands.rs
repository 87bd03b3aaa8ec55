//! What the engine is told at every start, and what only at the first: settings, reference data, opening cash, and the
//! server's own wish for all prices.

use bus::{Bus, InboxError};
use domain::command::{Command, MarketDataSubscription, RecordTransaction, ReferenceChange};
use domain::query::Answer;
use domain::{AccountId, Amount, Caller, CommandEnvelope, Price, StrategyId, TransactionKind};

use crate::compose::venues::venue_accounts;
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::exit_failure::{Exit, ExitFailure};
use crate::reference::{self, ReferenceSet};

pub(crate) fn send_all(
    config: &Config,
    data_dir: &DataDir,
    reference: &ReferenceSet,
    bus: &Bus,
) -> Result<(), ExitFailure> {
    command(bus, Command::Configure(config.engine_settings(data_dir.instance.number())))?;
    let has_accounts = !bus.catalogue.current().accounts.is_empty();
    if is_first_start(bus) {
        send_reference_changes(bus, reference::differences(&bus.catalogue.current(), &reference.data))?;
    }
    let accounts = venue_accounts::missing(&config.venues, &bus.catalogue.current());
    send_reference_changes(bus, accounts.map_err(|problems| ExitFailure::configuration(&problems))?)?;
    match config.demo_opening_cash {
        Some(cash) if !has_accounts => credit_opening_cash(config, bus, cash)?,
        _ => {}
    }
    subscribe_to_all(bus)
}

/// Whether there is no reference data yet. Accounts do not count: a venue makes its own.
pub(crate) fn is_first_start(bus: &Bus) -> bool {
    let current = bus.catalogue.current();
    current.exchanges.is_empty() && current.securities.is_empty()
}

pub(crate) fn send_reference_changes(bus: &Bus, changes: Vec<ReferenceChange>) -> Result<(), ExitFailure> {
    for envelope in reference::commands(&changes) {
        send_envelope(bus, envelope)?;
    }
    Ok(())
}

fn credit_opening_cash(config: &Config, bus: &Bus, cash: Amount) -> Result<(), ExitFailure> {
    let active = bus
        .catalogue
        .current()
        .accounts
        .values()
        .filter(|account| account.active)
        .map(|account| account.id)
        .collect::<Vec<_>>();
    for account in active {
        command(bus, Command::Record(credit(config, account, cash)))?;
    }
    Ok(())
}

fn credit(config: &Config, account: AccountId, cash: Amount) -> RecordTransaction {
    RecordTransaction {
        uuid: None,
        at: None,
        settlement_date: None,
        ext_id: None,
        int_order_id: None,
        ext_order_id: None,
        kind: TransactionKind::Credit,
        quantity: None,
        price: Price(cash.0),
        execution_commission: None,
        clearing_commission: None,
        fee: None,
        currency: Some(config.portfolio_base_currency),
        account: Some(account),
        security: None,
        strategy: None,
        description: Some("opening cash".into()),
    }
}

/// The server itself wants every price: positions are valued, and rates known, whatever strategies ask for.
fn subscribe_to_all(bus: &Bus) -> Result<(), ExitFailure> {
    let securities: Vec<_> = bus.catalogue.current().securities.keys().copied().collect();
    for security in securities {
        command(bus, Command::Subscribe(MarketDataSubscription { strategy: StrategyId::SERVER, security }))?;
    }
    Ok(())
}

fn command(bus: &Bus, command: Command) -> Result<Answer, ExitFailure> {
    send_envelope(bus, CommandEnvelope { caller: Caller::platform(), command })
}

fn send_envelope(bus: &Bus, envelope: CommandEnvelope) -> Result<Answer, ExitFailure> {
    let failed =
        |reason: &dyn std::fmt::Display| ExitFailure::new(Exit::Failed, format!("the engine did not start: {reason}"));
    let ticket = bus.inbox.command(envelope).map_err(|closed| match closed {
        InboxError::Busy => failed(&"too many requests wait"),
        InboxError::Stopped => failed(&"it has stopped"),
    })?;
    let reply = ticket.recv_blocking().map_err(|_| failed(&"it gave no answer"))?;
    reply.outcome.map_err(|refusal| failed(&refusal))
}
