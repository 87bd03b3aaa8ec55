//! What the engine is told at every start, and what only at the first: settings, reference data, opening cash, and the
//! server's own wish for all prices.

use bus::{Bus, Closed};
use domain::command::{Command, RecordTransaction, ReferenceChange, Subscription};
use domain::query::Answer;
use domain::{AccountId, Amount, Caller, Envelope, Price, StrategyId, TransactionKind};

use crate::config::Config;
use crate::failure::{Exit, Failure};
use crate::ground::Ground;
use crate::reference::{self, Desk};

pub(super) fn tell(config: &Config, ground: &Ground, desk: &Desk, bus: &Bus) -> Result<(), Failure> {
    command(bus, Command::Configure(config.engine_settings(ground.instance.number())))?;
    if bus.catalogue.now().accounts.is_empty() {
        tell_changes(bus, reference::differences(&bus.catalogue.now(), &desk.data))?;
        if let Some(cash) = config.demo_opening_cash {
            give_cash(config, bus, cash)?;
        }
    }
    subscribe_to_all(bus)
}

pub(super) fn tell_changes(bus: &Bus, changes: Vec<ReferenceChange>) -> Result<(), Failure> {
    for envelope in reference::commands(&changes) {
        ask(bus, envelope)?;
    }
    Ok(())
}

fn give_cash(config: &Config, bus: &Bus, cash: Amount) -> Result<(), Failure> {
    let active = bus
        .catalogue
        .now()
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
fn subscribe_to_all(bus: &Bus) -> Result<(), Failure> {
    let securities: Vec<_> = bus.catalogue.now().securities.keys().copied().collect();
    for security in securities {
        command(bus, Command::Subscribe(Subscription { strategy: StrategyId::SERVER, security }))?;
    }
    Ok(())
}

fn command(bus: &Bus, command: Command) -> Result<Answer, Failure> {
    ask(bus, Envelope { caller: Caller::platform(), command })
}

fn ask(bus: &Bus, envelope: Envelope) -> Result<Answer, Failure> {
    let failed =
        |reason: &dyn std::fmt::Display| Failure::new(Exit::Failed, format!("the engine did not start: {reason}"));
    let ticket = bus.inbox.command(envelope).map_err(|closed| match closed {
        Closed::Busy => failed(&"too many requests wait"),
        Closed::Stopped => failed(&"it has stopped"),
    })?;
    let reply = ticket.reply_blocking().map_err(|_| failed(&"it gave no answer"))?;
    reply.outcome.map_err(|refusal| failed(&refusal))
}
