//! securities.csv.

use std::collections::BTreeMap;

use domain::reference::OptionRight;
use domain::{ExchangeId, FamilyId, Price, Quantity, Security, SecurityId, SecurityKind, Text, VenueSymbols};

use super::cell::{Cell, Id, Isin, MonthYear, NotNegative, Positive, Symbol};
use super::check::unique;
use super::sheet::{self, SheetRow, SheetRows};
use super::source::ReferenceFiles;
use crate::input_problem::Problems;
use wire::nearest::hint;

const COLUMNS: [&str; 32] = [
    "id",
    "objectType",
    "symbol",
    "description",
    "isin",
    "bbgid",
    "ric",
    "conid",
    "adapterTicker",
    "underlyingId",
    "securityFamilyId",
    "exchangeId",
    "currency",
    "contractSize",
    "minQty",
    "maxQty",
    "qtyIncr",
    "minPrice",
    "maxPrice",
    "priceIncr",
    "minNotional",
    "tradeable",
    "baseCurrency",
    "transactionCurrency",
    "expiration",
    "monthYear",
    "firstNotice",
    "strike",
    "optionType",
    "maturity",
    "coupon",
    "couponFrequency",
];

/// Optional: folders from before this column do not have it.
const COLUMNS_OPTIONAL: [&str; 1] = ["venueSymbols"];

/// Columns that belong to some kinds only.
const COLUMNS_OF_KINDS: [(&str, &[&str]); 10] = [
    ("baseCurrency", &["Forex"]),
    ("transactionCurrency", &["Forex"]),
    ("expiration", &["Future", "Option"]),
    ("monthYear", &["Future"]),
    ("firstNotice", &["Future"]),
    ("strike", &["Option"]),
    ("optionType", &["Option"]),
    ("maturity", &["Bond"]),
    ("coupon", &["Bond"]),
    ("couponFrequency", &["Bond"]),
];

const KINDS: [&str; 9] = ["Stock", "Forex", "Future", "Option", "Index", "Bond", "Commodity", "Fund", "PerpetualSwap"];

pub(super) fn read(files: &ReferenceFiles, problems: &mut Problems) -> SheetRows<Security> {
    let file = "securities.csv";
    let columns = (&COLUMNS[..], &COLUMNS_OPTIONAL[..]);
    let securities = sheet::read_columns(file, files.text(file), columns, problems, security);
    unique(&securities, "id", |security| security.id, problems);
    unique(&securities, "symbol", |security| (security.symbol.clone(), security.exchange), problems);
    securities
}

/// Every cell is read, so that all errors of a row are reported.
fn security(row: &mut SheetRow<'_>) -> Option<Security> {
    let (id, symbol, kind) = (row.required::<Id>("id"), row.required::<Symbol>("symbol"), kind(row));
    let (description, isin) = (row.optional("description"), row.optional::<Isin>("isin"));
    let (bbgid, ric, conid) = (row.optional("bbgid"), row.optional("ric"), row.optional("conid"));
    let (adapter_ticker, underlying) = (row.optional("adapterTicker"), row.optional::<Id>("underlyingId"));
    let (family, exchange) = (row.required::<Id>("securityFamilyId"), row.required::<Id>("exchangeId"));
    let (currency, contract_size) = (row.required("currency"), row.required::<Positive>("contractSize"));
    let (min_qty, max_qty) = (row.optional::<Positive>("minQty"), row.optional::<Positive>("maxQty"));
    let (min_price, max_price) = (row.optional("minPrice"), row.optional("maxPrice"));
    let (lot, tick) = (row.required::<NotNegative>("qtyIncr"), row.required::<NotNegative>("priceIncr"));
    let (min_notional, tradeable) = (row.optional("minNotional"), row.required("tradeable"));
    let venue_symbols = row.optional("venueSymbols").unwrap_or_default();
    let security = Security {
        id: SecurityId(id?.0),
        kind: kind?,
        symbol: symbol?.0,
        description,
        isin: isin.map(|isin| isin.0),
        bbgid,
        ric,
        conid,
        adapter_ticker,
        underlying: underlying.map(|id| SecurityId(id.0)),
        family: Some(FamilyId(family?.0)),
        exchange: ExchangeId(exchange?.0),
        currency: currency?,
        contract_size: contract_size?.0,
        min_qty: min_qty.map(|quantity| Quantity(quantity.0)),
        max_qty: max_qty.map(|quantity| Quantity(quantity.0)),
        qty_incr: lot?.0,
        min_price,
        max_price,
        price_incr: tick?.0,
        min_notional,
        tradeable: tradeable?,
        venue_symbols,
    };
    check_ranges(row, &security);
    check_kind(row, &security);
    Some(security)
}

