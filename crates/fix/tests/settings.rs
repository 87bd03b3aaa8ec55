//! Session files: the two of the specification, and all that can be wrong with one.

#![allow(clippy::unwrap_used, reason = "a test that can't go on may say so")]

use fix::{
    CancelOnDisconnect, ConnectionType, DictionaryChoice, DropCopyRule, FixCredentials, FixSettings, SessionHours,
    Weekdays,
};

const ACCEPTOR: &str = "
# the acceptor of the specification
[DEFAULT]
ConnectionType=acceptor
StartTime=00:00:00
EndTime=00:00:00
HeartBtInt=30
BeginString=FIX.4.4
UseDataDictionary=Y
ValidateIncomingMessage=N
ResetOnLogon=Y
RefreshOnLogon=Y
ValidOrderTypes=1,2,3,4
SocketAcceptPort=9880
FileStorePath=store
FileLogPath=log

[SESSION]
SenderCompID=RIALTO
TargetCompID=DESK1

[SESSION]
SenderCompID=RIALTO
TargetCompID=DESK2
ResetOnLogon=N
CancelOnDisconnect=DAY
CancelOnDisconnectGrace=5
MaxOrdersPerSecond=100
Username=desk2
Password=secret
AllowedRemoteAddresses=127.0.0.1, ::1
";

const INITIATOR: &str = "
[DEFAULT]
ConnectionType=initiator
SocketConnectHost=broker.example
SocketConnectPort=4001
StartTime=00:00:00
EndTime=00:00:00
HeartBtInt=300
ReconnectInterval=5
BeginString=FIX.4.4
[SESSION]
SenderCompID=DESK1
TargetCompID=RIALTO
";

fn complaints(text: &str) -> String {
    match FixSettings::parse(text) {
        Ok(settings) => format!("{} sessions", settings.sessions.len()),
        Err(errors) => errors.iter().map(|error| format!("{error}\n")).collect(),
    }
}

#[test]
fn the_acceptor_of_the_specification_is_understood() {
    let settings = FixSettings::parse(ACCEPTOR).unwrap();
    assert_eq!(settings.warnings, ["line 15: FileStorePath is a QuickFIX setting that has no effect here"]);
    let [one, two] = &settings.sessions[..] else { panic!("two sessions") };
    assert_eq!(one.id.to_string(), "FIX.4.4:RIALTO->DESK1");
    assert_eq!(one.role, ConnectionType::Acceptor { port: Some(9880), allowed_addresses: vec![], credentials: None });
    assert_eq!(one.schedule.hours, SessionHours::WholeDays);
    assert_eq!((one.heartbeat_seconds, one.validate_incoming), (30, false));
    assert_eq!((one.reset_on_logon, two.reset_on_logon), (true, false));
    assert_eq!(one.dictionary, DictionaryChoice::BuiltIn);
    assert_eq!(one.message_log.as_deref(), Some("log"));
    assert_eq!(one.gateway.valid_order_types, ['1', '2', '3', '4']);
    assert_eq!(two.gateway.cancel_on_disconnect, CancelOnDisconnect::DayOrders);
    assert_eq!((two.gateway.cancel_on_disconnect_grace_seconds, two.gateway.max_orders_per_second), (5, Some(100)));
    let rates = |session: &fix::SessionSettings| {
        (session.gateway.max_orders_per_second, session.gateway.max_cancels_per_second)
    };
    assert_eq!([rates(one), rates(two)], [(Some(1_000), Some(10_000)), (Some(100), Some(10_000))]);
    let credentials = FixCredentials { username: "desk2".to_owned(), password: "secret".to_owned() };
    assert!(!format!("{two:?}").contains("secret"), "a password is not printed");
    let allowed_addresses = vec!["127.0.0.1".parse().unwrap(), "::1".parse().unwrap()];
    assert_eq!(
        two.role,
        ConnectionType::Acceptor { port: Some(9880), allowed_addresses, credentials: Some(credentials) }
    );
}

