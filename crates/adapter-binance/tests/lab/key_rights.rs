//! A key that may withdraw is refused before a session is opened with it. The venue here is a small HTTP server: the lab, as
//! the testnet, does not tell what a key may do.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use adapters::OrderSession;

use crate::harness::{adapter_at, write_private};
use crate::lab::now;

const WITHDRAWS: &str =
    r#"{"ipRestrict":true,"enableReading":true,"enableWithdrawals":true,"enableSpotAndMarginTrading":true}"#;
const TRADES: &str =
    r#"{"ipRestrict":true,"enableReading":true,"enableWithdrawals":false,"enableSpotAndMarginTrading":true}"#;
const READS: &str =
    r#"{"ipRestrict":true,"enableReading":true,"enableWithdrawals":false,"enableSpotAndMarginTrading":false}"#;
const SYMBOLS: &str =
    r#"{"serverTime":1,"symbols":[{"symbol":"BTCUSDT","status":"TRADING","baseAsset":"BTC","quoteAsset":"USDT"}]}"#;

/// What the log-on asked for, without its parameters.
type AskedPaths = Arc<Mutex<Vec<String>>>;

/// Tells the time, the symbols, and what the key may do; has no WebSocket API.
fn serve(rights: Option<&'static str>) -> (SocketAddr, AskedPaths) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, asked) = (listener.local_addr().unwrap(), AskedPaths::default());
    let heard = asked.clone();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let heard = heard.clone();
            thread::spawn(move || answer_all(stream, rights, &heard));
        }
    });
    (address, asked)
}

fn answer_all(stream: TcpStream, rights: Option<&str>, asked: &AskedPaths) {
    let mut out = stream.try_clone().unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    while let Some(first) = lines.next() {
        let path = first.split([' ', '?']).nth(1).unwrap_or_default().to_owned();
        lines.by_ref().take_while(|line| !line.is_empty()).for_each(drop);
        let body = match path.as_str() {
            "/api/v3/time" => Some(format!("{{\"serverTime\":{}}}", now().millis())),
            "/api/v3/exchangeInfo" => Some(SYMBOLS.to_owned()),
            "/sapi/v1/account/apiRestrictions" => rights.map(ToOwned::to_owned),
            _ => None,
        };
        asked.lock().unwrap().push(path);
        let (status, body) = body.map_or(("404 Not Found", String::new()), |body| ("200 OK", body));
        if write!(out, "HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).is_err() {
            return;
        }
    }
}

/// Why the log-on failed, and whether a session was asked for.
fn log_on(rights: Option<&'static str>, further: &[(&'static str, &str)]) -> (String, bool) {
    let folder = tempfile::tempdir().unwrap();
    write_private(&folder.path().join("key.toml"), "apiKey = \"key-0123456789\"\nsecret = \"secret-0123456789\"\n");
    let (address, asked) = serve(rights);
    let mut adapter = adapter_at([address; 3], folder.path(), further);
    let reason = adapter.connect(now()).unwrap_err().to_string();
    let asked = asked.lock().unwrap().clone();
    let first = ["/api/v3/exchangeInfo", "/api/v3/time", "/api/v3/time", "/sapi/v1/account/apiRestrictions"];
    assert_eq!(asked[..4], first);
    (reason, asked[4..] == ["/ws-api/v3"])
}

#[test]
fn a_key_that_may_withdraw_opens_no_session_unless_the_setting_names_the_venue() {
    let refused = "venue-key-may-withdraw: the key of LAB may withdraw; make one without that right, or set allowWithdraw = \
                   \"LAB\"";
    assert_eq!(log_on(Some(WITHDRAWS), &[]), (refused.to_owned(), false));
    let (reason, has_asked) = log_on(Some(WITHDRAWS), &[("allowWithdraw", "LAB")]);
    assert!(has_asked, "{reason}");
}

#[test]
fn a_key_that_may_not_trade_opens_no_session() {
    let refused = "venue-key-may-not-trade: the key of LAB may not trade; give it the right, or use paper mode";
    assert_eq!(log_on(Some(READS), &[]), (refused.to_owned(), false));
}

#[test]
fn a_key_that_may_trade_alone_opens_a_session_and_one_whose_rights_are_unknown_does_where_no_money_is_at_stake() {
    for rights in [Some(TRADES), None, Some("<html>"), Some("{}")] {
        let (reason, has_asked) = log_on(rights, &[]);
        assert!(has_asked, "{rights:?}: {reason}");
    }
}