fn kind(row: &mut SheetRow<'_>) -> Option<SecurityKind> {
    let name = row.text("objectType").to_owned();
    if !KINDS.contains(&name.as_str()) {
        let hint = hint(&name, KINDS);
        row.add_problem("objectType", format!("'{name}' is no kind of security{hint}"));
        return None;
    }
    check_foreign_columns(row, &name);
    match name.as_str() {
        "Stock" => Some(SecurityKind::Stock),
        "Forex" => forex(row),
        "Future" => future(row),
        "Option" => option(row),
        "Index" => Some(SecurityKind::Index),
        "Bond" => bond(row),
        "Commodity" => Some(SecurityKind::Commodity),
        "Fund" => Some(SecurityKind::Fund),
        _ => Some(SecurityKind::PerpetualSwap),
    }
}

fn check_foreign_columns(row: &mut SheetRow<'_>, kind: &str) {
    for (column, kinds) in COLUMNS_OF_KINDS {
        if !kinds.contains(&kind) && !row.text(column).is_empty() {
            row.add_problem(column, format!("belongs to {} and must be blank for {kind}", kinds.join(" and ")));
        }
    }
}

fn forex(row: &mut SheetRow<'_>) -> Option<SecurityKind> {
    let (base, transaction) = (row.required("baseCurrency"), row.required("transactionCurrency"));
    Some(SecurityKind::Forex { base: base?, transaction: transaction? })
}

fn future(row: &mut SheetRow<'_>) -> Option<SecurityKind> {
    let (expiration, month_year) = (row.required("expiration"), row.required::<MonthYear>("monthYear"));
    let first_notice = row.optional("firstNotice");
    Some(SecurityKind::Future { expiration: expiration?, month_year: month_year?.0, first_notice })
}

fn option(row: &mut SheetRow<'_>) -> Option<SecurityKind> {
    let (expiration, strike) = (row.required("expiration"), row.required::<Positive>("strike"));
    let right = row.required("optionType");
    Some(SecurityKind::Option { expiration: expiration?, strike: Price(strike?.0), right: right? })
}

fn bond(row: &mut SheetRow<'_>) -> Option<SecurityKind> {
    let (maturity, coupon) = (row.required("maturity"), row.required::<NotNegative>("coupon"));
    let frequency = row.required("couponFrequency");
    Some(SecurityKind::Bond { maturity: maturity?, coupon: coupon?.0, coupon_frequency: frequency? })
}

impl Cell for OptionRight {
    const SHAPE: &'static str = "CALL or PUT";

    fn read(text: &str) -> Option<Self> {
        match text {
            "CALL" => Some(Self::Call),
            "PUT" => Some(Self::Put),
            _ => None,
        }
    }
}

impl Cell for VenueSymbols {
    const SHAPE: &'static str = "VENUE=SYMBOL, with ; between several, each venue once";

    fn read(text: &str) -> Option<Self> {
        let mut symbols = BTreeMap::new();
        for pair in text.split(';').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (venue, symbol) = pair.split_once('=')?;
            let is_name = !venue.is_empty() && venue.bytes().all(|byte| byte.is_ascii_alphanumeric());
            let symbol = Text::read(symbol).filter(|symbol| is_name && !symbol.is_empty())?;
            if symbols.insert(venue.into(), symbol).is_some() {
                return None;
            }
        }
        Some(Self(symbols))
    }
}

fn check_ranges(row: &mut SheetRow<'_>, security: &Security) {
    if security.min_qty.zip(security.max_qty).is_some_and(|(least, most)| least > most) {
        row.add_problem("maxQty", "is below minQty");
    }
    if security.min_price.zip(security.max_price).is_some_and(|(least, most)| least > most) {
        row.add_problem("maxPrice", "is below minPrice");
    }
}

/// Requirements of the kind on the columns that all kinds have.
fn check_kind(row: &mut SheetRow<'_>, security: &Security) {
    match security.kind {
        SecurityKind::Index if security.tradeable => row.add_problem("tradeable", "an index can't be traded"),
        SecurityKind::Forex { transaction, .. } if transaction != security.currency => {
            row.add_problem("transactionCurrency", format!("is not the currency, {}", security.currency));
        }
        SecurityKind::Forex { base, transaction } if base == transaction => {
            row.add_problem("transactionCurrency", "is the same as baseCurrency");
        }
        _ => {}
    }
}
