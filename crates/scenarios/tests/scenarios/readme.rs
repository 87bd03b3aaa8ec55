//! The README's curl commands against a new server, in the order in which a reader runs them.

use std::path::Path;
use std::process::Command;

use scenarios::server::RunningServer;

use crate::test_platform::TestPlatform;

const README: &str = include_str!("../../../../README.md");

/// What each line of the README promises, in its order: the beginning of the line, the status, a part of the answer.
const PROMISES: [(&str, u16, &str); 12] = [
    ("curl -s http://localhost:9090/rest/account", 200, "\"name\":\"Rialto Desk\""),
    ("curl -s http://localhost:9090/rest/security", 200, "\"symbol\":\"AAPL\""),
    ("curl -si http://localhost:9090/rest/execution/order/market", 200, "location: /rest/execution/order/"),
    ("curl -s http://localhost:9090/rest/position", 200, "["),
    ("curl -s -X POST http://localhost:9090/rest/next-order-id", 200, "\"ALPHA-"),
    ("curl -si http://localhost:9090/rest/execution/order/limit", 200, "location: /rest/execution/order/my-first"),
    ("curl -s http://localhost:9090/rest/execution/order ", 200, "\"intId\":\"my-first\""),
    ("curl -s http://localhost:9090/rest/execution/order/my-first", 200, "\"intId\":\"my-first\""),
    ("curl -s -X DELETE http://localhost:9090/rest/execution/order/my-first", 200, ""),
    ("curl -s http://localhost:9090/rest/execution/order/limit", 422, "\"field\":\"quantity\""),
    ("curl -s http://localhost:9090/openapi.json", 200, "{\"components\":"),
    ("curl -s --cacert data/tls/cert.pem https://localhost:9443/rest/account", 200, "\"name\":\"Rialto Desk\""),
];

#[test]
fn every_curl_line_of_the_readme_does_what_it_says() {
    // In the time of the reader, whose curl looks at the dates of the certificate.
    let desk = TestPlatform::new().set("clock.offset", 0);
    let server = desk.start();
    let lines = curl_lines(README);
    assert_eq!(lines.len(), PROMISES.len(), "{lines:#?}");
    for (line, (begin, status, part)) in lines.iter().zip(PROMISES) {
        assert!(line.starts_with(begin), "{line}");
        let (told, answer) = run(line, &server, desk.data());
        assert_eq!(told, status, "{line}: {answer}");
        assert!(answer.contains(part), "{line}: {answer}");
    }
    server.stop();
}

/// The commands of the blocks, those over several lines joined.
fn curl_lines(page: &str) -> Vec<String> {
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let joined = blocks.map(|block| block.replace("\\\n", " ")).collect::<String>();
    joined.lines().filter(|line| line.starts_with("curl ")).map(ToOwned::to_owned).collect()
}

/// The status and the answer. A reader stands where the data folder is; only ports are not those of the page.
fn run(line: &str, server: &RunningServer, data: &Path) -> (u16, String) {
    let line = line
        .replace("localhost:9090", &format!("localhost:{}", server.address().port()))
        .replace("localhost:9443", &format!("localhost:{}", server.https_port()))
        .replacen("curl ", "curl -w '\\n%{http_code}' ", 1);
    let ran = Command::new("sh").args(["-c", &line]).current_dir(data.parent().unwrap()).output().unwrap();
    let told = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{line}: {told}{}", String::from_utf8_lossy(&ran.stderr));
    let (answer, status) = told.rsplit_once('\n').unwrap();
    (status.parse().unwrap(), answer.to_owned())
}
