//! Whatever stands in a header, a file or a message: no panic, and no secret gets through the masker.

use std::fs;

use adapter_kit::connection::VenueUrl;
use adapter_kit::credentials::CredentialSource;
use adapter_kit::recording::{Masker, RecordedMessage, ReplayTarget, replay};
use adapter_kit::{BudgetFile, HoldSignal, LaneShares, RequestBudget};
use domain::Timestamp;
use proptest::prelude::*;

use crate::budget::{at, rule};
use crate::credentials::write;

struct Ignored;

impl ReplayTarget for Ignored {
    fn on_recorded(&mut self, _: Timestamp, _: &RecordedMessage) {}
}

/// Text with the signs that the formats here are made of.
fn format_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,12}",
        prop::sample::select(vec![
            "\"",
            "\\",
            "{",
            "}",
            ":",
            "&",
            "=",
            "\n",
            "signature=",
            "\"apiKey\":\"",
            "secret = \"",
            "%2",
            "2026-11-16T05:00:00Z",
            "savedAt",
            "[::1]:",
            "https://",
            "@",
            "9999999999999999999",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_secret_gets_through_the_masker(before in format_text(), after in format_text(), secret in "[a-zA-Z0-9+/=\"&% -]{12,40}") {
        // A secret that the mask itself could complete, or one with blanks around it, is none that a venue gives out.
        prop_assume!(secret.trim() == secret);
        let mut masker = Masker::new();
        masker.add_secret(&secret);
        let masked = masker.mask(&format!("{before}{secret}{after}"));
        prop_assert!(!masked.contains(&secret), "{}", masked);
        let json = serde_json::json!({ "text": format!("{before}{secret}{after}") }).to_string();
        let inner = serde_json::to_string(&secret).unwrap();
        prop_assert!(!masker.mask(&json).contains(&inner[1..inner.len() - 1]));
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in format_text()) {
        let _ = text.parse::<VenueUrl>();
        let _ = text.parse::<CredentialSource>();
        let hold = HoldSignal::of_http(429, Some(&text), at(0)).unwrap();
        let mut budget = RequestBudget::new(vec![rule("a", 60, 10, LaneShares::STANDARD)]).unwrap();
        budget.on_hold(at(0), &hold);
        prop_assert!(budget.held_until().is_none_or(|until| until <= at(7 * 24 * 3_600)));
        let _ = Masker::new().mask(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_file_makes_a_reader_panic(text in format_text(), line in any::<u64>(), seconds in any::<i32>()) {
        let folder = tempfile::tempdir().unwrap();
        let path = write(&folder, "file", &text, 0o600);
        let _ = replay(&path, &mut Ignored);
        let _ = CredentialSource::File(path.clone()).load(&|_| None);
        prop_assert!(BudgetFile::new(&path).load().is_err());
        // Times and weights at the edge of what a file can say.
        let time = at(0).plus_seconds(i64::from(seconds) * 4);
        let record = format!(
            "{{\"savedAt\":\"{time}\",\"holds\":[{{\"kind\":\"ban\",\"scope\":\"all\",\"until\":\"{time}\"}}],\
             \"limits\":[{{\"name\":\"a\",\"used\":[[\"{time}\",{line}],[\"{time}\",{line}]],\"unanswered\":{line}}}]}}"
        );
        fs::write(&path, record).unwrap();
        let mut budget = RequestBudget::new(vec![rule("a", 60, 10, LaneShares::STANDARD)]).unwrap();
        if let Some(record) = BudgetFile::new(&path).load().unwrap() {
            let _ = budget.restore(at(0), &record);
            let _ = budget.request(at(1), adapter_kit::RequestLane::Cancel, adapter_kit::RequestCost::of(&[1]));
            let _ = budget.usage(at(1_000_000));
        }
    }
}
