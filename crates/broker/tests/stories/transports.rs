use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::harness::{BrokerHarness, tick};
use crate::test_client::{TestStompClient, connect};
use crate::websocket::WebSocket;

#[derive(Debug)]
pub(crate) struct OneCertificate(Arc<CertifiedKey>);

impl ResolvesServerCert for OneCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.clone())
    }
}

pub(crate) fn certificate() -> (CertificateDer<'static>, Arc<OneCertificate>) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = rustls::crypto::ring::default_provider();
    let pair = CertifiedKey::from_der(vec![certificate.clone()], key, &provider).unwrap();
    (certificate, Arc::new(OneCertificate(Arc::new(pair))))
}

fn secure(address: SocketAddr, trusted: &CertificateDer<'static>) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = builder.with_root_certificates(roots).with_no_client_auth();
    let session = ClientConnection::new(Arc::new(config), ServerName::try_from("localhost").unwrap()).unwrap();
    StreamOwned::new(session, connect(address))
}

#[test]
fn tls_is_spoken_on_its_own_port_and_by_its_first_byte_on_the_plain_one() {
    let (trusted, certificates) = certificate();
    let broker = BrokerHarness::open_with(&[], Some(certificates));
    TestStompClient::open_connected(broker.tcp);
    for (sequence, address) in [(1, broker.tcp), (2, broker.tls)] {
        let mut client = TestStompClient::new_over(secure(address, &trusted));
        client.send_connect();
        client.subscribe(1, "/topic/log-event.>", "");
        broker.publish_warning(sequence);
        assert!(client.frame().contains(&format!("sequence:{sequence}\n")));
    }
    let mut plain = connect(broker.tls);
    plain.write_all(b"CONNECT\n\n\0").unwrap();
    let mut answer = Vec::new();
    // Plain text on the TLS port gets an alert at most.
    let _ = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"CONNECTED"));
}

#[test]
fn a_websocket_carries_frames_in_any_pieces() {
    let broker = BrokerHarness::open();
    let mut client = TestStompClient::new_over(WebSocket::at(broker.ws));
    let long = format!("accept-version:1.2\nhost:desk\nnote:{}\n", "x".repeat(300));
    client.send(&format!("CONNECT\n{long}\n"));
    assert!(client.frame().starts_with("CONNECTED\n"));
    // Two frames in one message.
    client
        .stream
        .send(1, b"SUBSCRIBE\nid:1\ndestination:/topic/tick.1\nreceipt:1\n\n\0\nUNSUBSCRIBE\nid:1\nreceipt:2\n\n\0");
    assert_eq!([client.frame(), client.frame()], ["RECEIPT\nreceipt-id:1\n\n", "RECEIPT\nreceipt-id:2\n\n"]);
    client.subscribe(2, "/topic/log-event.>", "");
    broker.publish_warning(1);
    assert!(client.frame().contains("sequence:1\n"));
    client.send("DISCONNECT\nreceipt:bye\n\n");
    assert_eq!(client.read_to_end(), "RECEIPT\nreceipt-id:bye\n\n\\0\n");
}

#[test]
fn the_best_sub_protocol_that_both_speak_is_agreed_upon() {
    let broker = BrokerHarness::open();
    let agreed = |wanted: &str| {
        let headers = format!("Host: {}\r\n{wanted}", broker.ws);
        let (_, head) = WebSocket::open(broker.ws, &headers).unwrap();
        let line = head.lines().find_map(|line| line.strip_prefix("sec-websocket-protocol: "));
        line.map(ToOwned::to_owned)
    };
    assert_eq!(agreed("Sec-WebSocket-Protocol: v10.stomp, v11.stomp, v12.stomp\r\n").as_deref(), Some("v12.stomp"));
    assert_eq!(agreed("Sec-WebSocket-Protocol: stomp\r\n").as_deref(), Some("stomp"));
    assert_eq!(agreed(""), None);
}

