//! What the platform knows of a venue while no server runs: the reference data, the venue's account, and its open orders.

use std::sync::Arc;

use domain::command::ReferenceChange;
use domain::query::{Answer, Filter, Query};
use domain::{AccountId, ReferenceData};
use storage::journal;

use super::venue_accounts;
use crate::compose::startup::recovered_core::Core;
use crate::config::{Config, ConfiguredVenue};
use crate::data_dir::DataDir;
use crate::exit_failure::{Exit, ExitFailure};

pub(crate) struct KnownVenue {
    /// With the accounts that a start would create.
    pub(crate) reference: ReferenceData,
    pub(crate) account: AccountId,
    pub(crate) open_orders: usize,
}

impl KnownVenue {
    pub(crate) fn read(config: &Config, data_dir: &DataDir, venue: &ConfiguredVenue) -> Result<Self, ExitFailure> {
        let (journalled, open_orders) = journalled(config, data_dir, venue)?;
        let is_new = journalled.exchanges.is_empty() && journalled.securities.is_empty();
        let mut reference = if is_new { data_dir.reference.data.clone() } else { journalled };
        let missing = venue_accounts::missing(&config.venues, &reference);
        for change in missing.map_err(|problems| ExitFailure::configuration(&problems))? {
            if let ReferenceChange::Account(account) = change {
                reference.accounts.insert(account.id, Arc::new(account));
            }
        }
        let adapter = venue.adapter();
        let own = reference.accounts.values().find(|account| account.adapter() == adapter && account.active);
        let account = own.map(|account| account.id);
        let account =
            account.ok_or_else(|| ExitFailure::new(Exit::Refused, format!("{adapter} has no active account")))?;
        Ok(Self { reference, account, open_orders })
    }
}

/// As the journal has it; nothing where there is none.
fn journalled(
    config: &Config,
    data_dir: &DataDir,
    venue: &ConfiguredVenue,
) -> Result<(ReferenceData, usize), ExitFailure> {
    if !data_dir.lock.folder().join(journal::FOLDER).is_dir() {
        return Ok((ReferenceData::default(), 0));
    }
    let core = Core::recover(config, data_dir)?;
    let open = core.engine.answer(data_dir.clock.now(), 0, &Query::OpenOrders(Filter::default()));
    let adapter = venue.adapter();
    let open = match open {
        Ok(Answer::Orders(orders)) => orders.iter().filter(|order| order.adapter == adapter).count(),
        _ => 0,
    };
    Ok((ReferenceData::clone(core.engine.reference()), open))
}