#[test]
fn the_initiator_of_the_specification_is_understood() {
    let settings = FixSettings::parse(INITIATOR).unwrap();
    let session = &settings.sessions[0];
    let host = "broker.example".to_owned();
    assert_eq!(session.role, ConnectionType::Initiator { host, port: 4001, reconnect_seconds: 5, credentials: None });
    assert_eq!(session.heartbeat_seconds, 300);
    assert_eq!(session.max_latency_seconds, Some(120));
}

#[test]
fn a_setting_of_quickfix_that_we_do_not_need_is_a_warning() {
    let text = ACCEPTOR.replace("FileStorePath=store", "SocketTcpNoDelay=Y");
    assert_eq!(
        FixSettings::parse(&text).unwrap().warnings,
        ["line 15: SocketTcpNoDelay is a QuickFIX setting that has no effect here"]
    );
}

#[test]
fn all_errors_are_reported_at_once() {
    let text = "
[DEFAULT]
ConnectionType=acceptor
HeartBtInt=half a minute
BeginString=FIX.4.2
StartTime=8:30
EndTime=17:00:00
ResetOnLogin=Y
[SESSION]
SenderCompID=RIALTO
SocketAcceptPort=99999
ResetOnLogon=yes
TimeZone=Europe/Nowhere
TotallyDifferent=1
";
    assert_eq!(
        complaints(text),
        "line 4: HeartBtInt: half a minute is no such number\n\
         line 5: BeginString: FIX.4.2 is not spoken here, FIX.4.4 is\n\
         line 6: StartTime: 8:30 is no time of day such as 08:30:00\n\
         line 8: ResetOnLogin is no setting; did you mean ResetOnLogon?\n\
         line 9: TargetCompID is missing\n\
         line 11: SocketAcceptPort: 99999 is no such number\n\
         line 12: ResetOnLogon: yes is neither Y nor N\n\
         line 13: TimeZone: Europe/Nowhere is no time zone\n\
         line 14: TotallyDifferent is no setting\n"
    );
}

#[test]
fn what_belongs_together_must_stand_together() {
    assert_eq!(
        complaints(&(ACCEPTOR.to_owned() + "StartDay=mon\n")),
        "line 32: StartDay: StartDay and EndDay belong together\n"
    );
    assert_eq!(
        complaints(&ACCEPTOR.replace("Password=secret", "")),
        "line 29: Username: Username and Password belong together\n"
    );
    assert_eq!(
        complaints(&ACCEPTOR.replace("DESK2", "DESK1")),
        "line 22: the session FIX.4.4:RIALTO->DESK1 stands here a second time\n"
    );
    assert_eq!(complaints("[DEFAULT]\nHeartBtInt=30\n"), "line 1: there is no [SESSION]\n");
    assert_eq!(complaints("HeartBtInt=30\n"), "line 1: `HeartBtInt=30` is no [DEFAULT], [SESSION] or Name=value\n");
}

#[test]
fn a_session_of_the_day_may_be_open_on_some_days_alone() {
    let with = |lines: &str| format!("{ACCEPTOR}{lines}\n");
    let days =
        |list: &str| FixSettings::parse(&with(&format!("Weekdays={list}"))).unwrap().sessions[1].schedule.weekdays;
    let work = Weekdays::parse(["MON", "TUE", "WED", "THU", "FRI"]).unwrap();
    assert_eq!([days("mon,tue,wed,thu,fri"), days("Monday, Tuesday, We, Thursday, FRIDAY")], [work, work]);
    assert_eq!(FixSettings::parse(ACCEPTOR).unwrap().sessions[1].schedule.weekdays, Weekdays::ALL);
    for wrong in ["mon-fri", "m", ""] {
        let problem = format!("line 32: Weekdays: {wrong} is no list of days of the week\n");
        assert_eq!(complaints(&with(&format!("Weekdays={wrong}"))), problem);
    }
    assert_eq!(
        complaints(&with("StartDay=mon\nEndDay=fri\nWeekdays=mon")),
        "line 34: Weekdays: days of the week are for a session of the day\n"
    );
}

#[test]
fn a_name_in_another_case_is_not_the_name() {
    let text = ACCEPTOR.replace("HeartBtInt=30", "heartbtint=30");
    assert_eq!(complaints(&text), "line 7: heartbtint is no setting; did you mean HeartBtInt?\n");
}

