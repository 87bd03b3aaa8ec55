//! `rialto venues check` against the lab: every line that it prints, and the transcript that it leaves.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use adapter_binance::transcript::TranscriptReader;
use adapter_kit::recording::replay;
use expect_test::expect;

use crate::lab::{Lab, run_value};

/// Output, errors and exit code of the check.
struct Checked {
    output: String,
    errors: String,
    code: Option<i32>,
}

fn check(lab: &Lab, folder: &Path, further: &[&str]) -> Checked {
    command(lab, folder, "check", further)
}

/// `rialto venues COMMAND LAB …`
fn command(lab: &Lab, folder: &Path, command: &str, further: &[&str]) -> Checked {
    let file = |name: &str| folder.join(name).display().to_string();
    fs::write(folder.join("roots.pem"), rcgen::generate_simple_self_signed(Vec::new()).unwrap().cert.pem()).unwrap();
    let settings = [
        ("reference.path", file("reference")),
        ("simulated.venues", String::new()),
        ("venues.LAB.type", "binance-spot".to_owned()),
        ("venues.LAB.environment", "testnet".to_owned()),
        ("venues.LAB.credentials", file("key.toml")),
        ("venues.LAB.trustedCertificates", file("roots.pem")),
        ("venues.LAB.rest", lab.face("binanceRest")),
        ("venues.LAB.wsApi", lab.face("binanceWsApi")),
        ("venues.LAB.streams", lab.face("binanceStreams")),
    ];
    let mut program = Command::new(scenarios::binary::rialto());
    program.args(["venues", command, "LAB", "--data-dir", &file("data")]).args(further);
    for (key, value) in settings {
        program.args(["--set", &format!("{key}={value}")]);
    }
    let ended = program.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    Checked { output: text(&ended.stdout), errors: text(&ended.stderr), code: ended.status.code() }
}

/// One exchange that never closes, with one symbol of the lab.
fn write_reference(folder: &Path) {
    fs::create_dir(folder).unwrap();
    let files = [
        (
            "exchanges",
            "id,name,code,mic,bloombergCode,timeZone,openingAuction,closingAuction\n1,Lab,LAB,XLAB,LB,UTC,0,0\n",
        ),
        ("trading-hours", "exchangeId,open,close,days\n1,00:00,24:00,MON TUE WED THU FRI SAT SUN\n"),
        ("holidays", "exchangeId,date,open,close\n"),
        (
            "families",
            "id,name,symbolRoot,isinRoot,ricRoot,currency,contractSize,priceIncr,underlyingId,exchangeId,executionCommission,\
             clearingCommission,fee\n1,Coins in USDT,,,,USDT,1,0.01,,1,0,0,0\n",
        ),
        (
            "securities",
            "id,objectType,symbol,description,isin,bbgid,ric,conid,adapterTicker,underlyingId,securityFamilyId,exchangeId,currency,\
             contractSize,minQty,maxQty,qtyIncr,minPrice,maxPrice,priceIncr,minNotional,tradeable,baseCurrency,transactionCurrency,\
             expiration,monthYear,firstNotice,strike,optionType,maturity,coupon,couponFrequency\n\
             1,Forex,BTC.USDT,,,,,,BTCUSDT,,1,1,USDT,1,,,0.00001,,,0.01,,true,BTC,USDT,,,,,,,,\n",
        ),
        (
            "accounts",
            "id,name,active,adapterType,sessionQualifier,extAccount,extAccountGroup,extAllocationProfile,extClearingAccount\n",
        ),
        ("strategies", "id,name,autoActivate\n"),
        ("opening", "symbol,mid,spreadTicks,size,volatility\n"),
    ];
    for (name, text) in files {
        fs::write(folder.join(format!("{name}.csv")), text).unwrap();
    }
}

/// What differs from run to run: the client id, the number of messages, the name of the file.
fn steady(line: &str) -> String {
    if let Some((head, _)) = line.split_once("client id R") {
        return format!("{head}client id R…");
    }
    match line.strip_prefix("transcript: ok: ").and_then(|rest| rest.split_once(" messages, ")) {
        Some((_, rest)) => {
            let (understood, path) = rest.split_once(", in ").unwrap();
            assert!(path.ends_with(".messages.jsonl"), "{path}");
            format!("transcript: ok: N messages, {understood}, in FILE")
        }
        None => line.to_owned(),
    }
}

fn transcript(folder: &Path) -> PathBuf {
    let files = fs::read_dir(folder.join("data/venues")).unwrap().map(|entry| entry.unwrap().path());
    files.into_iter().find(|path| path.to_string_lossy().ends_with(".messages.jsonl")).unwrap()
}

