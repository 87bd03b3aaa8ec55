//! Faults of reports, as a client over a stream meets them; the test lets the lab run.

use expect_test::{Expect, expect};
use futures_util::FutureExt;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;

use super::*;

const CONFIG: &str = r#"
    [[symbols]]
    symbol = "MSFT"
    base = "MSFT"
    quote = "USD"
    tickSize = "1"
    stepSize = "1"
    mid = "100"
    size = "5"
    [[accounts]]
    account = "DESK"
    maker = "0"
    taker = "0"
    balances = { USD = "100000", MSFT = "100" }
"#;
const NOW: i64 = 1_780_574_400_000_000_000;
const ROUNDS: usize = 12;
/// Some requests need several of the exchange.
const STEPS: usize = 6;
/// What a line of the story shows of a report.
const SHOWN: [&str; 8] = ["35=", "11=", "17=", "150=", "39=", "32=", "14=", "151="];

struct TestClient {
    lab: SteppedLab,
    runtime: Runtime,
    stream: DuplexStream,
    number: u32,
    _folder: TempDir,
}

impl TestClient {
    fn log_on() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let config = LabConfig::load(Some(CONFIG), false, &[]).unwrap();
        let lab = SteppedLab::open(&config, folder.path(), runtime.handle(), LabClock::new(|| NOW)).unwrap();
        let (stream, far) = duplex(1 << 16);
        assert!(lab.connect(Box::new(far)));
        let mut client = Self { lab, runtime, stream, number: 0, _folder: folder };
        assert_eq!(client.ask("35=A|98=0|108=30"), ["35=A"]);
        client
    }

    /// Sends a message, lets the lab run, and shows what came.
    fn ask(&mut self, fields: &str) -> Vec<String> {
        self.send(fields);
        self.heard()
    }

    /// Sends a message, and lets the lab run.
    fn send(&mut self, fields: &str) {
        self.number += 1;
        let (kind, rest) = fields.split_once('|').unwrap();
        let body =
            format!("{kind}|34={}|49=DESK|52=20260604-12:00:00|56=LAB|{rest}|", self.number).replace('|', "\x01");
        let frame = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
        let sum = frame.bytes().fold(0_u8, u8::wrapping_add);
        self.runtime.block_on(self.stream.write_all(format!("{frame}10={sum:03}\x01").as_bytes())).unwrap();
        for _ in 0..STEPS {
            self.runtime.block_on(take_turns());
            self.lab.step().unwrap();
        }
        self.runtime.block_on(take_turns());
    }

    fn heard(&mut self) -> Vec<String> {
        let mut bytes = Vec::new();
        while let Some(Ok(count)) = self.stream.read_buf(&mut bytes).now_or_never() {
            assert_ne!(count, 0, "the lab has closed the connection");
        }
        let text = String::from_utf8(bytes).unwrap();
        let field =
            |message: &str, tag: &str| message.split('\x01').find(|field| field.starts_with(tag)).map(str::to_owned);
        let shown = |message: &str| SHOWN.iter().filter_map(|tag| field(message, tag)).collect::<Vec<_>>().join(" ");
        text.split("8=FIX.4.4\x01").filter(|message| !message.is_empty()).map(shown).collect()
    }

    fn arm(&self, fault: &str) {
        self.lab.arm(fault, None).unwrap();
    }
}

async fn take_turns() {
    for _ in 0..ROUNDS {
        yield_now().await;
    }
}

fn order(id: &str, side: u32, quantity: u32, price: u32) -> String {
    format!("35=D|11={id}|21=1|38={quantity}|40=2|44={price}|54={side}|55=MSFT|59=1|60=20260604-12:00:00")
}

fn check(story: &[(&str, Vec<String>)], expected: &Expect) {
    let line = |(step, told): &(&str, Vec<String>)| format!("{step}\n    {}\n", told.join("\n    "));
    expected.assert_eq(&story.iter().map(line).collect::<String>().replace(".00000000", ""));
}

