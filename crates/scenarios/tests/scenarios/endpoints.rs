//! Every endpoint through a real socket, with valid and invalid requests. Tidy checks that none is missing here.

use scenarios::http::{HttpClient, HttpRequest, HttpResponse};
use serde_json::{Value, json};

use crate::test_platform::{TestPlatform, TraderClient, body_of};

/// A line is a call with what it answers: `METHOD path body => status code`. The code is that of a problem, and `-` stands
/// where all went well. `await id status` waits for an order. The files of the demo are at `DEMO`.
const STORY: &str = r#"
GET /rest/account => 200 -
GET /rest/account?colour=red => 400 unknown-parameter
GET /rest/account/Rialto%20Desk => 200 -
GET /rest/account/Nobody => 404 unknown-account
GET /rest/security => 200 -
GET /rest/security?after=2&limit=5 => 200 -
GET /rest/security?limit=0 => 400 malformed-parameter
GET /rest/security/1 => 200 -
GET /rest/security/999 => 404 unknown-security
GET /rest/security/AAPL => 400 malformed-path
GET /rest/security-family => 200 -
GET /rest/security-family/1 => 200 -
GET /rest/security-family/999 => 404 unknown-security-family
GET /rest/security.search?query=apple%20AND%20currency:USD => 200 -
GET /rest/security.search?query=(apple => 400 malformed-search
GET /rest/security.changes => 200 -
GET /rest/security.changes?after=9007199254740990 => 410 changes-forgotten
GET /rest/security.changes?after=x => 400 malformed-parameter
GET /rest/security.changes?after=1&journal=x => 400 malformed-parameter
GET /rest/history/events?after=1&journal=00000000000000000000000000000000 => 410 other-journal
GET /rest/forex?baseCurrency=EUR&transactionCurrency=USD => 200 -
GET /rest/forex?baseCurrency=USD&transactionCurrency=EUR => 404 unknown-pair
GET /rest/forex?baseCurrency=EUR => 400 missing-parameter
GET /rest/adapter => 200 -
GET /rest/exchange => 200 -
GET /rest/strategy => 200 -
POST /rest/strategy/CROSS/stop => 200 -
POST /rest/strategy/CROSS/stop => 409 strategy-stopped
POST /rest/strategy/CROSS/start => 200 -
POST /rest/strategy/CROSS/start => 409 strategy-runs
POST /rest/strategy/NOBODY/start => 404 unknown-strategy
POST /rest/strategy/NOBODY/stop => 404 unknown-strategy
POST /rest/cache/clear-all => 200 -
POST /rest/cache/clear-all?now=yes => 400 unknown-parameter
POST /rest/reference/import {"path": "DEMO"} => 200 -
POST /rest/reference/import {"path": "DEMO/nowhere"} => 422 bad-reference-data
POST /rest/reference/import {} => 422 missing

POST /rest/execution/order/limit {"intId": "REST-1", "securityId": 1, "side": "BUY", "quantity": 10, "limit": 250, "tif": "GTC"} => 200 -
POST /rest/execution/order/limit {"intId": "REST-1", "securityId": 1, "side": "BUY", "quantity": 10, "limit": 250} => 409 duplicate-order
POST /rest/execution/order/limit {"securityId": 1, "side": "BUY", "quantity": 10} => 422 missing
POST /rest/execution/order/limit {"securityId": "one", "side": "BUY", "quantity": 10, "limit": 250} => 400 malformed-field
POST /rest/execution/order/limit {"securityId": 1, => 400 malformed-json
await REST-1 SUBMITTED
POST /rest/risk/check/modify {"objectType": "LimitOrder", "intId": "REST-1", "limit": 251} => 200 -
POST /rest/risk/check/modify {"intId": "REST-1", "limit": 251} => 422 missing
POST /rest/execution/modify/order/limit {"intId": "REST-1", "limit": 251} => 200 -
await REST-1 SUBMITTED
POST /rest/execution/modify/order/limit {"intId": "REST-1", "reference": "hedge"} => 200 -
POST /rest/order/REST-1/claim {"strategy": "SERVER"} => 409 not-external
POST /rest/order/REST-1/claim {"strategy": "NOBODY"} => 422 unknown-strategy
POST /rest/order/REST-1/claim {} => 422 missing
POST /rest/order/NOBODY/claim {"strategy": "SERVER"} => 404 unknown-order
POST /rest/execution/modify/order/limit {"intId": "REST-1", "tif": "IOC"} => 422 tif-fixed
POST /rest/execution/order/limit {"intId": "..", "securityId": 1, "side": "BUY", "quantity": 10, "limit": 250} => 400 malformed-field
POST /rest/execution/modify/order/limit {"intId": "NOBODY", "limit": 251} => 422 unknown-order
POST /rest/execution/modify/order/market {"intId": "REST-1", "quantity": 5} => 422 field-fixed
POST /rest/execution/order/market {"intId": "REST-2", "securityId": 1, "side": "BUY", "quantity": 100} => 200 -
POST /rest/execution/order/market {"securityId": 1, "side": "BUY", "quantity": 100, "limit": 9} => 422 not-needed
await REST-2 EXECUTED
POST /rest/execution/modify/order/market {"intId": "REST-2", "quantity": 5} => 409 order-closed
POST /rest/execution/order/stop {"intId": "REST-3", "securityId": 1, "side": "SELL", "quantity": 10, "stop": 260} => 200 -
POST /rest/execution/order/stop {"securityId": 1, "side": "SELL", "quantity": 10} => 422 missing
await REST-3 SUBMITTED
POST /rest/execution/modify/order/stop {"intId": "REST-3", "side": "BUY"} => 422 field-fixed
POST /rest/execution/modify/order/stop {"intId": "REST-3", "stop": 259} => 200 -
POST /rest/execution/order/stoplimit {"intId": "REST-4", "securityId": 1, "side": "SELL", "quantity": 10, "stop": 260, "limit": 259} => 200 -
POST /rest/execution/order/stoplimit {"securityId": 1, "side": "SELL", "quantity": 10, "stop": 260} => 422 missing
await REST-4 SUBMITTED
POST /rest/execution/modify/order/stoplimit {"intId": "REST-4", "limit": 258} => 200 -
POST /rest/execution/modify/order/stoplimit {"limit": 258} => 422 missing
GET /rest/execution/order?strategy=SERVER&account=1&security=AAPL => 200 -
GET /rest/execution/order?security=NOTHING => 404 unknown-security
GET /rest/execution/order/REST-1 => 200 -
GET /rest/execution/order/NOBODY => 404 unknown-order
DELETE /rest/execution/order/REST-1 => 200 -
await REST-1 CANCELED
DELETE /rest/execution/order/REST-1 => 409 order-closed
DELETE /rest/execution/order/NOBODY => 404 unknown-order
DELETE /rest/execution/order/REST-3 => 200 -
DELETE /rest/execution/order/REST-4 => 200 -
await REST-3 CANCELED
await REST-4 CANCELED
POST /rest/next-order-id 1 => 200 -
POST /rest/next-order-id 999 => 422 unknown-account
POST /rest/next-order-id "one" => 400 malformed-field

GET /rest/position?account=1 => 200 -
GET /rest/position?account=Nobody => 404 unknown-account
POST /rest/position/reduce/1 30 => 200 -
await ALPHA-2 EXECUTED
POST /rest/position/reduce/1 -5 => 422 not-positive
POST /rest/position/reduce/999 5 => 404 unknown-position
DELETE /rest/position/1 => 200 -
await ALPHA-3 EXECUTED
DELETE /rest/position/1 => 409 position-closed
DELETE /rest/position/999 => 404 unknown-position
POST /rest/position/reset-positions => 200 -
POST /rest/position/reset-positions?all=yes => 400 unknown-parameter
GET /rest/portfolio/value?strategy=SERVER => 200 -
GET /rest/portfolio/value?strategy=NOBODY => 404 unknown-strategy
GET /rest/portfolio/balance?account=1 => 200 -
GET /rest/portfolio/balance?account=Nobody => 404 unknown-account
GET /rest/portfolio/history => 200 -
GET /rest/portfolio/history?account=1&period=month => 200 -
GET /rest/portfolio/history?account=1&security=1 => 422 conflicting-fields

POST /rest/transaction {"type": "CREDIT", "price": 100, "currency": "USD", "accountId": 1} => 200 -
POST /rest/transaction {"type": "GIFT", "price": 100} => 400 malformed-field
POST /rest/transaction {"type": "SELL", "price": 10, "quantity": 1, "accountId": 1, "securityId": 1} => 422 wrong-sign
POST /rest/transaction {"type": "EXPIRATION", "price": 0, "quantity": -2, "accountId": 2, "securityId": 27} => 422 not-held
GET /rest/transaction/1 => 200 -
GET /rest/transaction/99999 => 404 unknown-transaction
GET /rest/transaction/daily?strategy=SERVER&limit=2 => 200 -
GET /rest/transaction/daily?limit=0 => 400 malformed-parameter
POST /rest/transaction/reset-cache-balances => 200 -
POST /rest/transaction/reset-cache-balances?all=yes => 400 unknown-parameter
POST /rest/transaction/reset-cash-balances => 200 -
POST /rest/transaction/reset-cash-balances?all=yes => 400 unknown-parameter

GET /rest/subscription/marketdata/supported-feed => 200 -
GET /rest/subscription/marketdata/supported-feed?name=x => 400 unknown-parameter
PUT /rest/subscription/marketdata/subscribe {"strategyName": "SERVER", "securityId": 1, "subscribe": true} => 200 -
PUT /rest/subscription/marketdata/subscribe {"strategyName": "SERVER", "securityId": 1, "subscribe": false} => 422 not-subscribing
PUT /rest/subscription/marketdata/subscribe {"strategyName": "SERVER", "securityId": 999, "subscribe": true} => 422 unknown-security
PUT /rest/subscription/marketdata/unsubscribe {"strategyName": "SERVER", "securityId": 2, "subscribe": false} => 200 -
PUT /rest/subscription/marketdata/unsubscribe {"strategyName": "NOBODY", "securityId": 2} => 422 unknown-strategy
GET /rest/marketdata/tick?security=1 => 200 -
GET /rest/marketdata/tick?security=999 => 404 unknown-security
GET /rest/marketdata/bar?security=1&barSize=MIN_1&limit=5 => 200 -
GET /rest/marketdata/bar?security=1&barSize=HUGE => 400 malformed-parameter
GET /rest/marketdata/book?security=1 => 200 -
GET /rest/marketdata/book => 400 missing-parameter
PUT /rest/marketdata/settlement {"securityId": 24, "price": "6789.25"} => 200 -
PUT /rest/marketdata/settlement {"securityId": 24, "price": 6789.25, "date": "soon"} => 400 malformed-field
PUT /rest/marketdata/settlement {"securityId": 24} => 422 missing
PUT /rest/marketdata/settlement {"securityId": 999, "price": 1} => 422 unknown-security
GET /rest/marketdata/tick?security=1,2,SAP => 200 -
GET /rest/marketdata/bar?security=1,2&barSize=DAY_1&limit=1 => 200 -
GET /rest/marketdata/book?security=1,999 => 404 unknown-security

POST /rest/risk/check {"objectType": "MarketOrder", "securityId": 1, "side": "BUY", "quantity": 1} => 200 -
POST /rest/risk/check {"securityId": 1, "side": "BUY", "quantity": 1} => 422 missing
PUT /rest/risk/limit {"scope": "ACCOUNT-1", "maxOpenOrders": 50} => 200 -
PUT /rest/risk/limit {"scope": "PLANET"} => 400 malformed-field
PUT /rest/risk/limit {"scope": "ACCOUNT-1", "selfTrade": "CANCEL_BOTH"} => 200 -
PUT /rest/risk/limit {"scope": "STRATEGY-1", "selfTrade": "ALLOW"} => 422 not-needed
PUT /rest/risk/limit {"scope": "ACCOUNT-1", "maxOpenOrder": 50} => 422 unknown-field
PUT /rest/risk/limit {"scope": "ACCOUNT-1", "maxLong": 0} => 422 not-positive
PUT /rest/risk/limit {"maxOpenOrders": 50} => 422 missing
PUT /rest/risk/limit {"scope": "SECURITY-999", "maxOpenOrders": 50} => 422 unknown-security
PUT /rest/risk/limit {"scope": "STRATEGY-1", "restrictedSecurities": [2], "messagesPerSecond": 1000, "executionBreaker": {"count": 1000, "millis": 1000}} => 200 -
PUT /rest/risk/limit {"scope": "STRATEGY-1", "restrictedSecurities": null} => 200 -
PUT /rest/risk/limit {"scope": "PLATFORM", "restrictedSecurities": [999]} => 422 unknown-security
PUT /rest/risk/limit {"scope": "SECURITY-1", "restrictedSecurities": [1]} => 422 not-needed
GET /rest/risk/limit => 200 -
GET /rest/risk/limit?scope=x => 400 unknown-parameter
PUT /rest/risk/state {"scope": "ACCOUNT-2", "state": "REDUCING", "reason": "lunch"} => 200 -
PUT /rest/risk/state {"scope": "ACCOUNT-2", "state": "ASLEEP"} => 400 malformed-field
PUT /rest/risk/state {"scope": "STRATEGY-999", "state": "ACTIVE"} => 422 unknown-strategy
GET /rest/risk/state => 200 -
GET /rest/risk/state?scope=x => 400 unknown-parameter
PUT /rest/risk/dead-man-timer {"scope": "ACCOUNT-2", "seconds": 3600} => 200 -
PUT /rest/risk/dead-man-timer {"scope": "ACCOUNT-2"} => 200 -
PUT /rest/risk/dead-man-timer {"scope": "ACCOUNT-2", "seconds": 0} => 422 not-positive
PUT /rest/risk/dead-man-timer {"scope": "ACCOUNT-2", "seconds": 86401} => 422 too-large
PUT /rest/risk/dead-man-timer {"scope": "ACCOUNT-999", "seconds": 30} => 422 unknown-account
PUT /rest/risk/dead-man-timer {"seconds": 30} => 422 missing
PUT /rest/risk/dead-man-timer {"scope": "ACCOUNT-1"} => 409 no-dead-man-timer
GET /rest/risk/dead-man-timer => 200 -
DELETE /rest/risk/dead-man-timer/ACCOUNT-2 => 200 -
DELETE /rest/risk/dead-man-timer/ACCOUNT-2 => 409 no-dead-man-timer
DELETE /rest/risk/dead-man-timer/PLANET => 400 malformed-path
POST /rest/risk/kill {"scope": "ACCOUNT-2"} => 200 -
POST /rest/risk/kill {"scope": "ACCOUNT-999"} => 422 unknown-account
POST /rest/risk/kill {"reason": "fire"} => 422 missing

GET /rest/break => 200 -
GET /rest/break?state=ALL => 200 -
GET /rest/break?state=LOST => 400 malformed-parameter
GET /rest/break/B1 => 404 unknown-break
GET /rest/break/1 => 400 malformed-path
POST /rest/break/B1/explain {"comment": "known"} => 404 unknown-break
POST /rest/break/B1/accept {} => 422 missing
POST /rest/break/B1/repair {"comment": "known", "by": "me"} => 422 unknown-field

GET /rest/history/order?limit=3 => 200 -
GET /rest/history/order?text=rest-&source=REST&status=EXECUTED,CANCELED&withoutStrategies=true&from=1 => 200 -
GET /rest/history/order?status=DONE => 400 malformed-parameter
GET /rest/history/order?sort=NEWEST&limit=3 => 200 -
GET /rest/history/order?sort=BEST => 400 malformed-parameter
GET /rest/history/order?limit=5000 => 400 malformed-parameter
GET /rest/history/order/REST-1/event => 200 -
GET /rest/history/order/NOBODY/event => 404 unknown-order
GET /rest/history/transaction?account=1 => 200 -
GET /rest/history/transaction?after=-1 => 400 malformed-parameter
GET /rest/history/events?after=0&limit=5 => 200 -
GET /rest/history/events?after=x => 400 malformed-parameter

GET /rest/broker/url/main => 200 -
GET /rest/broker/url/main?x=y => 400 unknown-parameter
GET /rest/broker/url/ws => 200 -
GET /rest/broker/url/ws?x=y => 400 unknown-parameter
GET /rest/fix/sessions => 200 -
GET /rest/fix/sessions?x=y => 400 unknown-parameter
POST /rest/fix/sessions/CLIENT/numbers {"nextIn": 7, "nextOut": 9} => 200 -
POST /rest/fix/sessions/CLIENT/reset => 200 -
POST /rest/fix/sessions/CLIENT/logout => 200 -
POST /rest/fix/sessions/NOBODY/logout => 404 unknown-session
POST /rest/fix/sessions/NOBODY/reset => 404 unknown-session
POST /rest/fix/sessions/NOBODY/numbers {"nextIn": 7} => 404 unknown-session
POST /rest/fix/sessions/NOBODY/numbers {} => 422 missing
POST /rest/fix/reload => 200 -

GET /rest/config-params => 200 -
GET /rest/config-params?x=y => 400 unknown-parameter
GET /rest/log?level=WARN&limit=5 => 200 -
GET /rest/log?level=LOUD => 400 malformed-parameter
GET /health/live => 200 -
GET /health/ready => 200 -
GET /health/leader => 200 -
GET /health/cluster => 200 -
GET /rest/cluster => 200 -
GET /rest/cluster?x=y => 400 unknown-parameter
GET /metrics => 200 -
GET /metrics?x=y => 400 unknown-parameter
GET /openapi.json => 200 -
GET /docs => 200 -
GET /docs/start.js => 200 -
GET /docs/swagger-ui.css => 200 -
GET /docs/swagger-ui-bundle.js => 200 -
GET /asyncapi.json => 200 -
GET /docs/topics => 200 -
GET /docs/topics.js => 200 -
GET /docs/topics.css => 200 -
GET /docs/fix/FIX44.xml => 200 -
GET /docs/nothing.js => 404 no-such-path
"#;

/// A strategy that waits too long for its prices to trade in this story.
const CROSS: &str = "CROSS:moving-average-cross security=AAPL fast=50 slow=200 quantity=1";

/// From the first user on every caller needs a login, so this comes last; the calls are the admin's.
const STORY_OF_PEOPLE: &str = r#"
GET /rest/settings => 200 -
GET /rest/settings?user=anna => 400 unknown-parameter
PUT /rest/settings {"layout": "wide"} => 200 -
PUT /rest/settings [1] => 400 malformed-json
GET /rest/user => 200 -
POST /rest/user {"name": "anna", "password": "correct horse", "role": "TRADER"} => 200 -
POST /rest/user {"name": "anna", "password": "correct horse", "role": "TRADER"} => 409 name-taken
PUT /rest/user/anna/rights {"accounts": [1], "securities": null, "interfaces": ["REST", "FIX"]} => 200 -
PUT /rest/user/anna/rights {"interfaces": ["TELEX"]} => 400 malformed-field
PUT /rest/user/anna/rights {"account": [1]} => 422 unknown-field
PUT /rest/user/anna/rights {"accounts": [999]} => 422 unknown-account
PUT /rest/user/nobody/rights {} => 404 unknown-user
POST /rest/login {"user": "anna", "password": "correct horse"} => 200 -
POST /rest/login {"user": "anna"} => 422 missing
GET /rest/login => 200 -
POST /rest/logout => 200 -
POST /rest/logout?x=y => 400 unknown-parameter
GET /rest/token => 200 -
POST /rest/token {"name": "robot", "role": "VIEWER", "days": 7} => 200 -
POST /rest/token {"name": "robot", "role": "KING"} => 400 malformed-field
PUT /rest/token/robot/rights {"securities": [1, 2]} => 200 -
PUT /rest/token/robot/rights {"securities": [999]} => 422 unknown-security
PUT /rest/token/nobody/rights {} => 404 unknown-token
DELETE /rest/token/robot => 200 -
DELETE /rest/token/robot => 404 unknown-token
DELETE /rest/user/anna => 200 -
DELETE /rest/user/anna => 404 unknown-user
GET /rest/audit?limit=5 => 200 -
GET /rest/audit?limit=5000 => 400 malformed-parameter
GET /rest/audit?sort=NEWEST&limit=5 => 200 -
GET /rest/audit?sort=LATEST => 400 malformed-parameter
POST /rest/runtime/exit-vm?x=y => 400 unknown-parameter
POST /rest/runtime/exit-vm => 200 -
"#;

#[test]
fn every_endpoint_does_its_work_and_refuses_what_is_wrong() {
    let desk = TestPlatform::new().set("strategies.instances", CROSS);
    let server = desk.start();
    let mut client = server.client();
    tell(&mut client, STORY, &[]);
    let acts: Vec<_> = fix_acts(&mut client);
    assert_eq!(acts, ["numbers, nextIn 1 to 7, nextOut 1 to 9", "reset, nextIn 7 to 1, nextOut 9 to 1", "logout"]);
    let boss = r#"{"name": "boss", "password": "correct horse", "role": "ADMIN"}"#;
    let token = r#"{"name": "key", "role": "ADMIN", "days": 1}"#;
    let key = body_of(&client.post("/rest/token", token).unwrap())["token"].as_str().unwrap().to_owned();
    assert_eq!(client.post("/rest/user", boss).unwrap().status, 200);
    assert_eq!(client.get("/rest/account").unwrap().status, 401, "nobody is anonymous any more");
    let bearer = format!("Bearer {key}");
    tell(&mut client, STORY_OF_PEOPLE, &[("Authorization", &bearer)]);
    assert_eq!(server.wait().code, Some(0), "the last call shuts the server down in order");
}

/// Audit entries of the session, oldest first.
fn fix_acts(client: &mut HttpClient) -> Vec<String> {
    let Value::Array(entries) = body_of(&client.get("/rest/audit?limit=1000").unwrap()) else { panic!("a list") };
    let details =
        entries.iter().filter(|entry| entry["outcome"] == "done").filter_map(|entry| entry["detail"].as_str());
    details.filter_map(|detail| detail.strip_prefix("/rest/fix/sessions/CLIENT/")).map(ToOwned::to_owned).collect()
}

fn tell(client: &mut HttpClient, story: &str, headers: &[(&str, &str)]) {
    let lines: Vec<_> = story.lines().filter(|line| !line.is_empty()).collect();
    let told: Vec<_> = lines.iter().map(|line| line_told(client, line, headers)).collect();
    assert_eq!(told.join("\n"), lines.join("\n"));
}

/// The line with what really came.
fn line_told(client: &mut HttpClient, line: &str, headers: &[(&str, &str)]) -> String {
    if let Some((int_id, status)) = line.strip_prefix("await ").and_then(|rest| rest.split_once(' ')) {
        client.wait_for_status(int_id, status);
        return line.to_owned();
    }
    let (call, _) = line.rsplit_once(" => ").unwrap();
    let mut words = call.splitn(3, ' ');
    let (method, path, body) = (words.next().unwrap(), words.next().unwrap(), words.next());
    let body = body.map(|body| body.replace("DEMO", concat!(env!("CARGO_MANIFEST_DIR"), "/../../demo/reference")));
    let response = client.send(&HttpRequest { method, path, headers, body: body.as_deref() }).unwrap();
    format!("{call} => {} {}", response.status, code_of(&response))
}

fn code_of(response: &HttpResponse) -> String {
    if response.status == 200 {
        return "-".into();
    }
    let problem: Value = serde_json::from_str(&response.body).unwrap_or_else(|_| json!({ "code": "no problem" }));
    problem["code"].as_str().unwrap_or_default().to_owned()
}
