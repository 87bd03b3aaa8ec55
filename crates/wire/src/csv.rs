//! Lists as comma-separated values (RFC 4180), for spreadsheets. The columns are the keys of all items, in the order of
//! their first appearance; a missing value is empty, a nested one stays JSON.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::json::PIECE_BYTES;

pub const MEDIA_TYPE: &str = "text/csv; charset=utf-8; header=present";

/// The column of a list whose items are not objects.
pub const ONLY_COLUMN: &str = "value";
const LINE_END: &[u8] = b"\r\n";

/// A list in chunks: `write` appends one item as JSON. Every item is encoded twice, because the first line has all
/// columns. An empty list has the columns of `empty`.
pub fn table<I, W: Fn(&I, &mut Vec<u8>)>(
    items: Vec<I>,
    empty: &[&str],
    write: W,
) -> impl Iterator<Item = Vec<u8>> + use<I, W> {
    let columns = match items.is_empty() {
        true => empty.iter().map(ToString::to_string).collect(),
        false => columns(&items, &write),
    };
    let mut head = Some(line(columns.iter().map(|column| Value::String(column.clone()))));
    let mut items = items.into_iter();
    std::iter::from_fn(move || {
        let mut piece = head.take().unwrap_or_default();
        while piece.len() < PIECE_BYTES {
            let Some(item) = items.next() else { break };
            let mut row = cells(&item, &write);
            piece.extend(line(columns.iter().map(|column| row.remove(column))));
        }
        (!piece.is_empty()).then_some(piece)
    })
}

fn columns<I>(items: &[I], write: &impl Fn(&I, &mut Vec<u8>)) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for item in items {
        for (key, _) in cells(item, write).0 {
            if !columns.contains(&key) {
                columns.push(key);
            }
        }
    }
    columns
}

fn cells<I>(item: &I, write: &impl Fn(&I, &mut Vec<u8>)) -> Row {
    let mut text = Vec::new();
    write(item, &mut text);
    serde_json::from_slice(&text)
        .unwrap_or_else(|_| Row(vec![(ONLY_COLUMN.into(), serde_json::from_slice(&text).unwrap_or_default())]))
}

/// The keys of an object in their order.
struct Row(Vec<(String, Value)>);

impl Row {
    fn remove(&mut self, column: &str) -> Value {
        let cell = self.0.iter_mut().find(|(key, _)| key == column);
        cell.map(|(_, value)| value.take()).unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RowVisitor)
    }
}

struct RowVisitor;

impl<'de> Visitor<'de> for RowVisitor {
    type Value = Row;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Row, M::Error> {
        let mut cells = Vec::new();
        while let Some(cell) = map.next_entry()? {
            cells.push(cell);
        }
        Ok(Row(cells))
    }
}

fn line(cells: impl Iterator<Item = Value>) -> Vec<u8> {
    let mut line = Vec::new();
    for (place, cell) in cells.enumerate() {
        if place > 0 {
            line.push(b',');
        }
        write_cell(&cell, &mut line);
    }
    line.extend_from_slice(LINE_END);
    line
}

fn write_cell(cell: &Value, line: &mut Vec<u8>) {
    let text = match cell {
        Value::Null => return,
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if text.contains([',', '"', '\r', '\n']) {
        line.extend_from_slice(format!("\"{}\"", text.replace('"', "\"\"")).as_bytes());
    } else {
        line.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(items: &[&str]) -> String {
        let pieces = table(items.to_vec(), &["id", "name"], |item, text| text.extend_from_slice(item.as_bytes()));
        String::from_utf8(pieces.flatten().collect()).unwrap()
    }

    #[test]
    fn columns_are_the_keys_of_all_items() {
        let items = [r#"{"id": 1, "b": 1.10, "a": null}"#, r#"{"id": 2, "strike": 280.00, "open": true}"#];
        assert_eq!(joined(&items), "id,b,a,strike,open\r\n1,1.10,,,\r\n2,,,280.00,true\r\n");
    }

    #[test]
    fn what_would_break_a_line_is_quoted_and_what_is_nested_stays_json() {
        let items = [r#"{"text": "say \"hi\", twice\nor more", "days": [1, {"x": 2}]}"#];
        assert_eq!(joined(&items), "text,days\r\n\"say \"\"hi\"\", twice\nor more\",\"[1,{\"\"x\"\":2}]\"\r\n");
    }

    #[test]
    fn a_list_of_texts_has_one_column_and_an_empty_list_its_columns() {
        assert_eq!(joined(&[r#""ALPHA""#, r#""BETA""#]), "value\r\nALPHA\r\nBETA\r\n");
        assert_eq!(joined(&[]), "id,name\r\n");
    }

    #[test]
    fn a_long_table_comes_in_pieces_that_join_to_the_whole() {
        let items: Vec<u32> = (0..20_000).collect();
        let write = |item: &u32, text: &mut Vec<u8>| text.extend_from_slice(format!(r#"{{"id":{item}}}"#).as_bytes());
        let pieces: Vec<_> = table(items, &[], write).collect();
        assert!(pieces.len() > 1);
        let text = String::from_utf8(pieces.concat()).unwrap();
        assert_eq!((text.lines().count(), text.lines().last()), (20_001, Some("19999")));
    }
}
