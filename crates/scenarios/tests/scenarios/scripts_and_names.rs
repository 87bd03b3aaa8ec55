//! Assets whose names are long or Chinese: traded over REST and FIX, and heard on topics.

use std::fs;
use std::path::{Path, PathBuf};

use scenarios::http::HttpClient;
use serde_json::{Value, json};

use crate::fix_orders::client::FixClient;
use crate::test_platform::{TestPlatform, TraderClient, fields};
use crate::topics::TopicListener;

/// A Chinese asset against one of ten characters, and both against the dollar, so that their worth is known.
const SECURITIES: &str = "\
90,Forex,币安人生/1000CHEEMS,Life on Binance,,,,,,,90,1,1000CHEEMS,1,1,50000000,1,,,0.01,,true,币安人生,1000CHEEMS,,,,,,,,
91,Forex,1000CHEEMS.USD,A thousand of them,,,,,,,2,1,USD,1,1,50000000,1,,,0.00001,,true,1000CHEEMS,USD,,,,,,,,
92,Forex,币安人生.USD,Life on Binance in dollars,,,,,,,2,1,USD,1,1,50000000,1,,,0.00001,,true,币安人生,USD,,,,,,,,
";
const FAMILY: &str = "90,Pairs in CHEEMS,,,,1000CHEEMS,1,0.01,,1,0,0,0,\n";
const OPENINGS: &str =
    "币安人生/1000CHEEMS,25,2,500,0.5\n1000CHEEMS.USD,0.5,2,100000,0.5\n币安人生.USD,12.5,2,1000,0.5\n";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The demo's reference data with the two pairs.
fn reference_folder(platform: &TestPlatform) -> PathBuf {
    let folder = platform.data().parent().unwrap().join("reference");
    fs::create_dir_all(&folder).unwrap();
    for entry in fs::read_dir(repository().join("demo/reference")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
    }
    for (file, lines) in [("securities.csv", SECURITIES), ("families.csv", FAMILY), ("opening.csv", OPENINGS)] {
        let path = folder.join(file);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{}\n{lines}", text.trim_end())).unwrap();
    }
    folder
}

#[test]
fn a_chinese_asset_is_traded_for_one_of_ten_characters_over_rest_fix_and_topics() {
    let desk = TestPlatform::new();
    let folder = reference_folder(&desk);
    let desk = desk.set("reference.path", folder.display());
    let server = desk.start();
    let mut client = server.client();
    credit(&mut client, "1000CHEEMS", 100_000);
    let mut topics = TopicListener::join(&mut client);
    topics.subscribe(1, "/topic/cash-balance.SERVER.%E5%B8%81%E5%AE%89%E4%BA%BA%E7%94%9F");
    topics.subscribe(2, "/topic/cash-balance.SERVER.1000CHEEMS");
    credit(&mut client, "币安人生", 5);
    assert_eq!(cash_message(&mut topics), json!(["币安人生", 5]));

    let order = client.place(&json!({ "securityId": 90, "side": "BUY", "quantity": 10 }));
    let filled = client.wait_for_status(&order, "EXECUTED");
    assert_eq!(fields(&filled, &["avgPrice", "filledQuantity"]), json!({ "avgPrice": 25.01, "filledQuantity": 10 }));
    assert_eq!(cash_message(&mut topics), json!(["1000CHEEMS", 99_749.9]));

    let mut fix = FixClient::new("CLIENT");
    fix.log_on(server.port_address("fix"));
    fix.send("35=D|11=zh1|54=2|38=10|40=1|55=币安人生/1000CHEEMS|15=1000CHEEMS");
    let fill = loop {
        let report = fix.expect("8");
        if report.get(150) == Some("F") {
            break report;
        }
    };
    assert_eq!((fill.get(55), fill.get(31)), (Some("币安人生/1000CHEEMS"), Some("24.99")));
    assert_eq!(cash_message(&mut topics), json!(["1000CHEEMS", 99_999.8]));
    fix.send("35=D|11=zh2|54=2|38=1|40=1|55=币安人生/1000CHEEMS|15=USD");
    assert_eq!(fix.expect("8").get(39), Some("8"), "another currency than the security's");

    let found = client.get_json("/rest/security.search?query=%E5%B8%81%E5%AE%89");
    assert_eq!(found.as_array().unwrap().len(), 2);
    let found = client.get_json("/rest/security.search?query=currency%3A1000CHEEMS");
    assert_eq!(found[0]["symbol"], "币安人生/1000CHEEMS");
    let pair =
        client.get_json("/rest/forex?baseCurrency=%E5%B8%81%E5%AE%89%E4%BA%BA%E7%94%9F&transactionCurrency=1000CHEEMS");
    assert_eq!(fields(&pair, &["id", "baseCurrency"]), json!({ "id": 90, "baseCurrency": "币安人生" }));
    let before = client.account_state();
    server.stop();
    let server = desk.start();
    assert_eq!(server.client().account_state(), before, "the journal has the names as they were");
    server.stop();
}

fn credit(client: &mut HttpClient, currency: &str, amount: u64) {
    let credit = json!({ "type": "CREDIT", "price": amount, "currency": currency, "accountId": 1 });
    let response = client.post("/rest/transaction", &credit.to_string()).unwrap();
    assert_eq!(response.status, 200, "{response:?}");
}

/// Currency and amount of the next balance.
fn cash_message(topics: &mut TopicListener) -> Value {
    let frame = topics.frame();
    let body: Value = serde_json::from_str(frame.split_once("\n\n").unwrap().1).unwrap();
    json!([body["currency"], body["amount"]])
}
