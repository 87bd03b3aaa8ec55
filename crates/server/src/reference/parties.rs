//! families.csv, accounts.csv and strategies.csv.

use domain::{Account, AccountId, ExchangeId, FamilyId, SecurityFamily, SecurityId, StrategyId, StrategyRecord};

use super::cell::{Id, NotNegative, Positive};
use super::check::unique;
use super::sheet::{self, SheetRow, SheetRows};
use super::source::ReferenceFiles;
use crate::input_problem::Problems;

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

pub(super) fn families(files: &ReferenceFiles, problems: &mut Problems) -> SheetRows<SecurityFamily> {
    let file = "families.csv";
    let columns = (&FAMILY_COLUMNS[..], &FAMILY_COLUMNS_OPTIONAL[..]);
    let families = sheet::read_columns(file, files.text(file), columns, problems, family);
    unique(&families, "id", |family| family.id, problems);
    unique(&families, "name", |family| family.name.clone(), problems);
    families
}

fn family(row: &mut SheetRow<'_>) -> Option<SecurityFamily> {
    let (id, name, currency) = (row.required::<Id>("id"), row.required("name"), row.required("currency"));
    let (contract_size, tick) = (row.required::<Positive>("contractSize"), row.required::<NotNegative>("priceIncr"));
    let exchange = row.required::<Id>("exchangeId");
    let (execution, clearing) = (row.required("executionCommission"), row.required("clearingCommission"));
    let (fee, underlying) = (row.required("fee"), row.optional::<Id>("underlyingId"));
    let (symbol_root, isin_root) = (row.optional("symbolRoot"), row.optional("isinRoot"));
    let (ric_root, settlement) = (row.optional("ricRoot"), row.optional("settlement"));
    Some(SecurityFamily {
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

pub(super) fn accounts(files: &ReferenceFiles, problems: &mut Problems) -> SheetRows<Account> {
    let file = "accounts.csv";
    let accounts = sheet::read(file, files.text(file), &ACCOUNT_COLUMNS, problems, account);
    unique(&accounts, "id", |account| account.id, problems);
    unique(&accounts, "name", |account| account.name.clone(), problems);
    accounts
}

fn account(row: &mut SheetRow<'_>) -> Option<Account> {
    let (id, name) = (row.required::<Id>("id"), row.required("name"));
    let (active, adapter_type) = (row.required("active"), row.required("adapterType"));
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

pub(super) fn strategies(files: &ReferenceFiles, problems: &mut Problems) -> SheetRows<StrategyRecord> {
    let file = "strategies.csv";
    let strategies = sheet::read(file, files.text(file), &STRATEGY_COLUMNS, problems, strategy);
    unique(&strategies, "id", |strategy| strategy.id, problems);
    unique(&strategies, "name", |strategy| strategy.name.clone(), problems);
    strategies
}

fn strategy(row: &mut SheetRow<'_>) -> Option<StrategyRecord> {
    let (id, name, auto_activate) = (row.required::<Id>("id"), row.required("name"), row.required("autoActivate"));
    let strategy = StrategyRecord { id: StrategyId(id?.0), name: name?, auto_activate: auto_activate? };
    if strategy.id == StrategyId::SERVER {
        row.add_problem("id", "1 is the strategy SERVER, which always exists");
    }
    if &*strategy.name == SERVER {
        row.add_problem("name", "SERVER always exists and has the id 1");
    }
    if strategy.id == StrategyId::EXTERNAL {
        row.add_problem("id", "it belongs to the strategy EXTERNAL, which the platform makes");
    }
    if &*strategy.name == StrategyRecord::EXTERNAL {
        row.add_problem("name", "EXTERNAL is for orders that nobody placed here; the platform makes it");
    }
    Some(strategy)
}
