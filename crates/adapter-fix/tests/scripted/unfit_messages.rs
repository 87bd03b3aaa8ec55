//! Messages that the dictionary of their version does not allow, though the dialect wants them: none of them leaves.

use tempfile::TempDir;

use crate::scripted_venue::ScriptedVenue;
use crate::test_adapter::TestAdapter;

/// The generic dialect with this at its end, as a file.
fn dialect(folder: &TempDir, more: &str) -> &'static str {
    let file = folder.path().join("unfit.toml");
    std::fs::write(&file, format!("{}\n{more}", adapter_fix::shipped_dialect("generic-44").unwrap())).unwrap();
    Box::leak(file.display().to_string().into_boxed_str())
}

#[test]
fn a_dialect_whose_logon_breaks_the_dictionary_is_refused_at_the_start() {
    let (venue, folder) = (ScriptedVenue::start(), tempfile::tempdir().unwrap());
    let refusal = |more: &str| {
        let told = TestAdapter::refusal(&folder, dialect(&folder, more), &venue.address(), &[]);
        told.replace(&folder.path().display().to_string(), "")
    };
    let broken = "venues.MAIN.dialect: /unfit.toml: venue-message: message A breaks the dictionary";
    let large = "[[logon.fields]]\ntag = 383\nvalue = 'large'\nsessions = ['dropCopy']\n";
    assert_eq!(refusal(large), format!("{broken}: Incorrect data format for value (tag 383)"));
    let twice = "[logon]\ncredentials = 'password'\n[[logon.fields]]\ntag = 553\nvalue = 'me'\n";
    assert_eq!(refusal(twice), format!("{broken}: Tag appears more than once (tag 553)"));
    // Fields that only the venue knows are its own matter.
    assert_eq!(refusal("[[logon.fields]]\ntag = 9007\nvalue = 'Y'\n"), "");
}

#[test]
fn a_dialect_whose_question_for_symbols_breaks_the_dictionary_is_refused_at_the_start() {
    let (venue, folder) = (ScriptedVenue::start(), tempfile::tempdir().unwrap());
    let more = "[securityList]\n[[fields]]\nmessages = ['x']\ntag = 460\nvalue = 'stocks'\n";
    let told = TestAdapter::refusal(&folder, dialect(&folder, more), &venue.address(), &[]);
    let refused = "fields[2].value: FIX.4.4 does not allow x: Incorrect data format for value (tag 460)";
    assert!(told.ends_with(refused), "{told}");
}
