//! Session settings from the parsed file. Unreadable values are errors with their line.

use super::names::{KNOWN, WITHOUT_EFFECT, nearest};
use super::raw::{RawEntry, RawSection, RawSettings};
use super::session_settings::{
    CancelOnDisconnect, ConnectionType, DictionaryChoice, DropCopyRule, FixCredentials, FixSettings, GatewaySettings,
    MarketDataLimits, SessionId, SessionSettings,
};
use crate::codec::FRACTION_DIGITS_MAX;
use crate::dictionary::CheckRules;
use crate::schedule::{Schedule, SessionHours, Weekdays};
use crate::settings::raw::SettingsError;
use crate::tag::Tag;
use jiff::civil::{self, Weekday};
use jiff::tz::TimeZone;
use std::collections::BTreeSet;
use std::str::FromStr;

pub(super) fn settings(raw: &RawSettings) -> Result<FixSettings, Vec<SettingsError>> {
    let mut errors = BTreeSet::new();
    let warnings = check_names(raw, &mut errors);
    let mut sessions = Vec::new();
    let mut ids = BTreeSet::new();
    for section in &raw.sessions {
        let mut reader = SessionReader { section, default: &raw.default, errors: &mut errors };
        let Some(session) = reader.session() else { continue };
        if !ids.insert(session.id.clone()) {
            let reason = format!("the session {} stands here a second time", session.id);
            errors.insert(SettingsError::new(section.line, reason));
        }
        sessions.push(session);
    }
    check_copied_sessions(raw, &sessions, &mut errors);
    if raw.sessions.is_empty() {
        errors.insert(SettingsError::new(1, "there is no [SESSION]".to_owned()));
    }
    if errors.is_empty() { Ok(FixSettings { sessions, warnings }) } else { Err(errors.into_iter().collect()) }
}

/// A drop copy of a client that is not there would be silent for ever.
fn check_copied_sessions(raw: &RawSettings, sessions: &[SessionSettings], errors: &mut BTreeSet<SettingsError>) {
    let trades = |name: &str| {
        let of_client = |session: &&SessionSettings| session.id.target == name;
        sessions
            .iter()
            .filter(of_client)
            .any(|session| session.gateway.drop_copy.is_none() && session.gateway.market_data.is_none())
    };
    for section in std::iter::once(&raw.default).chain(&raw.sessions) {
        for entry in section.entries.iter().filter(|entry| entry.name == "DropCopySessions") {
            for name in split_list(&entry.value).filter(|name| !trades(name)) {
                let reason = format!("DropCopySessions: {name} is no TargetCompID of a session that trades");
                errors.insert(SettingsError::new(entry.line, reason));
            }
        }
    }
}

fn split_list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|one| !one.is_empty())
}

fn check_names(raw: &RawSettings, errors: &mut BTreeSet<SettingsError>) -> Vec<String> {
    let mut warnings = Vec::new();
    let sections = std::iter::once(&raw.default).chain(&raw.sessions);
    for RawEntry { line, name, .. } in sections.flat_map(|section| &section.entries) {
        if WITHOUT_EFFECT.contains(&name.as_str()) {
            warnings.push(format!("line {line}: {name} is a QuickFIX setting that has no effect here"));
        } else if !KNOWN.contains(&name.as_str()) {
            let hint = nearest(name).map(|name| format!("; did you mean {name}?")).unwrap_or_default();
            errors.insert(SettingsError::new(*line, format!("{name} is no setting{hint}")));
        }
    }
    warnings
}

/// Reads one session; values absent in its section come from the defaults.
struct SessionReader<'a> {
    section: &'a RawSection,
    default: &'a RawSection,
    errors: &'a mut BTreeSet<SettingsError>,
}