#[test]
fn a_check_of_the_lab_passes_and_leaves_a_transcript_without_secrets_that_the_adapter_reads_again() {
    for kind in ["ED25519", "HMAC"] {
        let (lab, folder) = (Lab::start(), tempfile::tempdir().unwrap());
        write_reference(&folder.path().join("reference"));
        lab.write_credentials(&folder.path().join("key.toml"), "ALPHA", kind);
        let checked = check(&lab, folder.path(), &[]);
        let output: String = checked.output.lines().map(|line| steady(line) + "\n").collect();
        expect![[r#"
            log-on: ok: 0 orders and 0 fills of this check, the venue does not list everything
            balances: ok: 5 assets
            prices: ok: bid 59999.99, ask 60000.01
            far order: ok: buy 0.00014 BTCUSDT at 35999.99, client id R…
            inquiry: ok: open, with the terms that were sent
            open orders: ok: open, with the terms that were sent
            reconnect: ok: open, with the terms that were sent
            cancel: ok: cancelled
            end of the order: ok: the venue has it as cancelled, without fills
            fills: ok: none of the order among 0
            balances again: ok: as before the order
            transcript: ok: N messages, read again and understood, in FILE
        "#]]
        .assert_eq(&output);
        assert_eq!(checked.code, Some(0), "{}", checked.errors);
        let ledger = run_value(lab.ledger());
        let orders: Vec<_> = ledger["orders"].as_array().unwrap().iter().map(|order| &order["status"]).collect();
        assert_eq!(orders, ["CANCELED"]);
        expect_clean_transcript(&transcript(folder.path()), &lab, kind);
    }
}

fn expect_clean_transcript(path: &Path, lab: &Lab, kind: &str) {
    let text = fs::read_to_string(path).unwrap();
    for secret in lab.secrets("ALPHA", kind) {
        assert!(!text.contains(&secret), "the transcript has {secret}");
    }
    let mut reader = TranscriptReader::default();
    replay(path, &mut reader).unwrap();
    assert_eq!((reader.summary.messages, reader.summary.not_understood), (text.lines().count(), Vec::new()));
    let counted = |names: &[&'static str]| names.iter().map(|name| (*name, reader.answered[name])).collect();
    // Both log-ons list the open orders, and so do two steps of the check.
    let expected = BTreeMap::from([("order.place", 1), ("order.cancel", 1), ("openOrders.status", 4)]);
    assert_eq!(BTreeMap::from_iter::<Vec<_>>(counted(&["order.place", "order.cancel", "openOrders.status"])), expected);
}

#[test]
fn a_key_that_the_venue_does_not_know_fails_at_the_log_on() {
    let (lab, folder) = (Lab::start(), tempfile::tempdir().unwrap());
    write_reference(&folder.path().join("reference"));
    let unknown = "apiKey = \"nobody-knows-this-key\"\nsecret = \"nor-this-secret\"\n";
    crate::harness::write_private(&folder.path().join("key.toml"), unknown);
    let checked = check(&lab, folder.path(), &[]);
    let lines: Vec<_> = checked.output.lines().map(steady).collect();
    assert!(lines[0].starts_with("log-on: failed: the venue refused the session: "), "{lines:?}");
    assert!(lines[1].starts_with("transcript: ok: "), "{lines:?}");
    assert_eq!((lines.len(), checked.code), (2, Some(1)), "{}", checked.errors);
    assert!(checked.errors.ends_with("rialto: one step failed\n"), "{}", checked.errors);
}

#[test]
fn a_cut_answer_leaves_no_order_behind() {
    let (lab, folder) = (Lab::start(), tempfile::tempdir().unwrap());
    write_reference(&folder.path().join("reference"));
    lab.write_credentials(&folder.path().join("key.toml"), "ALPHA", "ED25519");
    run_value(lab.arm("cut-answer"));
    let checked = check(&lab, folder.path(), &["--security", "BTCUSDT"]);
    let cancelled = checked.output.lines().any(|line| line.starts_with("cancel: ok"));
    let ledger = run_value(lab.ledger());
    let open = ledger["orders"].as_array().unwrap().iter().filter(|order| order["status"] == "NEW").count();
    assert_eq!(open, 0, "{}{}", checked.output, checked.errors);
    assert!(cancelled || checked.output.contains("log-on: failed"), "{}{}", checked.output, checked.errors);
}

#[test]
fn what_the_lab_lists_is_shown_without_a_key_and_written_as_reference_data_that_the_check_uses() {
    let (lab, folder) = (Lab::start(), tempfile::tempdir().unwrap());
    let shown = command(&lab, folder.path(), "symbols", &[]);
    assert_eq!(shown.code, Some(0), "{}", shown.errors);
    let line = |symbol: &str| shown.output.lines().find(|line| line.starts_with(symbol)).unwrap().to_owned();
    assert!(line("BTCUSDT").contains("trading  BTC"), "{}", shown.output);
    assert!(line("币安人生USDT").contains("币安人生"), "{}", shown.output);

    let reference = folder.path().join("reference").display().to_string();
    let written = command(&lab, folder.path(), "symbols", &["--quote", "USDT", "--write", &reference]);
    assert_eq!(written.code, Some(0), "{}", written.errors);
    let again = command(&lab, folder.path(), "symbols", &["--quote", "USDT", "--write", &reference]);
    assert!(again.output.contains(", 0 of them new"), "{}", again.output);
    assert!(!folder.path().join("data").exists(), "nothing is left in the data folder");
    lab.write_credentials(&folder.path().join("key.toml"), "ALPHA", "ED25519");
    let checked = check(&lab, folder.path(), &["--security", "BTCUSDT"]);
    assert_eq!(checked.code, Some(0), "{} {}", checked.output, checked.errors);
}
