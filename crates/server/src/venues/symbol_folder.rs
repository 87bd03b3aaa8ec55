//! A folder of reference data from what a venue lists. Ids that are there stay, because orders and positions refer to them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use adapters::venue_type::ListedSymbol;
use domain::Currency;
use domain::report::ListingStatus;

use crate::exit_failure::{Exit, ExitFailure};

/// A row by the names of its columns.
type Row = BTreeMap<String, String>;

const SECURITIES: &str = "id,objectType,symbol,description,isin,bbgid,ric,conid,adapterTicker,underlyingId,securityFamilyId,exchangeId,\
                          currency,contractSize,minQty,maxQty,qtyIncr,minPrice,maxPrice,priceIncr,minNotional,tradeable,baseCurrency,\
                          transactionCurrency,expiration,monthYear,firstNotice,strike,optionType,maturity,coupon,couponFrequency";
const FAMILIES: &str = "id,name,symbolRoot,isinRoot,ricRoot,currency,contractSize,priceIncr,underlyingId,exchangeId,\
                        executionCommission,clearingCommission,fee";
/// The smallest step of prices where a security says nothing else.
const FAMILY_TICK: &str = "0.00000001";

/// Files that are written once and then left to their owner: name, columns and rows.
fn other_files(venue: &str) -> [(&'static str, String); 6] {
    let exchanges = format!(
        "id,name,code,mic,bloombergCode,timeZone,openingAuction,closingAuction\n1,{venue},{venue},X{venue:X<3.3},,UTC,0,0\n"
    );
    [
        ("exchanges", exchanges),
        ("trading-hours", "exchangeId,open,close,days\n1,00:00,24:00,MON TUE WED THU FRI SAT SUN\n".to_owned()),
        ("holidays", "exchangeId,date,open,close\n".to_owned()),
        (
            "accounts",
            "id,name,active,adapterType,sessionQualifier,extAccount,extAccountGroup,extAllocationProfile,extClearingAccount\n".to_owned(),
        ),
        ("strategies", "id,name,autoActivate\n".to_owned()),
        ("opening", "symbol,mid,spreadTicks,size,volatility\n".to_owned()),
    ]
}

/// What to tell.
pub(crate) fn write(folder: &Path, venue: &str, symbols: &[ListedSymbol]) -> Result<String, ExitFailure> {
    fs::create_dir_all(folder).map_err(|error| ExitFailure::io("create", folder, &error))?;
    for (name, text) in other_files(venue) {
        let path = file(folder, name);
        if !path.exists() {
            fs::write(&path, text).map_err(|error| ExitFailure::io("write", &path, &error))?;
        }
    }
    let (symbols, unfit): (Vec<_>, Vec<_>) = symbols.iter().partition(|listed| has_currencies(listed));
    let families = with_families(read(folder, "families")?, &symbols);
    let before = read(folder, "securities")?;
    let known = before.len();
    let securities = with_securities(before, &symbols, &families);
    save(folder, "families", FAMILIES, &families)?;
    save(folder, "securities", SECURITIES, &securities)?;
    let mut text = format!(
        "{} securities in {}, {} of them new\n",
        securities.len(),
        file(folder, "securities").display(),
        securities.len() - known
    );
    for listed in unfit {
        text += &format!("left out: {}: {} or {} is no currency code here\n", listed.symbol, listed.base, listed.quote);
    }
    Ok(text)
}

fn file(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.csv"))
}

fn has_currencies(listed: &ListedSymbol) -> bool {
    [&listed.base, &listed.quote].into_iter().all(|asset| asset.parse::<Currency>().is_ok())
}

/// One family for each asset that prices are in.
fn with_families(mut families: Vec<Row>, symbols: &[&ListedSymbol]) -> Vec<Row> {
    for listed in symbols {
        if families.iter().any(|family| family["currency"] == *listed.quote) {
            continue;
        }
        let id = next_id(&families);
        families.push(row(&[
            ("id", &id),
            ("name", &format!("Paid in {}", listed.quote)),
            ("currency", &listed.quote),
            ("contractSize", "1"),
            ("priceIncr", FAMILY_TICK),
            ("exchangeId", "1"),
            ("executionCommission", "0"),
            ("clearingCommission", "0"),
            ("fee", "0"),
        ]));
    }
    families
}

/// What the venue says of a symbol replaces what was there; everything else of a row stays. What it does not list any more cannot be
/// traded; that is said only of quote assets that were asked for.
fn with_securities(mut securities: Vec<Row>, symbols: &[&ListedSymbol], families: &[Row]) -> Vec<Row> {
    let is_of = |row: &Row, listed: &ListedSymbol| row["adapterTicker"] == *listed.symbol;
    let is_asked = |row: &Row| symbols.iter().any(|listed| row["currency"] == *listed.quote);
    for row in &mut securities {
        if is_asked(row) && !symbols.iter().any(|listed| is_of(row, listed)) {
            row.insert("tradeable".to_owned(), "false".to_owned());
        }
    }
    for listed in symbols {
        let place = securities.iter().position(|row| is_of(row, listed)).unwrap_or_else(|| {
            let id = next_id(&securities);
            securities.push(new_security(&id, listed, families));
            securities.len() - 1
        });
        securities[place].extend(filters(listed));
    }
    securities
}

fn new_security(id: &str, listed: &ListedSymbol, families: &[Row]) -> Row {
    let family = families.iter().find(|family| family["currency"] == *listed.quote);
    let family = family.map_or_else(String::new, |family| family["id"].clone());
    row(&[
        ("id", id),
        ("objectType", "Forex"),
        ("symbol", &listed.symbol),
        ("adapterTicker", &listed.symbol),
        ("securityFamilyId", &family),
        ("exchangeId", "1"),
        ("currency", &listed.quote),
        ("contractSize", "1"),
        ("baseCurrency", &listed.base),
        ("transactionCurrency", &listed.quote),
    ])
}

fn filters(listed: &ListedSymbol) -> Row {
    let listing = &listed.listing;
    let text = |value: Option<String>| value.unwrap_or_default();
    let tradeable = listing.status == ListingStatus::Trading;
    row(&[
        ("minQty", &text(listing.quantity_min.map(|quantity| quantity.to_string()))),
        ("maxQty", &text(listing.quantity_max.map(|quantity| quantity.to_string()))),
        ("qtyIncr", &text(listing.lot.map(|lot| lot.to_string()))),
        ("priceIncr", &text(listing.tick.map(|tick| tick.to_string()))),
        ("minNotional", &text(listing.notional_min.map(|amount| amount.to_string()))),
        ("tradeable", &tradeable.to_string()),
    ])
}

fn row(cells: &[(&str, &str)]) -> Row {
    cells.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn next_id(rows: &[Row]) -> String {
    let ids = rows.iter().filter_map(|row| row["id"].parse::<u64>().ok());
    (ids.max().unwrap_or(0) + 1).to_string()
}

/// The rows of a file that is there; a file without the columns that are needed is refused.
fn read(folder: &Path, name: &str) -> Result<Vec<Row>, ExitFailure> {
    let path = file(folder, name);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let refused = |reason: &dyn std::fmt::Display| {
        ExitFailure::new(Exit::Refused, format!("{} is not brought up to date: {reason}", path.display()))
    };
    let mut reader = csv::Reader::from_path(&path).map_err(|error| refused(&error))?;
    let columns = reader.headers().map_err(|error| refused(&error))?.clone();
    let needed = if name == "families" { ["id", "currency"] } else { ["id", "adapterTicker"] };
    if let Some(missing) = needed.iter().find(|column| !columns.iter().any(|known| known == **column)) {
        return Err(refused(&format!("the column {missing} is missing")));
    }
    let row = |record: csv::StringRecord| {
        columns.iter().zip(record.iter()).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    };
    reader.records().map(|record| record.map(row).map_err(|error| refused(&error))).collect()
}

/// Beside the old file first, so that a failure leaves it whole.
fn save(folder: &Path, name: &str, columns: &str, rows: &[Row]) -> Result<(), ExitFailure> {
    let (path, new) = (file(folder, name), folder.join(format!("{name}.csv.new")));
    let failed = |error: &dyn std::fmt::Display| {
        ExitFailure::new(Exit::Failed, format!("cannot write {}: {error}", new.display()))
    };
    let mut writer = csv::Writer::from_path(&new).map_err(|error| failed(&error))?;
    writer.write_record(columns.split(',')).map_err(|error| failed(&error))?;
    for row in rows {
        let cells = columns.split(',').map(|column| row.get(column).map_or("", String::as_str));
        writer.write_record(cells).map_err(|error| failed(&error))?;
    }
    writer.flush().map_err(|error| failed(&error))?;
    fs::rename(&new, &path).map_err(|error| ExitFailure::io("write", &path, &error))
}

#[cfg(test)]
mod tests {
    use domain::report::VenueListing;

    use super::*;
    use crate::config::ReferencePath;
    use crate::reference;

    fn listed(base: &str, tick: &str, status: ListingStatus) -> ListedSymbol {
        let listing = VenueListing {
            tick: Some(tick.parse().unwrap()),
            lot: Some("0.001".parse().unwrap()),
            quantity_min: Some("0.001".parse().unwrap()),
            quantity_max: Some("9000".parse().unwrap()),
            notional_min: Some("5".parse().unwrap()),
            ..VenueListing::new(status)
        };
        ListedSymbol { symbol: format!("{base}USDT").into(), base: base.into(), quote: "USDT".into(), listing }
    }

    #[test]
    fn a_folder_is_reference_data_and_its_ids_stay_when_the_list_changes() {
        use ListingStatus::{Halted, Trading};
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("reference");
        let first =
            [listed("BTC", "0.01", Trading), listed("币安人生", "0.0001", Trading), listed("1000SATSXX", "1", Halted)];
        let told = write(&folder, "LAB", &first).unwrap();
        assert!(told.contains("3 securities") && told.contains("3 of them new"), "{told}");
        let seen = |folder: &Path| -> Vec<(u64, String, String, bool)> {
            let set = reference::read(&ReferencePath::Folder(folder.to_owned())).unwrap();
            let securities = set.data.securities.values();
            securities
                .map(|security| {
                    (security.id.0, security.symbol.to_string(), security.price_incr.to_string(), security.tradeable)
                })
                .collect()
        };
        let row = |id, symbol: &str, tick: &str, tradeable| (id, symbol.to_owned(), tick.to_owned(), tradeable);
        assert_eq!(
            seen(&folder),
            [
                row(1, "BTCUSDT", "0.01", true),
                row(2, "币安人生USDT", "0.0001", true),
                row(3, "1000SATSXXUSDT", "1", false)
            ]
        );
        let second =
            [listed("ETH", "0.01", Trading), listed("BTC", "0.1", Trading), listed("1000SATSXX", "1", Trading)];
        let told = write(&folder, "LAB", &second).unwrap();
        assert!(told.contains("4 securities") && told.contains("1 of them new"), "{told}");
        assert_eq!(
            seen(&folder),
            [
                row(1, "BTCUSDT", "0.1", true),
                row(2, "币安人生USDT", "0.0001", false),
                row(3, "1000SATSXXUSDT", "1", true),
                row(4, "ETHUSDT", "0.01", true)
            ]
        );
    }

    #[test]
    fn a_symbol_whose_asset_is_no_currency_is_named_and_a_file_of_another_form_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let odd = ListedSymbol { base: "a b".into(), ..listed("ODD", "1", ListingStatus::Trading) };
        let told = write(place.path(), "LAB", &[odd]).unwrap();
        assert!(told.contains("left out: ODDUSDT"), "{told}");
        fs::write(place.path().join("securities.csv"), "number\n1\n").unwrap();
        let refused = write(place.path(), "LAB", &[]).unwrap_err().to_string();
        assert!(refused.contains("the column id is missing"), "{refused}");
    }
}