impl<'a> SessionReader<'a> {
    /// Every part is read, so that all errors of the file are found at once.
    fn session(&mut self) -> Option<SessionSettings> {
        let (id, role, schedule) = (self.id(), self.role(), self.schedule());
        let max_latency = self.number("MaxLatency", 120);
        Some(SessionSettings {
            heartbeat_seconds: self.heartbeat(role.as_ref()),
            dictionary: self.dictionary(),
            validate_incoming: self.flag("ValidateIncomingMessage", true),
            check: self.check_rules(),
            reset_on_logon: self.flag("ResetOnLogon", false),
            reset_on_logout: self.flag("ResetOnLogout", false),
            reset_on_disconnect: self.flag("ResetOnDisconnect", false),
            refresh_on_logon: self.flag("RefreshOnLogon", false),
            max_latency_seconds: self.flag("CheckLatency", true).then_some(max_latency),
            check_comp_ids: self.flag("CheckCompID", true),
            logon_timeout_seconds: self.number("LogonTimeout", 10),
            logout_timeout_seconds: self.number("LogoutTimeout", 2),
            resend_request_chunk: Some(self.number("ResendRequestChunkSize", 0)).filter(|size| *size > 0),
            persist_messages: self.flag("PersistMessages", true),
            send_next_expected: self.sends_next_expected(),
            follows_reset: false,
            requests_after_reset: false,
            send_last_processed: self.flag("EnableLastMsgSeqNumProcessed", false),
            fraction_digits: self.fraction_digits(),
            test_request_id: self.text("TestReqID").unwrap_or("TEST").to_owned(),
            use_tls: self.flag("SocketUseSSL", false),
            message_log: self.text("FileLogPath").map(str::to_owned),
            gateway: self.gateway(),
            id: id?,
            role: role?,
            schedule: schedule?,
        })
    }

    fn id(&mut self) -> Option<SessionId> {
        let begin_string = self.required("BeginString");
        let (sender, target) = (self.required("SenderCompID"), self.required("TargetCompID"));
        if let Some(version) = begin_string.filter(|version| *version != "FIX.4.4") {
            self.invalid::<()>("BeginString", &format!("{version} is not spoken here, FIX.4.4 is"));
        }
        Some(SessionId {
            begin_string: begin_string?.to_owned(),
            sender: sender?.to_owned(),
            target: target?.to_owned(),
        })
    }

    fn role(&mut self) -> Option<ConnectionType> {
        match self.required("ConnectionType")? {
            "acceptor" => {
                let port = self.text("SocketAcceptPort").and_then(|text| self.parsed("SocketAcceptPort", text));
                let (allowed_addresses, credentials) = (self.addresses(), self.credentials());
                Some(ConnectionType::Acceptor { port, allowed_addresses, credentials })
            }
            "initiator" => {
                let (host, port) = (self.required("SocketConnectHost"), self.required_number("SocketConnectPort"));
                let reconnect_seconds = self.number("ReconnectInterval", 30);
                let credentials = self.credentials();
                Some(ConnectionType::Initiator { host: host?.to_owned(), port: port?, reconnect_seconds, credentials })
            }
            other => self.invalid("ConnectionType", &format!("{other} is neither acceptor nor initiator")),
        }
    }

    fn addresses(&mut self) -> Vec<std::net::IpAddr> {
        let list = self.text("AllowedRemoteAddresses").unwrap_or_default();
        let addresses: Result<_, _> = split_list(list).map(str::parse).collect();
        addresses.unwrap_or_else(|_| {
            self.invalid::<()>("AllowedRemoteAddresses", &format!("{list} is no list of addresses"));
            Vec::new()
        })
    }

    fn credentials(&mut self) -> Option<FixCredentials> {
        match (self.text("Username"), self.text("Password")) {
            (None, None) => None,
            (Some(username), Some(password)) => {
                Some(FixCredentials { username: username.to_owned(), password: password.to_owned() })
            }
            (username, _) => {
                let given = if username.is_some() { "Username" } else { "Password" };
                self.invalid(given, "Username and Password belong together")
            }
        }
    }

    fn heartbeat(&mut self, role: Option<&ConnectionType>) -> u32 {
        match role {
            Some(ConnectionType::Initiator { .. }) => self.required_number("HeartBtInt").unwrap_or_default(),
            _ => self.number("HeartBtInt", 30),
        }
    }

