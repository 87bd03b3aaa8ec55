//! What a dialect says of the securities of its venue: the list of them, and their trading status.

use domain::report::ListingStatus;
use fix::tag::Tag;

use super::added_fields::{ExtraField, texts_on};
use super::model::{FixVersion, SecurityListRules, SecurityStatusRules};
use super::section::{Problems, Section, TAG_MAX, table};

/// SecurityTradingStatus (326) of the standard, where it says whether orders are taken.
const STANDARD: &[(&str, ListingStatus)] = &[
    ("2", ListingStatus::Halted),
    ("3", ListingStatus::Trading),
    ("17", ListingStatus::Trading),
    ("18", ListingStatus::Halted),
    ("19", ListingStatus::Unlisted),
    ("20", ListingStatus::Halted),
    ("21", ListingStatus::Halted),
];

pub(super) fn security_list(
    section: &Section<'_>,
    (version, added): (FixVersion, &[ExtraField]),
    problems: &mut Problems<'_>,
) -> Option<SecurityListRules> {
    section.check_keys(&["tickTag", "lotTag", "minQuantityTag", "maxQuantityTag", "updates"], problems);
    let updates = section.flag("updates", false, problems);
    let mut tag = |key, usual: Tag| section.whole(key, 1..=TAG_MAX, problems).unwrap_or(usual);
    let rules = SecurityListRules {
        tick_tag: tag("tickTag", 969),
        lot_tag: tag("lotTag", 561),
        min_quantity_tag: tag("minQuantityTag", 562),
        max_quantity_tag: tag("maxQuantityTag", 1140),
        updates,
        fields: texts_on("x", added),
    };
    if section.is_present() && version == FixVersion::Fix42 {
        return section.refuse("tickTag", "FIX.4.2 has no Security List Request", problems);
    }
    section.is_present().then_some(rules)
}

/// It is asked for over the session that brings prices.
pub(super) fn security_status(
    root: &Section<'_>,
    added: &[ExtraField],
    problems: &mut Problems<'_>,
) -> Option<SecurityStatusRules> {
    let section = root.section("securityStatus", problems);
    section.check_keys(&["codes"], problems);
    let words =
        [("trading", ListingStatus::Trading), ("halted", ListingStatus::Halted), ("unlisted", ListingStatus::Unlisted)];
    let codes = table(&section, "codes", &words, STANDARD, problems);
    if section.is_present() && !root.section("marketData", problems).is_present() {
        return root.refuse("securityStatus", "is asked for with the prices: marketData is missing", problems);
    }
    section.is_present().then(|| SecurityStatusRules { codes, fields: texts_on("e", added) })
}
