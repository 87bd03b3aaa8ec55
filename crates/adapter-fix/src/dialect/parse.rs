//! A dialect from its file. Every problem is found, not only the first.

use domain::report::RefusesRepeatedIds;
use fix::tag::Tag;
use fix::{Schedule, Weekdays};
use toml::de::DeTable;

use super::added_fields::{fields, groups, messages};
use super::codes::{ExecKind, OrdState};
use super::logon_rules::{header, logon};
use super::market_rules::market_data;
use super::model::{
    Dialect, DialectProof, ExecIdRule, ExecutionRules, FixVersion, IdFormat, IdRules, OmittedFields, OrderNaming,
    OrderRules, PropertyFields, SessionRules, SideCodes, Throttle, TifCodes, TypeCodes,
};
use super::platform_tags::{check_added, check_pass_through};
use super::recovery_rules::{check_lost_executions, recovery};
use super::section::{DialectError, Problems, Section, TAG_MAX, table};
use super::security_rules::{security_list, security_status};

/// Fields that say again what the venue knows of an order.
const OMITTABLE_FIELDS: [Tag; 3] = [38, 54, 60];
/// Messages that have them.
const ORDER_REQUESTS: [&str; 3] = ["D", "F", "G"];

impl Dialect {
    /// Reads a file; all that is wrong with it is told at once.
    pub fn parse(text: &str) -> Result<Self, DialectError> {
        dialect(text)
    }
}

fn dialect(text: &str) -> Result<Dialect, DialectError> {
    let mut problems = Problems::new(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let place = error.span().map_or(0, |span| span.start);
        problems.add(place, "", error.message().trim().replace('\n', "; "));
    }
    // After a syntax error a key may be read as part of another.
    let dialect = if errors.is_empty() { read(&Section::root(table.get_ref()), &mut problems) } else { None };
    problems.into_result(dialect)
}

fn read(root: &Section<'_>, problems: &mut Problems<'_>) -> Option<Dialect> {
    root.check_keys(
        &[
            "name",
            "description",
            "version",
            "proof",
            "session",
            "logon",
            "ids",
            "orders",
            "fields",
            "groups",
            "omitted",
            "executions",
            "recovery",
            "throttle",
            "marketData",
            "securityList",
            "securityStatus",
        ],
        problems,
    );
    let versions = FixVersion::ALL.map(|version| (version.name(), version));
    let proofs = [DialectProof::Program, DialectProof::Lab, DialectProof::Unproven].map(|proof| (proof.name(), proof));
    root.required_text("version", problems)?;
    let version = root.choice("version", &versions, problems)?;
    let session = session(&root.section("session", problems), problems);
    let recovery = recovery(&root.section("recovery", problems), version, &session, problems);
    let orders_section = root.section("orders", problems);
    let (fields, groups) = (fields(root, problems), groups(root, problems));
    let added = [fields.clone(), groups.clone()].concat();
    let dialect = Dialect {
        proof: root.choice("proof", &proofs, problems).unwrap_or(DialectProof::Unproven),
        description: root.text("description", problems).unwrap_or_default(),
        version,
        session,
        logon: logon(&root.section("logon", problems), version != FixVersion::Fix42, problems),
        ids: ids(&root.section("ids", problems), problems),
        omitted: omitted(root, problems),
        executions: executions(&root.section("executions", problems), version, problems),
        recovery,
        throttle: throttle(&root.section("throttle", problems), problems),
        market_data: market_data(&root.section("marketData", problems), &added, problems),
        security_list: security_list(&root.section("securityList", problems), (version, &added), problems),
        fields,
        groups,
        security_status: security_status(root, &added, problems),
        orders: orders(&orders_section, problems)?,
        name: root.required_text("name", problems)?,
    };
    check_lost_executions(&dialect, &root.section("recovery", problems), problems);
    check_added(&dialect, root, problems);
    check_pass_through(&dialect, &orders_section, problems);
    Some(dialect)
}

fn session(section: &Section<'_>, problems: &mut Problems<'_>) -> SessionRules {
    section.check_keys(
        &[
            "heartbeatSeconds",
            "resetOnLogon",
            "timeDigits",
            "senderCompIds",
            "start",
            "end",
            "zone",
            "weekdays",
            "header",
        ],
        problems,
    );
    SessionRules {
        heartbeat_seconds: section.whole("heartbeatSeconds", 1..=3_600, problems).unwrap_or(30),
        reset_on_logon: section.flag("resetOnLogon", false, problems),
        time_digits: section.whole("timeDigits", 0..=9, problems).unwrap_or(3),
        sender_comp_ids: section.whole("senderCompIds", 1..=10, problems).unwrap_or(1),
        schedule: schedule(section, problems),
        header: header(section, problems),
    }
}