    fn schedule(&mut self) -> Option<Schedule> {
        let zone = self.zone();
        if self.flag("NonStopSession", false) {
            return Some(Schedule::non_stop());
        }
        let (start, end): (Option<civil::Time>, _) = (self.time("StartTime"), self.time("EndTime"));
        let (start_day, end_day) = (self.weekday("StartDay"), self.weekday("EndDay"));
        let (start, end) = (start?, end?);
        let hours = match (start_day, end_day) {
            (None, None) if start == end => SessionHours::WholeDays,
            (None, None) => SessionHours::Daily { start, end },
            (Some(first), Some(last)) => SessionHours::Weekly { start: (first, start), end: (last, end) },
            (first, _) => {
                let given = if first.is_some() { "StartDay" } else { "EndDay" };
                return self.invalid(given, "StartDay and EndDay belong together");
            }
        };
        let schedule = Schedule::new(hours, zone?);
        let Some(days) = self.text("Weekdays") else { return Some(schedule) };
        let days = self.weekdays(days)?;
        schedule.on_weekdays(days).map_err(|reason| self.invalid::<()>("Weekdays", &reason)).ok()
    }

    /// Days between commas, in English, whole or abbreviated.
    fn weekdays(&mut self, list: &str) -> Option<Weekdays> {
        let days: Option<Vec<Weekday>> = split_list(list).map(weekday_of).collect();
        let days = days.filter(|days| !days.is_empty()).map(Weekdays::from_iter);
        days.or_else(|| self.invalid("Weekdays", &format!("{list} is no list of days of the week")))
    }

    fn zone(&mut self) -> Option<TimeZone> {
        let Some(name) = self.text("TimeZone") else { return Some(TimeZone::UTC) };
        TimeZone::get(name).ok().or_else(|| self.invalid("TimeZone", &format!("{name} is no time zone")))
    }

    fn time(&mut self, name: &'static str) -> Option<civil::Time> {
        let text = self.required(name)?;
        let time = civil::Time::strptime("%H:%M:%S", text).ok();
        time.or_else(|| self.invalid(name, &format!("{text} is no time of day such as 08:30:00")))
    }

    fn weekday(&mut self, name: &'static str) -> Option<Weekday> {
        let text = self.text(name)?;
        weekday_of(text).or_else(|| self.invalid(name, &format!("{text} is no day of the week")))
    }

    fn dictionary(&mut self) -> DictionaryChoice {
        let used = self.flag("UseDataDictionary", true);
        match self.text("DataDictionary") {
            _ if !used => DictionaryChoice::None,
            Some(path) => DictionaryChoice::File(path.to_owned()),
            None => DictionaryChoice::BuiltIn,
        }
    }

    fn check_rules(&mut self) -> CheckRules {
        let allow_unknown = self.flag("AllowUnknownMessageFields", false);
        CheckRules {
            fields_out_of_order: self.flag("ValidateFieldsOutOfOrder", true),
            fields_have_values: self.flag("ValidateFieldsHaveValues", true),
            user_defined_fields: self.flag("ValidateUserDefinedFields", true),
            allow_unknown_fields: self.flag("AllowUnknownMsgFields", allow_unknown),
            group_fields_out_of_order: self.flag("ValidateUnorderedGroupFields", true),
        }
    }

    /// One name in QuickFIX (C++), another in QuickFIX/J.
    fn sends_next_expected(&mut self) -> bool {
        let in_java = self.flag("EnableNextExpectedMsgSeqNum", false);
        self.flag("SendNextExpectedMsgSeqNum", in_java)
    }

