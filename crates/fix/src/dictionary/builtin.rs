//! Built-in dictionaries of FIX 4.4, 4.2 and 5.0SP2: QuickFIX's, as packed by hotfix-dictionary.

use super::spec::{DictionarySpec, FieldSpec, Item, MessageSpec};
use crate::dictionary::spec::FieldType;
use crate::tag::Tag;
use hotfix_dictionary::{Dictionary, LayoutItem, LayoutItemKind, TagU32};
use std::collections::BTreeSet;

/// Our own fields, and the messages that have them.
const OWN_FIELDS: [(Tag, &str, &str); 7] = [
    (7001, "STRING", "D"),
    (7002, "STRING", "D"),
    (7003, "BOOLEAN", "D"),
    (7004, "BOOLEAN", "AF"),
    (7005, "BOOLEAN", "AD"),
    (7006, "BOOLEAN", "x"),
    (7007, "INT", "AD"),
];
/// Fields of the standard on messages where it does not have them: LastLiquidityInd on a Trade Capture Report.
const MOVED_FIELDS: [(Tag, &str); 1] = [(851, "AE")];

/// Fields of later versions in the rows of a Security List (y): MinPriceIncrement and MaxTradeVol.
const LIST_FIELDS: [(Tag, &str); 2] = [(969, "PRICE"), (1140, "QTY")];
const NO_RELATED_SYM: Tag = 146;

pub(super) fn fix44() -> DictionarySpec {
    unpack(&Dictionary::fix44())
}

pub(super) fn fix42() -> DictionarySpec {
    unpack(&Dictionary::fix42())
}

/// Header, trailer and session messages of FIXT 1.1, everything else of FIX 5.0SP2. A field of both is that of 5.0SP2, which has more values.
pub(super) fn fix50sp2() -> DictionarySpec {
    let (session, mut spec) = (unpack(&Dictionary::fixt11()), unpack(&Dictionary::fix50sp2()));
    let known: BTreeSet<Tag> = spec.fields.iter().map(|field| field.tag).collect();
    spec.fields.extend(session.fields.into_iter().filter(|field| !known.contains(&field.tag)));
    spec.messages.extend(session.messages);
    DictionarySpec { header: session.header, trailer: session.trailer, ..spec }
}

fn unpack(packed: &Dictionary) -> DictionarySpec {
    let component = |name: &str| packed.component_by_name(name).map(|c| items(c.items())).unwrap_or_default();
    DictionarySpec {
        version: packed.version().to_owned(),
        fields: packed.fields().into_iter().map(|field| field_spec(&field)).collect(),
        header: component("StandardHeader"),
        trailer: component("StandardTrailer"),
        messages: packed
            .messages()
            .iter()
            .map(|message| MessageSpec { msg_type: message.msg_type().to_owned(), items: items(message.layout()) })
            .collect(),
    }
}

/// The same with our own fields.
pub(super) fn fix44_with_extensions() -> DictionarySpec {
    let mut spec = fix44();
    let field = |(tag, kind, _)| FieldSpec { tag, kind: FieldType::from_name(kind), values: Vec::new() };
    spec.fields.extend(OWN_FIELDS.map(field));
    spec.fields.extend(LIST_FIELDS.map(|(tag, kind)| field((tag, kind, "y"))));
    let list = spec.messages.iter_mut().find(|message| message.msg_type == "y").expect("FIX 4.4 has this message");
    for rows in list.items.iter_mut().filter(|item| item.tag == NO_RELATED_SYM).filter_map(|item| item.members.as_mut())
    {
        rows.extend(LIST_FIELDS.map(|(tag, _)| Item { tag, required: false, members: None }));
    }
    for (tag, on) in OWN_FIELDS.map(|(tag, _, on)| (tag, on)).into_iter().chain(MOVED_FIELDS) {
        let message = spec.messages.iter_mut().find(|message| message.msg_type == on);
        message.expect("FIX 4.4 has this message").items.push(Item { tag, required: false, members: None });
    }
    spec
}

fn field_spec(field: &hotfix_dictionary::Field<'_>) -> FieldSpec {
    FieldSpec {
        tag: number(field.tag()),
        kind: FieldType::from_name(field.fix_datatype().to_quickfix_name()),
        values: field.enums().map(|values| values.map(|value| value.value().to_owned()).collect()).unwrap_or_default(),
    }
}

/// The items of a component replace the component; they are required only where it is.
fn items<'a>(layout: impl Iterator<Item = LayoutItem<'a>>) -> Vec<Item> {
    let mut flat = Vec::new();
    for item in layout {
        let required = item.required();
        match item.kind() {
            LayoutItemKind::Field(field) => flat.push(Item { tag: number(field.tag()), required, members: None }),
            LayoutItemKind::Group(count, members) => {
                let members = Some(items(members.into_iter()));
                flat.push(Item { tag: number(count.tag()), required, members });
            }
            LayoutItemKind::Component(component) => {
                flat.extend(
                    items(component.items()).into_iter().map(|i| Item { required: i.required && required, ..i }),
                );
            }
        }
    }
    flat
}

fn number(tag: TagU32) -> Tag {
    Tag::try_from(tag.get()).expect("the tags of the standard have at most five digits")
}
