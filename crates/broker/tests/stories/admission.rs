use access::Role;

use crate::client::Client;
use crate::desk::{Desk, PASSWORD};
use crate::websocket::WebSocket;

const NO_LONGER: &str = "ERROR\nmessage:credentials were revoked or changed; log in again\n";

/// An open connection with this login and no subscriptions.
fn join(desk: &Desk, login: &str) -> Client<std::net::TcpStream> {
    let mut client = Client::dial(desk.tcp);
    client.send(&format!("CONNECT\naccept-version:1.2\nhost:desk\n{login}\n"));
    assert!(client.frame().starts_with("CONNECTED"));
    client
}

fn answer(desk: &Desk, login: &str) -> String {
    let mut client = Client::dial(desk.tcp);
    client.send(&format!("CONNECT\naccept-version:1.2\nhost:desk\n{login}\n"));
    let frame = client.frame();
    frame.lines().take(2).collect::<Vec<_>>().join(" ")
}

#[test]
fn without_users_a_client_on_this_machine_needs_no_login() {
    let desk = Desk::open();
    assert_eq!(answer(&desk, ""), "CONNECTED version:1.2");
    assert_eq!(answer(&desk, "login:\npasscode:\n"), "CONNECTED version:1.2");
}

#[test]
fn with_users_a_login_or_a_token_is_needed_and_refusals_are_written_down() {
    let desk = Desk::open();
    desk.add("anna", Role::Viewer);
    let wrong = "the user, the password or the token is wrong, or the token has expired";
    assert_eq!(answer(&desk, &format!("login:anna\npasscode:{PASSWORD}\n")), "CONNECTED version:1.2");
    assert_eq!(answer(&desk, "login:anna\npasscode:wrong horse\n"), format!("ERROR message:{wrong}"));
    let needed = "ERROR message:say who you are\\c a user with a password, or a token";
    assert_eq!(answer(&desk, ""), needed);
    let token = desk.token("robot", Role::Trader);
    assert_eq!(answer(&desk, &format!("login:anything\npasscode:{token}\n")), "CONNECTED version:1.2");
    assert_eq!(
        desk.audit(),
        [
            format!("anna: CONNECT => wrong-credentials ({wrong})"),
            "nobody: CONNECT => login-needed (say who you are: a user with a password, or a token)".into(),
        ]
    );
}

#[test]
fn a_viewer_listens_and_a_strategy_speaks_in_its_own_name() {
    let desk = Desk::open();
    desk.add("anna", Role::Viewer);
    let send = |name: &str, role, destination: &str| {
        let token = desk.token(name, role);
        let mut client = Client::dial(desk.tcp);
        client.send(&format!("CONNECT\naccept-version:1.2\nhost:desk\nlogin:x\npasscode:{token}\n\n"));
        assert!(client.frame().starts_with("CONNECTED"));
        client.subscribe(1, "/topic/>", "");
        client.send(&format!("SEND\ndestination:{destination}\nreceipt:r\n\n{{}}"));
        let frames = [client.frame(), client.frame()];
        frames.into_iter().find(|frame| !frame.starts_with("MESSAGE")).unwrap().lines().next().unwrap().to_owned()
    };
    let own = "/topic/generic-event.MOMENTUM.x";
    assert_eq!(send("robot", Role::Strategy("MOMENTUM".into()), own), "RECEIPT");
    let (mut viewer, token) = (Client::dial(desk.tcp), desk.token("eye", Role::Viewer));
    viewer.send(&format!("CONNECT\naccept-version:1.2\nhost:desk\nlogin:x\npasscode:{token}\n\n"));
    assert!(viewer.frame().starts_with("CONNECTED"));
    viewer.send(&format!("SEND\ndestination:{own}\n\n{{}}"));
    assert!(viewer.rest().starts_with("ERROR\nmessage:you may not send to this destination\n"));
    assert_eq!(desk.audit(), [format!("eye: STOMP => forbidden-destination (SEND {own})")]);
}

#[test]
fn a_token_that_is_revoked_takes_its_connections_along_and_no_others() {
    let desk = Desk::open();
    desk.add("anna", Role::Viewer);
    let (gone, kept) = (desk.token("gone", Role::Trader), desk.token("kept", Role::Trader));
    let mut revoked = join(&desk, &format!("passcode:{gone}\n"));
    let mut others =
        [join(&desk, &format!("passcode:{kept}\n")), join(&desk, &format!("login:anna\npasscode:{PASSWORD}\n"))];
    desk.revoke("gone");
    let words = revoked.rest();
    assert!(words.starts_with(NO_LONGER), "{words}");
    for other in &mut others {
        other.subscribe(1, "/topic/log-event.>", "");
    }
}

#[test]
fn a_token_that_expires_takes_its_connections_along() {
    let desk = Desk::open();
    let mut client = join(&desk, &format!("passcode:{}\n", desk.token("short", Role::Trader)));
    desk.pass_hours(25);
    assert!(client.rest().starts_with(NO_LONGER));
}

#[test]
fn a_removed_or_changed_user_is_disconnected() {
    let desk = Desk::open();
    desk.add("boss", Role::Admin);
    for change in [|desk: &Desk| desk.remove("anna"), |desk: &Desk| desk.add("anna", Role::Viewer)] {
        desk.add("anna", Role::Trader);
        let mut client = join(&desk, &format!("login:anna\npasscode:{PASSWORD}\n"));
        change(&desk);
        assert!(client.rest().starts_with(NO_LONGER));
    }
}

#[test]
fn an_anonymous_client_needs_a_login_once_there_is_a_user() {
    let desk = Desk::open();
    let mut nobody = join(&desk, "");
    desk.add("anna", Role::Viewer);
    assert!(nobody.rest().starts_with(NO_LONGER));
}

#[test]
fn a_session_opens_a_websocket_by_its_cookie_and_closes_it_when_it_ends() {
    use access::ExposeSecret;

    let desk = Desk::open();
    desk.add("anna", Role::Viewer);
    let leave: [fn(&Desk, &access::SecretString); 2] =
        [|desk, session| desk.log_out(session), |desk, _| desk.pass_hours(1)];
    for end in leave {
        let session = desk.log_in("anna", Role::Viewer);
        let cookie = format!("Cookie: theme=dark; rialto-session={}\r\n", session.expose_secret());
        let mut client = Client::over(WebSocket::with(desk.ws, &cookie));
        client.greet();
        end(&desk, &session);
        assert!(client.rest().starts_with(NO_LONGER));
        assert_eq!(client.stream.closed_with, Some(1008));
        let mut again = Client::over(WebSocket::with(desk.ws, &cookie));
        again.send("CONNECT\naccept-version:1.2\nhost:desk\n\n");
        let words = again.rest();
        assert!(words.starts_with("ERROR\nmessage:the session has ended"), "{words}");
        assert_eq!(again.stream.closed_with, Some(1008));
    }
}