#[test]
fn what_is_no_request_for_a_websocket_is_told_why() {
    let broker = BrokerHarness::open();
    let answer = |request: &str| {
        let mut stream = connect(broker.ws);
        write!(stream, "{request} / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", broker.ws).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        format!("{} {body}", head.lines().next().unwrap())
    };
    let missing = r#"WebSocket protocol error: No "Connection: upgrade" header"#;
    assert_eq!(answer("GET"), format!("HTTP/1.1 400 Bad Request here only a WebSocket is served: {missing}"));
    assert!(answer("POST").starts_with("HTTP/1.1 405 Method Not Allowed here only a WebSocket is served: "));
}

#[test]
fn a_client_of_another_version_of_websocket_is_told_which_one_is_spoken() {
    let broker = BrokerHarness::open();
    for version in ["Sec-WebSocket-Version: 8\r\n", "Sec-WebSocket-Version: 25\r\n", ""] {
        let mut stream = connect(broker.ws);
        let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        let wish = format!("Connection: Upgrade\r\nUpgrade: websocket\r\n{version}{key}");
        write!(stream, "GET / HTTP/1.1\r\nHost: {}\r\n{wish}\r\n", broker.ws).unwrap();
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0].into());
        }
        let mut lines: Vec<_> = head.lines().filter(|line| !line.is_empty() && !line.starts_with("date:")).collect();
        lines.sort_unstable();
        let expected = [
            "HTTP/1.1 426 Upgrade Required",
            "connection: upgrade",
            "content-length: 96",
            "content-type: text/plain; charset=utf-8",
            "sec-websocket-version: 13",
            "upgrade: websocket",
        ];
        assert_eq!(lines, expected, "{version}");
    }
}

#[test]
fn a_page_of_another_origin_and_a_name_that_is_not_ours_are_refused() {
    let broker = BrokerHarness::open();
    let own = format!("Host: {}\r\n", broker.ws);
    let open = |headers: &str| WebSocket::open(broker.ws, headers).map(drop).map_err(|head| head[..12].to_owned());
    assert_eq!(open(&format!("{own}Origin: https://friend.example\r\n")), Ok(()));
    assert_eq!(open(&format!("{own}Origin: http://{}\r\n", broker.ws)), Ok(()));
    assert_eq!(open(&format!("{own}Origin: http://evil.example\r\n")), Err("HTTP/1.1 403".into()));
    assert_eq!(open("Host: evil.example\r\n"), Err("HTTP/1.1 403".into()));
}

#[test]
fn a_token_of_the_upgrade_is_as_good_as_a_login() {
    let broker = BrokerHarness::open();
    broker.add("anna", access::UserRole::Viewer);
    let token = broker.token("robot", access::UserRole::Viewer);
    let (socket, _) =
        WebSocket::open(broker.ws, &format!("Host: {}\r\nAuthorization: Bearer {token}\r\n", broker.ws)).unwrap();
    TestStompClient::new_over(socket).send_connect();
    let mut nobody = TestStompClient::new_over(WebSocket::at(broker.ws));
    nobody.send("CONNECT\naccept-version:1.2\nhost:desk\n\n");
    assert!(nobody.frame().starts_with("ERROR\nmessage:say who you are"));
}

#[test]
fn prices_over_a_websocket_keep_to_the_rate_and_the_newest_comes_in_the_end() {
    let broker = BrokerHarness::open();
    let mut client = TestStompClient::new_over(WebSocket::at(broker.ws));
    client.send_connect();
    client.subscribe(1, "/topic/tick.*", "");
    let begun = std::time::Instant::now();
    for sequence in 1..=2_000 {
        broker.publish(sequence, tick(sequence % 20, i64::try_from(sequence).unwrap()));
    }
    let (mut heard, mut newest) = (0.0, std::collections::BTreeSet::new());
    while newest.len() < 20 {
        let frame = client.frame();
        heard += 1.0;
        let sequence = frame.lines().find_map(|line| line.strip_prefix("sequence:")).unwrap().parse::<u64>().unwrap();
        newest.extend(Some(sequence).filter(|sequence| *sequence > 1_980));
    }
    // Only the upper bound: how fast the machine is does not matter.
    assert!(heard <= 50.0 * begun.elapsed().as_secs_f64() + 50.0, "{heard} messages");
}