/// Without hours the venue is always there.
fn schedule(section: &Section<'_>, problems: &mut Problems<'_>) -> Schedule {
    let days = section.texts("weekdays", problems);
    let mut text = |key| section.text(key, problems);
    let (start, end, zone) = (text("start"), text("end"), text("zone"));
    let (Some(start), Some(end)) = (&start, &end) else {
        if start.is_some() || end.is_some() || zone.is_some() || days.is_some() {
            section.refuse::<()>("start", "start and end belong together", problems);
        }
        return Schedule::non_stop();
    };
    let hours = Schedule::parse(start, end, zone.as_deref().unwrap_or("UTC"));
    let hours = hours.map_err(|reason| section.refuse::<()>("start", &reason, problems));
    let Ok(hours) = hours else { return Schedule::non_stop() };
    let Some(days) = days else { return hours };
    let open = Weekdays::parse(days.iter().map(String::as_str)).and_then(|days| hours.on_weekdays(days));
    open.unwrap_or_else(|reason| {
        section.refuse::<()>("weekdays", &reason, problems);
        Schedule::non_stop()
    })
}

fn ids(section: &Section<'_>, problems: &mut Problems<'_>) -> IdRules {
    section.check_keys(&["lengthMax", "separator", "refusesRepeated", "format", "naming"], problems);
    let words = [
        ("never", RefusesRepeatedIds::Never),
        ("while-open", RefusesRepeatedIds::WhileOpen),
        ("day", RefusesRepeatedIds::Day),
        ("forever", RefusesRepeatedIds::Forever),
    ];
    let separators = [("-", '-'), ("_", '_'), (".", '.'), (":", ':'), ("x", 'x')];
    IdRules {
        length_max: section.whole("lengthMax", 8..=255, problems).unwrap_or(36),
        separator: section.choice("separator", &separators, problems).unwrap_or('-'),
        refuses_repeated: section.choice("refusesRepeated", &words, problems).unwrap_or_default(),
        format: section
            .choice("format", &[("text", IdFormat::Text), ("uuid", IdFormat::Uuid)], problems)
            .unwrap_or(IdFormat::Text),
        naming: section
            .choice("naming", &[("chain", OrderNaming::Chain), ("venue", OrderNaming::Venue)], problems)
            .unwrap_or(OrderNaming::Chain),
    }
}

fn orders(section: &Section<'_>, problems: &mut Problems<'_>) -> Option<OrderRules> {
    section.check_keys(
        &[
            "cancel",
            "replace",
            "account",
            "expires",
            "marketTimeInForce",
            "sides",
            "types",
            "timesInForce",
            "properties",
            "passThrough",
        ],
        problems,
    );
    let types = types(&section.section("types", problems), problems);
    let times_in_force = times_in_force(&section.section("timesInForce", problems), problems);
    if types == TypeCodes::default() {
        section.refuse::<()>("types", "offers no type of order", problems);
    }
    if times_in_force == TifCodes::default() {
        section.refuse::<()>("timesInForce", "offers no time in force", problems);
    }
    let sides = section.section("sides", problems);
    sides.check_keys(&["buy", "sell"], problems);
    let side = |key, code: &str, problems: &mut Problems<'_>| sides.text(key, problems).unwrap_or(code.to_owned());
    let (cancel, expires) = (section.flag("cancel", true, problems), section.flag("expires", false, problems));
    if !cancel && !expires && (times_in_force.day.is_some() || times_in_force.gtd.is_some()) {
        let reason = "is needed where day or gtd is offered and cancel is false: nobody could end such an order";
        section.refuse::<()>("expires", reason, problems);
    }
    Some(OrderRules {
        cancel,
        replace: section.flag("replace", true, problems),
        account: section.flag("account", false, problems),
        expires,
        market_tif: section.flag("marketTimeInForce", true, problems),
        sides: SideCodes { buy: side("buy", "1", problems), sell: side("sell", "2", problems) },
        types,
        times_in_force,
        properties: properties(&section.section("properties", problems), problems),
        pass_through: section.tags("passThrough", problems).unwrap_or_default(),
    })
}

fn types(section: &Section<'_>, problems: &mut Problems<'_>) -> TypeCodes {
    section.check_keys(&["market", "limit", "stop", "stopLimit"], problems);
    check_distinct(section, problems);
    let mut code = |key| section.text(key, problems);
    TypeCodes { market: code("market"), limit: code("limit"), stop: code("stop"), stop_limit: code("stopLimit") }
}

fn times_in_force(section: &Section<'_>, problems: &mut Problems<'_>) -> TifCodes {
    section.check_keys(&["day", "gtc", "ato", "ioc", "fok", "gtd", "atc"], problems);
    check_distinct(section, problems);
    let mut code = |key| section.text(key, problems);
    TifCodes {
        day: code("day"),
        gtc: code("gtc"),
        ato: code("ato"),
        ioc: code("ioc"),
        fok: code("fok"),
        gtd: code("gtd"),
        atc: code("atc"),
    }
}

