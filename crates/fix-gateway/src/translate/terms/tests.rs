//! The table as in `docs/fix.md`, and whether it is complete.

use std::collections::BTreeMap;
use std::path::Path;

use fix::Dictionary;
use fix::tag::Tag;

use super::table::{AppliesTo, TABLE, Term, Treatment};

const BEGIN: &str = "<!-- terms: printed from the table in crates/fix-gateway, UPDATE_EXPECT=1 writes it -->\n";
const END: &str = "<!-- end of terms -->\n";

fn row(term: &Term) -> String {
    let fields: Vec<_> = term.fields.iter().map(|(tag, name)| format!("{tag} {name}")).collect();
    let on = match term.messages {
        AppliesTo::Both => "D, G",
        AppliesTo::NewOrder => "D",
        AppliesTo::Replace => "G",
    };
    let becomes = match term.treatment {
        Treatment::Honoured => "honoured".to_owned(),
        Treatment::Compared => "compared".to_owned(),
        Treatment::Ignored => "ignored".to_owned(),
        Treatment::Refused { passing: [] } => "**refused**".to_owned(),
        Treatment::Refused { passing: [one, ..] } if term.is_count_or_quantity() => {
            format!("**refused**; {one} passes")
        }
        Treatment::Refused { passing } => format!("**refused**; {} passes", passing.join(", ")),
    };
    format!("| {} | {on} | {becomes} | {} |\n", fields.join(", "), term.why)
}

impl Term {
    /// Zero is written in several ways.
    fn is_count_or_quantity(&self) -> bool {
        matches!(self.treatment, Treatment::Refused { passing: ["0", "0.0", ..] })
    }
}

fn printed() -> String {
    let head = "| Fields | On | What becomes of it | Why |\n|---|---|---|---|\n";
    head.to_owned() + &TABLE.iter().map(row).collect::<String>()
}

#[test]
fn the_page_prints_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fix.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("docs/fix.md has no terms");
    let (written, after) = rest.split_once(END).expect("the terms of docs/fix.md have no end");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{}{END}{after}", printed())).unwrap();
        return;
    }
    assert_eq!(written, printed());
}

#[test]
fn names_are_those_of_fix() {
    let dictionary = include_str!("../../../../../docs/fix/FIX44.xml");
    // Fields of older versions are not in it.
    let is_known = |tag: Tag| dictionary.contains(&format!("<field number='{tag}' "));
    for (tag, name) in TABLE.iter().flat_map(|term| term.fields).filter(|(tag, _)| is_known(*tag)) {
        assert!(dictionary.contains(&format!("<field number='{tag}' name='{name}' ")), "{tag} {name}");
    }
}

#[test]
fn every_field_of_d_and_g_stands_in_the_table_once() {
    let dictionary = Dictionary::fix44_with_extensions();
    let mut tabled = BTreeMap::new();
    for (tag, messages) in TABLE.iter().flat_map(|term| term.fields.iter().map(|(tag, _)| (*tag, term.messages))) {
        assert_eq!(tabled.insert(tag, messages), None, "{tag} stands there twice");
    }
    let absent = |msg_type: &'static [u8]| {
        let known = |tag: &Tag| tabled.get(tag).is_some_and(|messages| messages.includes(msg_type));
        dictionary.fields_of(msg_type).into_iter().filter(move |tag| !known(tag)).collect::<Vec<_>>()
    };
    assert_eq!((absent(b"D"), absent(b"G")), (vec![], vec![]));
}
