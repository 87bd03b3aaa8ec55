//! Accounts of the venues: one that is configured and absent is created.

use adapters::venue_type::SettingProblem;
use domain::command::ReferenceChange;
use domain::{Account, AccountId, AdapterName, ReferenceData};

use crate::config::ConfiguredVenue;
use crate::input_problem::Problems;

/// The accounts to create.
pub(crate) fn missing(venues: &[ConfiguredVenue], reference: &ReferenceData) -> Result<Vec<ReferenceChange>, Problems> {
    let (mut created, mut problems) = (Vec::new(), Problems::default());
    let mut next_id = reference.accounts.keys().map(|id| id.0).max().unwrap_or(0) + 1;
    for venue in venues {
        match account_of(venue, reference) {
            Ok(None) => {}
            Ok(Some(name)) => {
                created.push(ReferenceChange::Account(account(next_id, name, venue)));
                next_id += 1;
            }
            Err(taken_by) => {
                let reason = format!("the account belongs to {taken_by}; name another one");
                venue.add_problems(vec![SettingProblem { key: "account", reason }], &mut problems);
            }
        }
    }
    problems.none_or(created)
}

/// The name of the account to create, or the adapter that has an account of this name already.
fn account_of<'a>(venue: &'a ConfiguredVenue, reference: &ReferenceData) -> Result<Option<&'a str>, AdapterName> {
    let adapter = venue.adapter();
    let mut accounts = reference.accounts.values();
    let configured = venue.settings.text("account");
    if configured.is_none() && accounts.clone().any(|account| account.adapter() == adapter) {
        return Ok(None);
    }
    let name = configured.unwrap_or(venue.settings.name());
    match accounts.find(|account| &*account.name == name) {
        None => Ok(Some(name)),
        Some(account) if account.adapter() == adapter => Ok(None),
        Some(account) => Err(account.adapter()),
    }
}

fn account(id: u64, name: &str, venue: &ConfiguredVenue) -> Account {
    Account {
        id: AccountId(id),
        name: name.into(),
        active: true,
        adapter_type: venue.adapter_type().into(),
        session_qualifier: Some(venue.settings.name().clone()),
        ext_account: None,
        ext_account_group: None,
        ext_allocation_profile: None,
        ext_clearing_account: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Sources};
    use crate::reference;

    /// Names and adapters of what is created beside the demo's accounts, or the problems.
    fn created(set: &[&str]) -> String {
        let set = set.iter().map(|text| (*text).to_owned()).collect();
        let config = Config::load(&Sources { set, ..Sources::default() }).unwrap();
        let shown = |change: &ReferenceChange| match change {
            ReferenceChange::Account(account) => format!("{} {} {}", account.id, account.name, account.adapter()),
            other => format!("{other:?}"),
        };
        match missing(&config.venues, &reference::demo().data) {
            Ok(changes) => changes.iter().map(shown).collect::<Vec<_>>().join(", "),
            Err(problems) => problems.to_string(),
        }
    }

    #[test]
    fn only_a_venue_without_an_account_gets_one() {
        assert_eq!(created(&[]), "");
        let third = ["venues.GAMMA.type=simulated", "venues.GAMMA.exchange=SMX"];
        assert_eq!(created(&third), "4 GAMMA SIMULATED-GAMMA");
        assert_eq!(created(&["venues.ALPHA.account=Spare"]), "4 Spare SIMULATED-ALPHA");
        assert_eq!(created(&["venues.ALPHA.account=Rialto Desk"]), "");
    }

    #[test]
    fn an_account_of_another_venue_is_not_taken() {
        let expected = "--set: venues.BETA.account: the account belongs to SIMULATED-ALPHA; name another one";
        assert_eq!(created(&["venues.BETA.account=Rialto Desk"]), expected);
    }
}
