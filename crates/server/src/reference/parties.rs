//! families.csv, accounts.csv and strategies.csv.

use domain::{Account, AccountId, ExchangeId, Family, FamilyId, SecurityId, Strategy, StrategyId};

use super::cell::{Id, NotNegative, Positive};
use super::check::unique;
use super::sheet::{self, Row, Rows};
use super::source::Files;
use crate::problem::Problems;

const FAMILY_COLUMNS: [&str; 13] = [
    "id",
    "name",
    "symbolRoot",
    "isinRoot",
    "ricRoot",
    "currency",
    "contractSize",
    "priceIncr",
    "underlyingId",
    "exchangeId",
    "executionCommission",
    "clearingCommission",
    "fee",
];

/// Optional: folders from before this column do not have it.
const FAMILY_COLUMNS_OPTIONAL: [&str; 1] = ["settlement"];

const ACCOUNT_COLUMNS: [&str; 9] = [
    "id",
    "name",
    "active",
    "adapterType",
    "sessionQualifier",
    "extAccount",
    "extAccountGroup",
    "extAllocationProfile",
    "extClearingAccount",
];

const STRATEGY_COLUMNS: [&str; 3] = ["id", "name", "autoActivate"];

/// The strategy that always exists.
const SERVER: &str = "SERVER";

pub(super) fn families(files: &Files, problems: &mut Problems) -> Rows<Family> {
    let file = "families.csv";
    let columns = (&FAMILY_COLUMNS[..], &FAMILY_COLUMNS_OPTIONAL[..]);
    let families = sheet::read_columns(file, files.text(file), columns, problems, family);
    unique(&families, "id", |family| family.id, problems);
    unique(&families, "name", |family| family.name.clone(), problems);
    families
}

fn family(row: &mut Row<'_>) -> Option<Family> {
    let (id, name, currency) = (row.needed::<Id>("id"), row.needed("name"), row.needed("currency"));
    let (contract_size, tick) = (row.needed::<Positive>("contractSize"), row.needed::<NotNegative>("priceIncr"));
    let exchange = row.needed::<Id>("exchangeId");
    let (execution, clearing) = (row.needed("executionCommission"), row.needed("clearingCommission"));
    let (fee, underlying) = (row.needed("fee"), row.optional::<Id>("underlyingId"));
    let (symbol_root, isin_root) = (row.optional("symbolRoot"), row.optional("isinRoot"));
    let (ric_root, settlement) = (row.optional("ricRoot"), row.optional("settlement"));
    Some(Family {
        id: FamilyId(id?.0),
        name: name?,
        symbol_root,
        isin_root,
        ric_root,
        currency: currency?,
        contract_size: contract_size?.0,
        price_incr: tick?.0,
        underlying: underlying.map(|id| SecurityId(id.0)),
        exchange: Some(ExchangeId(exchange?.0)),
        execution_commission: execution?,
        clearing_commission: clearing?,
        fee: fee?,
        settlement,
    })
}

pub(super) fn accounts(files: &Files, problems: &mut Problems) -> Rows<Account> {
    let file = "accounts.csv";
    let accounts = sheet::read(file, files.text(file), &ACCOUNT_COLUMNS, problems, account);
    unique(&accounts, "id", |account| account.id, problems);
    unique(&accounts, "name", |account| account.name.clone(), problems);
    accounts
}

fn account(row: &mut Row<'_>) -> Option<Account> {
    let (id, name) = (row.needed::<Id>("id"), row.needed("name"));
    let (active, adapter_type) = (row.needed("active"), row.needed("adapterType"));
    let (session_qualifier, ext_account) = (row.optional("sessionQualifier"), row.optional("extAccount"));
    let ext_account_group = row.optional("extAccountGroup");
    let ext_allocation_profile = row.optional("extAllocationProfile");
    let ext_clearing_account = row.optional("extClearingAccount");
    Some(Account {
        id: AccountId(id?.0),
        name: name?,
        active: active?,
        adapter_type: adapter_type?,
        session_qualifier,
        ext_account,
        ext_account_group,
        ext_allocation_profile,
        ext_clearing_account,
    })
}

pub(super) fn strategies(files: &Files, problems: &mut Problems) -> Rows<Strategy> {
    let file = "strategies.csv";
    let strategies = sheet::read(file, files.text(file), &STRATEGY_COLUMNS, problems, strategy);
    unique(&strategies, "id", |strategy| strategy.id, problems);
    unique(&strategies, "name", |strategy| strategy.name.clone(), problems);
    strategies
}

fn strategy(row: &mut Row<'_>) -> Option<Strategy> {
    let (id, name, auto_activate) = (row.needed::<Id>("id"), row.needed("name"), row.needed("autoActivate"));
    let strategy = Strategy { id: StrategyId(id?.0), name: name?, auto_activate: auto_activate? };
    if strategy.id == StrategyId::SERVER {
        row.complain("id", "1 is the strategy SERVER, which always exists");
    }
    if &*strategy.name == SERVER {
        row.complain("name", "SERVER always exists and has the id 1");
    }
    Some(strategy)
}
