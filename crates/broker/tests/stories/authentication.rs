use access::UserRole;

use crate::harness::{BrokerHarness, PASSWORD};
use crate::test_client::TestStompClient;
use crate::websocket::WebSocket;

const NO_LONGER: &str = "ERROR\nmessage:credentials were revoked or changed; log in again\n";

/// An open connection with this login and no subscriptions.
fn join(broker: &BrokerHarness, login: &str) -> TestStompClient<std::net::TcpStream> {
    let mut client = TestStompClient::open(broker.tcp);
    client.send(&format!("CONNECT\naccept-version:1.2\nhost:desk\n{login}\n"));
    assert!(client.frame().starts_with("CONNECTED"));
    client
}

fn answer(broker: &BrokerHarness, login: &str) -> String {
    let mut client = TestStompClient::open(broker.tcp);
    client.send(&format!("CONNECT\naccept-version:1.2\nhost:desk\n{login}\n"));
    let frame = client.frame();
    frame.lines().take(2).collect::<Vec<_>>().join(" ")
}

#[test]
fn without_users_a_client_on_this_machine_needs_no_login() {
    let broker = BrokerHarness::open();
    assert_eq!(answer(&broker, ""), "CONNECTED version:1.2");
    assert_eq!(answer(&broker, "login:\npasscode:\n"), "CONNECTED version:1.2");
}

#[test]
fn with_users_a_login_or_a_token_is_needed_and_refusals_are_written_down() {
    let broker = BrokerHarness::open();
    broker.add("anna", UserRole::Viewer);
    let wrong = "the user, the password or the token is wrong, or the token has expired";
    assert_eq!(answer(&broker, &format!("login:anna\npasscode:{PASSWORD}\n")), "CONNECTED version:1.2");
    assert_eq!(answer(&broker, "login:anna\npasscode:wrong horse\n"), format!("ERROR message:{wrong}"));
    let needed = "ERROR message:say who you are\\c a user with a password, or a token";
    assert_eq!(answer(&broker, ""), needed);
    let token = broker.token("robot", UserRole::Trader);
    assert_eq!(answer(&broker, &format!("login:anything\npasscode:{token}\n")), "CONNECTED version:1.2");
    assert_eq!(
        broker.audit(),
        [
            format!("anna: CONNECT => wrong-credentials ({wrong})"),
            "nobody: CONNECT => login-needed (say who you are: a user with a password, or a token)".into(),
        ]
    );
}

#[test]
fn a_viewer_listens_and_a_strategy_speaks_in_its_own_name() {
    let broker = BrokerHarness::open();
    broker.add("anna", UserRole::Viewer);
    let send = |name: &str, role, destination: &str| {
        let token = broker.token(name, role);
        let mut client = TestStompClient::open(broker.tcp);
        client.send(&format!("CONNECT\naccept-version:1.2\nhost:desk\nlogin:x\npasscode:{token}\n\n"));
        assert!(client.frame().starts_with("CONNECTED"));
        client.subscribe(1, "/topic/>", "");
        client.send(&format!("SEND\ndestination:{destination}\nreceipt:r\n\n{{}}"));
        let frames = [client.frame(), client.frame()];
        frames.into_iter().find(|frame| !frame.starts_with("MESSAGE")).unwrap().lines().next().unwrap().to_owned()
    };
    let own = "/topic/generic-event.MOMENTUM.x";
    assert_eq!(send("robot", UserRole::Strategy("MOMENTUM".into()), own), "RECEIPT");
    let (mut viewer, token) = (TestStompClient::open(broker.tcp), broker.token("eye", UserRole::Viewer));
    viewer.send(&format!("CONNECT\naccept-version:1.2\nhost:desk\nlogin:x\npasscode:{token}\n\n"));
    assert!(viewer.frame().starts_with("CONNECTED"));
    viewer.send(&format!("SEND\ndestination:{own}\n\n{{}}"));
    assert!(viewer.read_to_end().starts_with("ERROR\nmessage:you may not send to this destination\n"));
    assert_eq!(broker.audit(), [format!("eye: STOMP => forbidden-destination (SEND {own})")]);
}

#[test]
fn a_token_that_is_revoked_takes_its_connections_along_and_no_others() {
    let broker = BrokerHarness::open();
    broker.add("anna", UserRole::Viewer);
    let (gone, kept) = (broker.token("gone", UserRole::Trader), broker.token("kept", UserRole::Trader));
    let mut revoked = join(&broker, &format!("passcode:{gone}\n"));
    let mut others =
        [join(&broker, &format!("passcode:{kept}\n")), join(&broker, &format!("login:anna\npasscode:{PASSWORD}\n"))];
    broker.revoke("gone");
    let words = revoked.read_to_end();
    assert!(words.starts_with(NO_LONGER), "{words}");
    for other in &mut others {
        other.subscribe(1, "/topic/log-event.>", "");
    }
}

#[test]
fn a_token_that_expires_takes_its_connections_along() {
    let broker = BrokerHarness::open();
    let mut client = join(&broker, &format!("passcode:{}\n", broker.token("short", UserRole::Trader)));
    broker.advance_hours(25);
    assert!(client.read_to_end().starts_with(NO_LONGER));
}

#[test]
fn a_removed_or_changed_user_is_disconnected() {
    let broker = BrokerHarness::open();
    broker.add("boss", UserRole::Admin);
    for change in
        [|broker: &BrokerHarness| broker.remove("anna"), |broker: &BrokerHarness| broker.add("anna", UserRole::Viewer)]
    {
        broker.add("anna", UserRole::Trader);
        let mut client = join(&broker, &format!("login:anna\npasscode:{PASSWORD}\n"));
        change(&broker);
        assert!(client.read_to_end().starts_with(NO_LONGER));
    }
}

#[test]
fn an_anonymous_client_needs_a_login_once_there_is_a_user() {
    let broker = BrokerHarness::open();
    let mut nobody = join(&broker, "");
    broker.add("anna", UserRole::Viewer);
    assert!(nobody.read_to_end().starts_with(NO_LONGER));
}

#[test]
fn a_session_opens_a_websocket_by_its_cookie_and_closes_it_when_it_ends() {
    use access::ExposeSecret;

    let broker = BrokerHarness::open();
    broker.add("anna", UserRole::Viewer);
    let leave: [fn(&BrokerHarness, &access::SecretString); 2] =
        [|broker, session| broker.log_out(session), |broker, _| broker.advance_hours(1)];
    for end in leave {
        let session = broker.log_in("anna", UserRole::Viewer);
        let cookie = format!("Cookie: theme=dark; rialto-session={}\r\n", session.expose_secret());
        let mut client = TestStompClient::new_over(WebSocket::with(broker.ws, &cookie));
        client.send_connect();
        end(&broker, &session);
        assert!(client.read_to_end().starts_with(NO_LONGER));
        assert_eq!(client.stream.closed_with, Some(1008));
        let mut again = TestStompClient::new_over(WebSocket::with(broker.ws, &cookie));
        again.send("CONNECT\naccept-version:1.2\nhost:desk\n\n");
        let words = again.read_to_end();
        assert!(words.starts_with("ERROR\nmessage:the session has ended"), "{words}");
        assert_eq!(again.stream.closed_with, Some(1008));
    }
}
