use access::Role;

use crate::client::Client;
use crate::desk::{Desk, PASSWORD};

fn answer(desk: &Desk, login: &str) -> String {
    let mut client = Client::dial(desk.tcp);
    client.send(&format!("CONNECT\naccept-version:1.2\nhost:desk\n{login}\n"));
    let frame = client.frame();
    frame.lines().take(2).collect::<Vec<_>>().join(" ")
}

#[test]
fn without_users_nobody_on_this_machine_needs_to_say_who_he_is() {
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