/// Two keys with one code could not be told apart in a report.
fn check_distinct(section: &Section<'_>, problems: &mut Problems<'_>) {
    let mut seen: Vec<(String, String)> = Vec::new();
    for (key, _) in section.keys() {
        // Values that are no texts are noted when they are read.
        let Some(code) = section.text(&key, &mut Problems::new("")) else { continue };
        match seen.iter().find(|(_, known)| *known == code) {
            Some((other, _)) => drop(section.refuse::<()>(&key, &format!("has the code of {other}"), problems)),
            None => seen.push((key, code)),
        }
    }
}

fn properties(section: &Section<'_>, problems: &mut Problems<'_>) -> PropertyFields {
    section.check_keys(&["postOnly", "displayQuantity", "minQuantity"], problems);
    let post_only = section.section("postOnly", problems);
    post_only.check_keys(&["tag", "value"], problems);
    let mut tag_of = |key| {
        let field = section.section(key, problems);
        field.check_keys(&["tag"], problems);
        if field.is_present() { field.required_whole("tag", 1..=TAG_MAX, problems) } else { None }
    };
    let (display_quantity, min_quantity) = (tag_of("displayQuantity"), tag_of("minQuantity"));
    let post_only = if post_only.is_present() {
        post_only.required_whole("tag", 1..=TAG_MAX, problems).zip(post_only.required_text("value", problems))
    } else {
        None
    };
    PropertyFields { post_only, display_quantity, min_quantity }
}

fn omitted(root: &Section<'_>, problems: &mut Problems<'_>) -> Vec<OmittedFields> {
    let mut all = Vec::new();
    for section in root.sections("omitted", problems) {
        section.check_keys(&["messages", "tags"], problems);
        let tags = section.tags("tags", problems).unwrap_or_default();
        if tags.is_empty() {
            section.refuse::<()>("tags", "names no field", problems);
        }
        for tag in tags.iter().filter(|tag| !OMITTABLE_FIELDS.contains(tag)) {
            section.refuse::<()>(
                "tags",
                &format!("{tag} is no field that can be left out (known: 38, 54, 60)"),
                problems,
            );
        }
        let messages = messages(&section, problems).unwrap_or_else(|| ORDER_REQUESTS.map(str::to_owned).to_vec());
        if messages.iter().any(|message| !ORDER_REQUESTS.contains(&message.as_str())) {
            section.refuse::<()>("messages", "fields are left out of D, F and G only", problems);
        }
        if tags.contains(&38) && messages != ["F"] {
            section.refuse::<()>("tags", "38 can be left out of F only: name it in `messages`", problems);
        }
        all.push(OmittedFields { messages, tags });
    }
    all
}

fn executions(section: &Section<'_>, version: FixVersion, problems: &mut Problems<'_>) -> ExecutionRules {
    section.check_keys(
        &[
            "execIdTag",
            "execIds",
            "execIdsOfSymbol",
            "leavesQty",
            "statusConfirms",
            "commission",
            "miscFees",
            "fillGroup",
            "execTypes",
            "statuses",
        ],
        problems,
    );
    let is_old = version == FixVersion::Fix42;
    let of_version = if is_old { &[][..] } else { ExecKind::SINCE_43 };
    let exec_ids = [("unique", ExecIdRule::Unique), ("repeat", ExecIdRule::Repeat)];
    ExecutionRules {
        has_exec_trans_type: is_old,
        exec_id_tag: section.whole("execIdTag", 1..=TAG_MAX, problems).unwrap_or(17),
        exec_ids: section.choice("execIds", &exec_ids, problems).unwrap_or(ExecIdRule::Unique),
        exec_ids_of_symbol: section.flag("execIdsOfSymbol", false, problems),
        leaves_qty: section.flag("leavesQty", true, problems),
        status_confirms: section.flag("statusConfirms", false, problems),
        commission: section.flag("commission", false, problems),
        misc_fees: section.flag("miscFees", false, problems),
        fill_group: section.flag("fillGroup", false, problems),
        exec_types: table(section, "execTypes", ExecKind::WORDS, &[ExecKind::STANDARD, of_version].concat(), problems),
        statuses: table(section, "statuses", OrdState::WORDS, OrdState::STANDARD, problems),
    }
}

fn throttle(section: &Section<'_>, problems: &mut Problems<'_>) -> Option<Throttle> {
    section.check_keys(&["messages", "seconds"], problems);
    if !section.is_present() {
        return None;
    }
    let missing = |key: &'static str| !section.keys().iter().any(|(known, _)| known == key);
    for key in ["messages", "seconds"].into_iter().filter(|key| missing(key)) {
        section.refuse::<()>(key, "is missing", problems);
    }
    let messages = section.whole("messages", 1..=1_000_000, problems);
    messages
        .zip(section.whole("seconds", 1..=86_400, problems))
        .map(|(messages, seconds)| Throttle { messages, seconds })
}