    /// Digits in QuickFIX (C++), words in QuickFIX/J.
    fn fraction_digits(&mut self) -> u8 {
        let default = if self.flag("MillisecondsInTimeStamp", true) { 3 } else { 0 };
        let words = match self.text("TimeStampPrecision") {
            None => default,
            Some("SECONDS") => 0,
            Some("MILLIS") => 3,
            Some("MICROS") => 6,
            Some("NANOS") => 9,
            Some(other) => self
                .invalid("TimeStampPrecision", &format!("{other} is not SECONDS, MILLIS, MICROS or NANOS"))
                .unwrap_or(0),
        };
        let digits = self.number("TimestampPrecision", words);
        if digits > FRACTION_DIGITS_MAX {
            self.invalid::<()>("TimestampPrecision", &format!("{digits} is more than {FRACTION_DIGITS_MAX} digits"));
        }
        digits
    }

    fn gateway(&mut self) -> GatewaySettings {
        GatewaySettings {
            valid_order_types: self.order_types(),
            standard_exec_types: self.flag("StandardExecTypes", false),
            extended_messages: self.flag("ExtendedMessages", false),
            cancel_on_disconnect: self.cancel_on_disconnect(),
            cancel_on_disconnect_grace_seconds: self.number("CancelOnDisconnectGrace", 0),
            ignore_user_defined_fields: !self.flag("ValidateUserDefinedFields", true),
            max_orders_per_second: self.rate("MaxOrdersPerSecond", ORDERS_PER_SECOND),
            max_cancels_per_second: self.rate("MaxCancelsPerSecond", CANCELS_PER_SECOND),
            pass_through: self.pass_through(),
            drop_copy: self.drop_copy(),
            market_data: self.market_data(),
        }
    }

    /// Prices are not stored, so there is nothing to go on with after a Logon.
    fn market_data(&mut self) -> Option<MarketDataLimits> {
        let is_wanted = self.flag("MarketData", false);
        let limits = MarketDataLimits { max_subscriptions: self.number("MaxSubscriptions", SUBSCRIPTIONS) };
        if !is_wanted {
            let is_set = self.section.entries.iter().any(|entry| entry.name == "MaxSubscriptions");
            return if is_set { self.invalid("MaxSubscriptions", "has no effect without MarketData=Y") } else { None };
        }
        if !self.flag("ResetOnLogon", false) {
            self.invalid::<()>("MarketData", "needs ResetOnLogon=Y, because prices are not stored");
        }
        if self.flag("DropCopy", false) {
            self.invalid::<()>("MarketData", "is beside DropCopy, and they are for two sessions");
        }
        Some(limits)
    }

    fn pass_through(&mut self) -> Vec<Tag> {
        let list = self.list("PassThroughTags");
        let tags: Option<BTreeSet<Tag>> = list.iter().map(|tag| tag.parse().ok().filter(|tag| *tag > 0)).collect();
        let tags = tags.filter(|tags| tags.len() == list.len());
        let tags = tags.or_else(|| self.invalid("PassThroughTags", "is no list of tags, each once"));
        tags.unwrap_or_default().into_iter().collect()
    }

    /// A list without `DropCopy=Y` was meant to have an effect.
    fn drop_copy(&mut self) -> Option<DropCopyRule> {
        let is_wanted = self.flag("DropCopy", false);
        let rule = DropCopyRule {
            accounts: self.list("DropCopyAccounts"),
            sessions: self.list("DropCopySessions"),
            sources: self.list("DropCopySources"),
            strategies: self.list("DropCopyStrategies"),
        };
        if let Some(other) = rule.sources.iter().find(|one| !DropCopyRule::SOURCES.contains(&one.as_str())) {
            let known = DropCopyRule::SOURCES.join(", ");
            self.invalid::<()>("DropCopySources", &format!("{other} is not of {known}"));
        }
        let lists = ["DropCopyAccounts", "DropCopySessions", "DropCopySources", "DropCopyStrategies"];
        let own = lists.into_iter().find(|name| self.section.entries.iter().any(|entry| entry.name == **name));
        if let Some(name) = own.filter(|_| !is_wanted) {
            return self.invalid(name, "has no effect without DropCopy=Y");
        }
        is_wanted.then_some(rule)
    }

    /// Values between commas; a list that is given has one.
    fn list(&mut self, name: &'static str) -> Vec<String> {
        let Some(text) = self.text(name) else { return Vec::new() };
        let values: Vec<String> = split_list(text).map(str::to_owned).collect();
        if values.is_empty() {
            self.invalid::<()>(name, "is empty; leave it out for all");
        }
        values
    }

