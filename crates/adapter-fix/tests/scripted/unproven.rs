//! A dialect that was tried against nothing says so at each start.

use crate::captured_log::{catch_log, logged};
use crate::test_adapter::{TestAdapter, VenueAddress};

/// A copy of the generic dialect with that name, as a file.
fn dialect(folder: &tempfile::TempDir, name: &str, proof: &str) -> &'static str {
    let text = adapter_fix::shipped_dialect("generic-44").unwrap();
    let text = text.replace("\"generic-44\"", &format!("\"{name}\"")).replace("\"lab\"", &format!("\"{proof}\""));
    let file = folder.path().join(format!("{name}.toml"));
    std::fs::write(&file, text).unwrap();
    Box::leak(file.display().to_string().into_boxed_str())
}

#[test]
fn a_dialect_that_is_unproven_says_so_at_each_start_and_one_that_was_tried_does_not() {
    catch_log();
    let folder = tempfile::tempdir().unwrap();
    let address = VenueAddress { port: 1, sender: "RIALTO", target: "VENUE" };
    let told = |name: &str| logged("adapter_fix::venue_type", &format!("dialect={name}"));
    let (untried, tried) = (dialect(&folder, "never-tried", "unproven"), dialect(&folder, "tried-once", "program"));
    let line = "the dialect is unproven: it was tried against nothing venue=MAIN dialect=never-tried";
    for start in 1..=2 {
        drop(TestAdapter::open(&folder, untried, &address));
        drop(TestAdapter::open(&folder, tried, &address));
        assert_eq!((told("never-tried"), told("tried-once")), (vec![line.to_owned(); start], vec![]));
    }
}