#[test]
fn trades_are_reported_empty_and_once_more_and_the_steps_of_a_command_backwards() {
    let mut client = TestClient::log_on();
    let usual = client.ask(&order("A-1", 1, 2, 101));
    client.arm("odd-fills");
    let odd = client.ask(&order("A-2", 1, 1, 101));
    client.arm("fills-replayed");
    let replayed = client.ask(&order("A-3", 1, 1, 101));
    client.arm("events-shuffled");
    let shuffled = client.ask(&order("A-4", 2, 1, 99));
    check(
        &[("as usual", usual), ("odd-fills", odd), ("fills-replayed", replayed), ("events-shuffled", shuffled)],
        &expect![[r#"
            as usual
                35=8 11=A-1 17=MSFT-1 150=0 39=0 14=0 151=2
                35=8 11=A-1 17=MSFT-2 150=F 39=2 32=2 14=2 151=0
            odd-fills
                35=8 11=A-2 17=MSFT-3 150=0 39=0 14=0 151=1
                35=8 11=A-2 17=MSFT-4 150=F 39=2 32=0 14=1 151=0
                35=8 11=A-2 17=MSFT-4 150=F 39=2 32=1 14=1 151=0
            fills-replayed
                35=8 11=A-3 17=MSFT-5 150=0 39=0 14=0 151=1
                35=8 11=A-3 17=MSFT-6 150=F 39=2 32=1 14=1 151=0
                35=8 11=A-1 17=MSFT-2 150=F 39=2 32=2 14=2 151=0
                35=8 11=A-2 17=MSFT-4 150=F 39=2 32=0 14=1 151=0
                35=8 11=A-2 17=MSFT-4 150=F 39=2 32=1 14=1 151=0
                35=8 11=A-3 17=MSFT-6 150=F 39=2 32=1 14=1 151=0
            events-shuffled
                35=8 11=A-4 17=MSFT-8 150=F 39=2 32=1 14=1 151=0
                35=8 11=A-4 17=MSFT-7 150=0 39=0 14=0 151=1
                35=8 11=A-4 17=MSFT-8 150=F 39=2 32=1 14=1 151=0
                35=8 11=A-4 17=MSFT-7 150=0 39=0 14=0 151=1
        "#]],
    );
    assert_eq!(client.lab.ledger()["trades"].as_array().map(Vec::len), Some(4), "the ledger is true");
}

#[test]
fn a_cancel_is_confirmed_and_then_the_order_is_filled() {
    let mut client = TestClient::log_on();
    client.ask(&order("A-1", 1, 2, 90));
    client.arm("fill-after-cancel");
    let cancel = "35=F|11=A-2|38=2|41=A-1|54=1|55=MSFT|60=20260604-12:00:00";
    let resting = client.ask(cancel);
    client.ask(&order("A-3", 1, 1, 101));
    client.arm("fill-after-cancel");
    let ended = client.ask(&cancel.replace("A-2", "A-4").replace("A-1", "A-3"));
    check(
        &[("of an order that rests", resting), ("of one that has ended", ended)],
        &expect![[r#"
            of an order that rests
                35=8 11=A-2 17=MSFT-1780574400000000 150=4 39=4 14=0 151=0
                35=8 11=A-1 17=MSFT-2 150=F 39=2 32=2 14=2 151=0
            of one that has ended
                35=9 11=A-4 39=2
        "#]],
    );
}

#[test]
fn the_account_has_orders_from_elsewhere() {
    let mut client = TestClient::log_on();
    client.arm("strangers");
    let told = client.ask(&order("A-1", 1, 2, 90));
    check(
        &[("strangers", told)],
        &expect![[r#"
            strangers
                35=8 11=A-1 17=MSFT-1 150=0 39=0 14=0 151=2
                35=8 11=web_2 17=MSFT-2 150=0 39=0 14=0 151=2
                35=8 11=web_2 17=MSFT-3 150=F 39=2 32=2 14=2 151=0
                35=8 11=web_3 17=MSFT-4 150=0 39=0 14=0 151=2
        "#]],
    );
}

#[test]
fn trades_that_were_reported_can_be_asked_for_again_until_numbers_begin_anew() {
    let mut client = TestClient::log_on();
    client.arm("odd-fills");
    client.ask(&order("A-1", 1, 2, 101));
    let reported = client.lab.reported_trades();
    // The Logon, the order's acceptance, and a report of the trade without a quantity came before.
    assert_eq!(reported, [ReportedTrade { number: 4, exec_id: "MSFT-2".to_owned() }]);
    assert_eq!(client.lab.take_dropped_trades(), []);
    client.arm("fix-numbers-reset");
    client.send(&order("A-2", 1, 1, 90));
    assert_eq!((client.lab.reported_trades(), client.lab.take_dropped_trades()), (vec![], reported));
}
