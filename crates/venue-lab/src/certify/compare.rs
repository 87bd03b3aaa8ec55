//! Comparison of a client's books with the ledger.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::exchange::Units;

/// A kind of entry: what it is called in the books, the fields that name one, and the fields that are compared.
struct Kind {
    name: &'static str,
    key: &'static [&'static str],
    fields: &'static [&'static str],
}

const KINDS: [Kind; 3] = [
    Kind {
        name: "orders",
        key: &["symbol", "orderId", "clientOrderId"],
        fields: &["side", "type", "timeInForce", "price", "quantity", "filled", "status"],
    },
    Kind {
        name: "trades",
        key: &["symbol", "tradeId", "orderId", "maker"],
        fields: &["price", "quantity", "commission", "commissionAsset"],
    },
    Kind { name: "balances", key: &["asset"], fields: &["free", "locked"] },
];

/// Entries by their key; an entry that is there twice is there twice.
type Entries = BTreeMap<String, Vec<BTreeMap<&'static str, String>>>;

/// The first difference; none where the books equal the ledger.
pub(super) fn first_difference(books: &Path, ledger: &Value, account: &str) -> Option<String> {
    let text = match fs::read(books) {
        Ok(text) => text,
        Err(error) => return Some(format!("the client's books can't be read: {error}")),
    };
    let books: Value = match serde_json::from_slice(&text) {
        Ok(books) => books,
        Err(error) => return Some(format!("the client's books are no JSON: {error}")),
    };
    KINDS.iter().find_map(|kind| {
        let Some(client) = books.get(kind.name).and_then(Value::as_array) else {
            return Some(format!("the client's books have no list {}", kind.name));
        };
        let of_account = |entry: &&Value| entry["account"] == account;
        let kept = ledger[kind.name].as_array().into_iter().flatten().filter(of_account);
        difference_of(kind, &entries(kind, kept), &entries(kind, client.iter()))
    })
}

fn difference_of(kind: &Kind, ledger: &Entries, client: &Entries) -> Option<String> {
    let singular = kind.name.trim_end_matches('s');
    for (key, kept) in ledger {
        match client.get(key) {
            None => return Some(format!("{singular} {key} is not in the client's books")),
            Some(has) if has.len() != kept.len() => {
                return Some(format!(
                    "{singular} {key} is in the client's books {} times, in the ledger {}",
                    has.len(),
                    kept.len()
                ));
            }
            Some(has) => {
                let differs = kept.iter().zip(has).find_map(|(kept, has)| {
                    kept.iter().find(|(field, value)| has.get(*field) != Some(value)).map(|(field, value)| {
                        let has = has.get(field).map_or("nothing", String::as_str);
                        format!("{singular} {key}: {field} is {has} in the client's books, {value} in the ledger")
                    })
                });
                if differs.is_some() {
                    return differs;
                }
            }
        }
    }
    client.keys().find(|key| !ledger.contains_key(*key)).map(|key| format!("{singular} {key} is not in the ledger"))
}

/// Orders that were rejected and balances of nothing may be left out.
fn entries<'a>(kind: &Kind, list: impl Iterator<Item = &'a Value>) -> Entries {
    let mut entries = Entries::new();
    for entry in list {
        let field = |name: &'static str| (name, normal(&entry[name]));
        let values: BTreeMap<_, _> = kind.fields.iter().map(|name| field(name)).collect();
        let is_nothing = kind.name == "balances" && values.values().all(|amount| normal_is_zero(amount));
        if is_nothing || entry["status"] == "REJECTED" {
            continue;
        }
        let key: Vec<String> = kind.key.iter().map(|name| text_of(&entry[*name])).collect();
        entries.entry(key.join(" ")).or_default().push(values);
    }
    entries.values_mut().for_each(|same| same.sort());
    entries
}

/// A field of an entry as a text.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Amounts are equal whatever digits they are written with.
fn normal(value: &Value) -> String {
    let text = text_of(value);
    Units::parse(&text).map_or(text, |amount| amount.to_string())
}

fn normal_is_zero(text: &str) -> bool {
    Units::parse(text).is_ok_and(Units::is_zero)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn order(id: &str, status: &str) -> Value {
        json!({
            "account": "ALPHA", "symbol": "BTCUSDT", "orderId": id, "clientOrderId": "a", "side": "BUY", "type": "LIMIT",
            "timeInForce": "GTC", "price": "59000.00000000", "quantity": "0.01000000", "filled": "0.00000000",
            "status": status,
        })
    }

    fn difference(client: &Value, ledger: &Value) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("books.json");
        fs::write(&path, client.to_string()).unwrap();
        first_difference(&path, ledger, "ALPHA")
    }

    #[test]
    fn equal_books_may_be_written_with_other_digits_and_without_what_was_rejected() {
        let ledger = json!({ "orders": [order("1", "NEW")], "trades": [], "balances": [
            { "account": "ALPHA", "asset": "BTC", "free": "10.00000000", "locked": "0.00000000" },
            { "account": "ALPHA", "asset": "ETH", "free": "0.00000000", "locked": "0.00000000" },
            { "account": "BETA", "asset": "BTC", "free": "3.00000000", "locked": "0.00000000" }] });
        let mut mine = order("1", "NEW");
        (mine["price"], mine["orderId"]) = ("59000".into(), 1.into());
        let client = json!({ "orders": [mine, order("2", "REJECTED")], "trades": [],
            "balances": [{ "asset": "BTC", "free": "10", "locked": 0 }] });
        assert_eq!(difference(&client, &ledger), None);
    }

    #[test]
    fn the_first_difference_is_named() {
        let books = |orders: &[&Value]| json!({ "orders": orders, "trades": [], "balances": [] });
        let told = |client: &[&Value], ledger: &[&Value]| difference(&books(client), &books(ledger)).unwrap();
        let [new, filled] = ["NEW", "FILLED"].map(|status| order("1", status));
        assert_eq!(
            told(&[&new], &[&filled]),
            "order BTCUSDT 1 a: status is NEW in the client's books, FILLED in the ledger"
        );
        assert_eq!(told(&[], &[&new]), "order BTCUSDT 1 a is not in the client's books");
        assert_eq!(told(&[&new], &[]), "order BTCUSDT 1 a is not in the ledger");
        assert_eq!(told(&[&new, &new], &[&new]), "order BTCUSDT 1 a is in the client's books 2 times, in the ledger 1");
        assert_eq!(difference(&json!({}), &books(&[])).unwrap(), "the client's books have no list orders");
    }
}