const PRICES: &str = "
[SESSION]
SenderCompID=RIALTO
TargetCompID=PRICES
ResetOnLogon=Y
MarketData=Y
MaxSubscriptions=50
";

#[test]
fn a_market_data_session_begins_at_one_and_has_a_limit() {
    let settings = FixSettings::parse(&format!("{ACCEPTOR}{PRICES}")).unwrap();
    let limits = |session: &fix::SessionSettings| session.gateway.market_data.map(|limits| limits.max_subscriptions);
    assert_eq!(settings.sessions.iter().map(limits).collect::<Vec<_>>(), [None, None, Some(50)]);
    let usual = FixSettings::parse(&format!("{ACCEPTOR}{}", PRICES.replace("MaxSubscriptions=50\n", ""))).unwrap();
    assert_eq!(limits(&usual.sessions[2]), Some(1_000));
    let wrong = PRICES.replace("ResetOnLogon=Y", "ResetOnLogon=N\nDropCopy=Y");
    assert_eq!(
        complaints(&format!("{ACCEPTOR}{wrong}")),
        "line 38: MarketData: is beside DropCopy, and they are for two sessions\n\
         line 38: MarketData: needs ResetOnLogon=Y, because prices are not stored\n"
    );
    assert_eq!(
        complaints(&format!("{ACCEPTOR}{}", PRICES.replace("MarketData=Y", "MarketData=N"))),
        "line 38: MaxSubscriptions: has no effect without MarketData=Y\n"
    );
    let copied = COPIES.replace("DESK1", "PRICES");
    assert_eq!(
        complaints(&format!("{ACCEPTOR}{PRICES}{copied}")),
        "line 45: DropCopySessions: PRICES is no TargetCompID of a session that trades\n"
    );
}

const COPIES: &str = "
[SESSION]
SenderCompID=RIALTO
TargetCompID=BACKOFFICE
DropCopy=Y
DropCopyAccounts=1, MAIN
DropCopySessions=DESK1
DropCopySources=FIX,REST
";

#[test]
fn a_drop_copy_has_lists_of_what_it_is_told() {
    let settings = FixSettings::parse(&format!("{ACCEPTOR}{COPIES}")).unwrap();
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let rule = DropCopyRule {
        accounts: texts(&["1", "MAIN"]),
        sessions: texts(&["DESK1"]),
        sources: texts(&["FIX", "REST"]),
        strategies: vec![],
    };
    let rules: Vec<_> = settings.sessions.iter().map(|session| session.gateway.drop_copy.clone()).collect();
    assert_eq!(rules, [None, None, Some(rule)]);
    let wrong = COPIES.replace("FIX,REST", "FIX,FAX").replace("DESK1", "DESK1,BACKOFFICE").replace("1, MAIN", " , ");
    assert_eq!(
        complaints(&format!("{ACCEPTOR}{wrong}")),
        "line 37: DropCopyAccounts: is empty; leave it out for all\n\
         line 38: DropCopySessions: BACKOFFICE is no TargetCompID of a session that trades\n\
         line 39: DropCopySources: FAX is not of FIX, REST, UI, STRATEGY, PLATFORM, EXTERNAL\n"
    );
    assert_eq!(
        complaints(&format!("{ACCEPTOR}{}", COPIES.replace("DropCopy=Y", "DropCopy=N"))),
        "line 37: DropCopyAccounts: has no effect without DropCopy=Y\n"
    );
}

#[test]
fn tags_that_pass_through_are_a_list_of_numbers() {
    let tags = |list: &str| FixSettings::parse(&format!("{ACCEPTOR}PassThroughTags={list}\n"));
    assert_eq!(tags("5002, 5001,528").unwrap().sessions[1].gateway.pass_through, [528, 5001, 5002]);
    for wrong in ["5001,five", "0", "-3", "5001,5001"] {
        let problems: Vec<_> = tags(wrong).unwrap_err().iter().map(ToString::to_string).collect();
        assert_eq!(problems, ["line 32: PassThroughTags: is no list of tags, each once"], "{wrong}");
    }
}