    /// 0: no throttle.
    fn rate(&mut self, name: &'static str, usual: u32) -> Option<u32> {
        Some(self.number(name, usual)).filter(|rate| *rate > 0)
    }

    fn order_types(&mut self) -> Vec<char> {
        let list = self.text("ValidOrderTypes").unwrap_or("1,2,3,4");
        let types: Option<Vec<char>> = list.split(',').map(|one| one.trim().parse().ok()).collect();
        let known = types.filter(|types| types.iter().all(|one| ('1'..='4').contains(one)));
        known.or_else(|| self.invalid("ValidOrderTypes", &format!("{list} is not of 1,2,3,4"))).unwrap_or_default()
    }

    fn cancel_on_disconnect(&mut self) -> CancelOnDisconnect {
        match self.text("CancelOnDisconnect") {
            None | Some("N") => CancelOnDisconnect::Off,
            Some("DAY") => CancelOnDisconnect::DayOrders,
            Some("ALL") => CancelOnDisconnect::All,
            Some(other) => self
                .invalid("CancelOnDisconnect", &format!("{other} is not N, DAY or ALL"))
                .unwrap_or(CancelOnDisconnect::Off),
        }
    }

    fn flag(&mut self, name: &'static str, default: bool) -> bool {
        match self.text(name) {
            None => default,
            Some("Y") => true,
            Some("N") => false,
            Some(other) => self.invalid(name, &format!("{other} is neither Y nor N")).unwrap_or(default),
        }
    }

    fn number<T: FromStr>(&mut self, name: &'static str, default: T) -> T {
        match self.text(name) {
            None => default,
            Some(text) => self.parsed(name, text).unwrap_or(default),
        }
    }

    fn required_number<T: FromStr>(&mut self, name: &'static str) -> Option<T> {
        let text = self.required(name)?;
        self.parsed(name, text)
    }

    fn parsed<T: FromStr>(&mut self, name: &'static str, text: &str) -> Option<T> {
        text.parse().ok().or_else(|| self.invalid(name, &format!("{text} is no such number")))
    }

    fn required(&mut self, name: &'static str) -> Option<&'a str> {
        let value = self.text(name).filter(|value| !value.is_empty());
        value.or_else(|| self.add_error(self.section.line, format!("{name} is missing")))
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.entry(name).map(|entry| entry.value.as_str())
    }

    fn entry(&self, name: &str) -> Option<&'a RawEntry> {
        let within = |section: &'a RawSection| section.entries.iter().rfind(|entry| entry.name == name);
        within(self.section).or_else(|| within(self.default))
    }

    fn invalid<T>(&mut self, name: &'static str, reason: &str) -> Option<T> {
        let line = self.entry(name).map_or(self.section.line, |entry| entry.line);
        self.add_error(line, format!("{name}: {reason}"))
    }

    fn add_error<T>(&mut self, line: usize, reason: String) -> Option<T> {
        self.errors.insert(SettingsError::new(line, reason));
        None
    }
}

/// New orders and replaces per second of a session by default: far more than manual trading, far fewer than a program
/// out of control.
const ORDERS_PER_SECOND: u32 = 1_000;
/// Cancels per second by default: far above any normal rate, so that a client can always close its orders.
const CANCELS_PER_SECOND: u32 = 10_000;
/// Securities whose prices a market data session may have by default.
const SUBSCRIPTIONS: u32 = 1_000;

/// Of a name in English, whole or abbreviated to two letters or more.
fn weekday_of(name: &str) -> Option<Weekday> {
    let name = name.to_ascii_lowercase();
    let of = |day: &&(&str, Weekday)| name.len() >= 2 && day.0.starts_with(&name);
    WEEKDAYS.iter().find(of).map(|(_, day)| *day)
}

const WEEKDAYS: [(&str, Weekday); 7] = [
    ("sunday", Weekday::Sunday),
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
];
