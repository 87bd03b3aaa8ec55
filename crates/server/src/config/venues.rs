//! Configured venues: `[[venues]]` in a file, `venues.NAME.key` in all other sources.

use std::collections::BTreeMap;
use std::fmt;

use adapters::SecondWay;
use adapters::venue_type::{
    OpenVenue, OpenVenueError, OrderMode, SettingProblem, VenueContext, VenueSetting, VenueSettings, VenueType,
};
use domain::AdapterName;

use super::effective::{ConfigLine, ConfigReader, VENUE_PREFIX};
use crate::config::keys::simulated_keys;
use crate::config::sources::entry::{ConfigEntry, ConfigOrigin};
use crate::input_problem::Problems;
use crate::venues::venue_types;
use wire::nearest::nearest;

/// Setting of a venue that names another one.
const RECOVERY_VENUE: &str = "recoveryVenue";

/// A venue with its checked settings.
#[derive(Clone)]
pub struct ConfiguredVenue {
    pub kind: &'static dyn VenueType,
    pub settings: VenueSettings,
    /// The venue that is asked about its orders (`recoveryVenue`); it trades nothing itself.
    recovery: Option<Box<ConfiguredVenue>>,
    origins: BTreeMap<&'static str, ConfigOrigin>,
}

impl ConfiguredVenue {
    /// The adapter type of its accounts.
    pub fn adapter_type(&self) -> String {
        self.kind.name().to_ascii_uppercase()
    }

    pub fn adapter(&self) -> AdapterName {
        AdapterName::new(&self.adapter_type(), Some(self.settings.name()))
    }

    /// Opens it, with the venue that it asks about its orders.
    pub(crate) fn open(&self, context: &VenueContext<'_>) -> Result<OpenVenue, OpenVenueError> {
        let opened = self.kind.open(&self.settings, context)?;
        let Some(recovery) = &self.recovery else { return Ok(opened) };
        let other = recovery.kind.open(&recovery.settings, context)?;
        let adapter = Box::new(SecondWay::new(opened.adapter, other.adapter));
        Ok(OpenVenue { adapter, ..opened })
    }

    /// Adds problems of settings, each with the place where it is written.
    pub fn add_problems(&self, found: Vec<SettingProblem>, problems: &mut Problems) {
        for SettingProblem { key, reason } in found {
            let place = self.origins.get(key).unwrap_or(&ConfigOrigin::Default);
            problems.add(place, format!("venues.{}.{key}: {reason}", self.settings.name()));
        }
    }
}

impl fmt::Debug for ConfiguredVenue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfiguredVenue").field("kind", &self.kind.name()).field("settings", &self.settings).finish()
    }
}

/// All venues, in the order in which they are first named.
pub(super) fn read(reader: &mut ConfigReader) -> Vec<ConfiguredVenue> {
    let mut entries = simulated_keys::entries(reader);
    entries.append(&mut reader.take_venue_entries());
    let mut sections: Vec<VenueSection<'_>> = Vec::new();
    for entry in &entries {
        match split(entry) {
            Ok((name, key)) => section(&mut sections, name).entries.push((key, entry)),
            Err(reason) => reader.add_problem(&entry.origin, reason),
        }
    }
    let venues = sections.iter().filter_map(|section| section.configure(reader)).collect();
    with_recovery(venues, reader)
}

fn environment(venue: &ConfiguredVenue) -> Option<&str> {
    venue.settings.text("environment")
}

/// Venues that others ask about their orders are part of these, and none by themselves.
fn with_recovery(venues: Vec<ConfiguredVenue>, reader: &mut ConfigReader) -> Vec<ConfiguredVenue> {
    let named = |venue: &ConfiguredVenue| venue.settings.text(RECOVERY_VENUE).map(str::to_owned);
    let asked: Vec<String> = venues.iter().filter_map(named).collect();
    let (others, mut venues): (Vec<_>, Vec<_>) =
        venues.into_iter().partition(|venue| asked.contains(&venue.settings.name().to_string()));
    for venue in &mut venues {
        let Some(name) = named(venue) else { continue };
        let other = others.iter().find(|other| **other.settings.name() == *name);
        let reason = match other {
            None => format!("there is no venue '{name}'"),
            Some(other) if other.kind.name() == venue.kind.name() => {
                format!("'{name}' is of type {} too, and must be another protocol", other.kind.name())
            }
            Some(other) if other.kind.order_mode(&other.settings) != OrderMode::Live => {
                format!("'{name}' does not reach the account of this venue: it is simulated or paper")
            }
            Some(other) if environment(other) != environment(venue) => {
                format!("'{name}' is of another environment than this venue")
            }
            Some(_) if asked.iter().filter(|asked| **asked == name).count() > 1 => {
                format!("'{name}' is the recovery venue of several venues, and can be that of one")
            }
            Some(other) => {
                venue.recovery = Some(Box::new(other.clone()));
                continue;
            }
        };
        venue.add_problems(vec![SettingProblem { key: RECOVERY_VENUE, reason }], &mut reader.problems);
    }
    venues
}

/// The name of the venue and the key of its setting.
fn split(entry: &ConfigEntry) -> Result<(&str, &str), String> {
    let rest = entry.name.strip_prefix(VENUE_PREFIX).unwrap_or(&entry.name);
    let (name, key) = rest
        .split_once('.')
        .ok_or_else(|| format!("unknown key '{}'; a setting of a venue is venues.NAME.key", entry.name))?;
    let is_legal = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let is_derived = matches!(entry.origin, ConfigOrigin::Derived { .. });
    if is_derived || (!name.is_empty() && name.bytes().all(is_legal)) {
        return Ok((name, key));
    }
    Err(format!("{}: the name of a venue has capital letters and digits only, not '{name}'", entry.name))
}

fn section<'s, 'a>(sections: &'s mut Vec<VenueSection<'a>>, name: &'a str) -> &'s mut VenueSection<'a> {
    let place = sections.iter().position(|section| section.name == name).unwrap_or(sections.len());
    if place == sections.len() {
        sections.push(VenueSection { name, entries: Vec::new() });
    }
    &mut sections[place]
}

/// All entries of one venue, unchecked.
struct VenueSection<'a> {
    name: &'a str,
    entries: Vec<(&'a str, &'a ConfigEntry)>,
}

impl VenueSection<'_> {
    fn configure(&self, reader: &mut ConfigReader) -> Option<ConfiguredVenue> {
        let kind = self.kind(reader)?;
        let tables = venue_types::tables(kind);
        let winners = self.winners(&tables, reader);
        let own_name = [("name", self.name)];
        let texts =
            own_name.into_iter().chain(winners.iter().map(|(key, entry)| (*key, entry.text.as_str()))).collect();
        let origins = winners.iter().map(|(key, entry)| (*key, entry.origin.clone())).collect();
        match VenueSettings::read(self.name, &tables, &texts) {
            Ok(settings) => {
                let venue = ConfiguredVenue { kind, settings, recovery: None, origins };
                venue.add_problems(kind.check(&venue.settings), &mut reader.problems);
                reader.add_lines(tables.into_iter().flatten().map(|setting| line(&venue, setting)));
                Some(venue)
            }
            Err(problems) => {
                for SettingProblem { key, reason } in problems {
                    let origin = origins.get(key).unwrap_or(&self.entries[0].1.origin);
                    reader.add_problem(origin, format!("venues.{}.{key}: {reason}", self.name));
                }
                None
            }
        }
    }

    fn kind(&self, reader: &mut ConfigReader) -> Option<&'static dyn VenueType> {
        let written = self.entries.iter().rfind(|(key, _)| *key == "type").map(|(_, entry)| *entry);
        let (origin, found) = match written {
            Some(entry) => (&entry.origin, venue_types::find(&entry.text)),
            None => {
                let known: Vec<&str> = venue_types::all().map(VenueType::name).collect();
                (&self.entries[0].1.origin, Err(format!("is missing; it must be one of {}", known.join(", "))))
            }
        };
        found.map_err(|reason| reader.add_problem(origin, format!("venues.{}.type: {reason}", self.name))).ok()
    }

    /// The entry that wins for each setting; unknown ones are problems.
    fn winners(
        &self,
        tables: &[&'static [VenueSetting]],
        reader: &mut ConfigReader,
    ) -> BTreeMap<&'static str, &ConfigEntry> {
        let settings = || tables.iter().copied().flatten();
        let mut winners = BTreeMap::new();
        for (key, entry) in &self.entries {
            match settings().find(|setting| setting.key == *key) {
                Some(setting) if setting.key == "name" && entry.text != self.name => {
                    reader.add_problem(&entry.origin, format!("{}: '{}' is not {}", entry.name, entry.text, self.name));
                }
                Some(setting) => drop(winners.insert(setting.key, *entry)),
                None => {
                    let meant = nearest(key, settings().map(|setting| setting.key));
                    let hint = meant.map(|key| format!("; did you mean 'venues.{}.{key}'?", self.name));
                    let reason = format!("unknown key '{}'{}", entry.name, hint.unwrap_or_default());
                    reader.add_problem(&entry.origin, reason);
                }
            }
        }
        winners
    }
}

fn line(venue: &ConfiguredVenue, setting: &'static VenueSetting) -> ConfigLine {
    let text = venue.settings.text(setting.key).unwrap_or_default().to_owned();
    let origin = venue.origins.get(setting.key).cloned().unwrap_or(ConfigOrigin::Default);
    ConfigLine::of_venue(venue.settings.name(), setting, text, origin)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::keys::Config;
    use crate::config::sources::raw::Sources;
    use crate::reference;

    fn sources(set: &[&str], environment: &[(&str, &str)]) -> Sources {
        Sources {
            profiles: vec!["inbound-fix".to_owned()],
            set: set.iter().map(|text| (*text).to_owned()).collect(),
            environment: environment.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect(),
            ..Sources::default()
        }
    }

    /// The settings of the venues that are not at their default, or what is wrong.
    fn shown(sources: &Sources) -> String {
        let config = match Config::load(sources) {
            Ok(config) => config,
            Err(problems) => return problems.to_string(),
        };
        let is_given = |origin: &str| origin != "default";
        let lines = config.effective.lines.iter().filter(|line| line.name.starts_with("venues."));
        let lines = lines.filter(|line| is_given(&line.origin.to_string()));
        lines.map(|line| format!("{} = {} ({})\n", line.name, line.shown(), line.origin)).collect()
    }

    fn shown_of_file(text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("desk.toml");
        std::fs::write(&path, text).unwrap();
        let sources = Sources { file: Some(path), ..Sources::default() };
        shown(&sources).replace(&format!("{}/", folder.path().display()), "")
    }

    #[test]
    fn a_venue_can_be_written_in_a_file_and_by_flags_and_by_the_environment() {
        let file = "[[venues]]\nname = \"MAIN\"\ntype = \"simulated\"\nfaults = [\"drop=3\", \"mute\"]\n\n\
                    [[venues]]\nname = \"SPARE\"\ntype = \"simulated\"\n";
        expect![[r#"
            venues.MAIN.name = MAIN (desk.toml line 2)
            venues.MAIN.type = simulated (desk.toml line 3)
            venues.MAIN.faults = drop=3,mute (desk.toml line 4)
            venues.SPARE.name = SPARE (desk.toml line 7)
            venues.SPARE.type = simulated (desk.toml line 8)
        "#]]
        .assert_eq(&shown_of_file(file));
        let flags = sources(&["venues.MAIN.type=simulated", "venues.MAIN.seed=7"], &[]);
        expect![[r#"
            venues.MAIN.type = simulated (--set)
            venues.MAIN.seed = 7 (--set)
        "#]]
        .assert_eq(&shown(&flags));
        let variables = [("RIALTO_VENUES_MAIN_TYPE", "simulated"), ("RIALTO_VENUES_MAIN_LATENCY_MICROS", "9")];
        expect![[r#"
            venues.MAIN.type = simulated (RIALTO_VENUES_MAIN_TYPE)
            venues.MAIN.latencyMicros = 9 (RIALTO_VENUES_MAIN_LATENCY_MICROS)
        "#]]
        .assert_eq(&shown(&sources(&[], &variables)));
    }

    #[test]
    fn the_demo_s_keys_are_settings_of_its_venues_and_a_setting_wins_over_them() {
        let demo = ["simulated.venues=ALPHA:RCM,BETA:*", "simulated.faults=BETA:drop=3,*:mute", "demo.seed=5"];
        let own = ["simulated.takerFeePercent=0.1", "venues.ALPHA.seed=6", "venues.ALPHA.exchange=SMX"];
        expect![[r#"
            venues.ALPHA.type = simulated (simulated.venues, --set)
            venues.ALPHA.exchange = SMX (--set)
            venues.ALPHA.latencyMicros = 50 (simulated.latencyMicros, default)
            venues.ALPHA.makerFeePercent =  (simulated.makerFeePercent, default)
            venues.ALPHA.takerFeePercent = 0.1 (simulated.takerFeePercent, --set)
            venues.ALPHA.activity = calm (demo.activity, default)
            venues.ALPHA.seed = 6 (--set)
            venues.ALPHA.faults = mute (simulated.faults, --set)
            venues.BETA.type = simulated (simulated.venues, --set)
            venues.BETA.exchange = * (simulated.venues, --set)
            venues.BETA.latencyMicros = 50 (simulated.latencyMicros, default)
            venues.BETA.makerFeePercent =  (simulated.makerFeePercent, default)
            venues.BETA.takerFeePercent = 0.1 (simulated.takerFeePercent, --set)
            venues.BETA.activity = calm (demo.activity, default)
            venues.BETA.seed = 5 (demo.seed, --set)
            venues.BETA.faults = drop=3,mute (simulated.faults, --set)
        "#]]
        .assert_eq(&shown(&sources(&[demo, own].concat(), &[])));
    }

    #[test]
    fn every_mistake_names_the_venue_and_the_key() {
        let mistakes = [
            "venues.MAIN.type=simulatd",
            "venues.MAIN.seed=1",
            "venues.SPARE.latencyMicros=50",
            "venues.Low.type=simulated",
            "venues.THIRD=1",
            "venues.FIFTH.type=simulated",
            "venues.FIFTH.latencyMicro=1",
            "venues.FIFTH.colour=red",
            "venues.FIFTH.latencyMicros=-1",
            "venues.FIFTH.faults=drop=3,explode",
            "venues.FIFTH.name=SIXTH",
            "simulated.faults=ALPHA:mute",
        ];
        expect![[r#"
            --set: simulated.faults: simulated.venues has no venue 'ALPHA'
            --set: venues.Low.type: the name of a venue has capital letters and digits only, not 'Low'
            --set: unknown key 'venues.THIRD'; a setting of a venue is venues.NAME.key
            --set: venues.MAIN.type: 'simulatd' is no type of venue; did you mean 'simulated'? (known: simulated, binance-spot, fix)
            --set: venues.SPARE.type: is missing; it must be one of simulated, binance-spot, fix
            --set: unknown key 'venues.FIFTH.latencyMicro'; did you mean 'venues.FIFTH.latencyMicros'?
            --set: unknown key 'venues.FIFTH.colour'
            --set: venues.FIFTH.name: 'SIXTH' is not FIFTH
            --set: venues.FIFTH.latencyMicros: '-1' is not a whole number from 0 to 60000000
            --set: venues.FIFTH.faults: 'explode' is not reject=n, delay=<ms>, duplicate=n, drop=n, reorder=n, lose=n, late=n, strangers=n, disconnect, cut=<ms>, mute, noTrading, noPrivate, noPrices, halfCanceled, halfPlaced or halfNothing"#]]
        .assert_eq(&shown(&sources(&mistakes, &[])));
    }

    #[test]
    fn paper_needs_no_key_and_no_leave_and_is_refused_where_it_is_not_offered() {
        let look = ["venues.LOOK.type=binance-spot", "venues.LOOK.environment=live", "venues.LOOK.paper=true"];
        let config = Config::load(&sources(&look, &[])).unwrap();
        assert!(!config.has_live_adapter());
        let broker =
            ["type=fix", "dialect=generic-44", "environment=testnet", "host=127.0.0.1", "port=5001", "tls=false"];
        let session = ["senderCompId=RIALTO", "targetCompId=VENUE", "paper=true"];
        let set: Vec<String> = broker.iter().chain(&session).map(|text| format!("venues.BROKER.{text}")).collect();
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let refused = "is not offered: a FIX venue sends prices to the sessions of an account alone";
        assert_eq!(shown(&sources(&set, &[])), format!("--set: venues.BROKER.paper: {refused}"));
    }

    #[test]
    fn every_mistake_in_a_file_has_its_line() {
        let file = "venues = [1, { type = \"simulated\" }, { name = 2 }]\n";
        expect![[r#"
            desk.toml line 1: venues: each venue is a table, [[venues]]
            desk.toml line 1: venues: a venue has no name
            desk.toml line 1: venues: the name of a venue is a text"#]]
        .assert_eq(&shown_of_file(file));
        let file = "[[venues]]\nname = \"A\"\n[[venues]]\nname = \"A\"\n[[venues]]\nname = \"B\"\nseeds = 1\n";
        expect![[r#"
            desk.toml line 3: venues.A: another venue has this name
            desk.toml line 2: venues.A.type: is missing; it must be one of simulated, binance-spot, fix
            desk.toml line 6: venues.B.type: is missing; it must be one of simulated, binance-spot, fix"#]]
        .assert_eq(&shown_of_file(file));
    }

    #[test]
    fn an_exchange_that_is_not_there_or_not_the_only_one_is_refused() {
        let checked = |exchange: &str| {
            let set = ["venues.MAIN.type=simulated", &format!("venues.MAIN.exchange={exchange}")];
            let config = Config::load(&sources(&set, &[])).unwrap();
            config
                .check_venues(&reference::demo().data)
                .map_or_else(|problems| problems.to_string(), |()| "good".into())
        };
        assert_eq!(checked("RCM"), "good");
        let unknown = "--set: venues.MAIN.exchange: no exchange has the code 'NYSE' (known: RCM, SMX)";
        assert_eq!(checked("NYSE"), unknown);
        let several = "--set: venues.MAIN.exchange: there are several exchanges: name one (known: RCM, SMX)";
        assert_eq!(checked("*"), several);
    }
}
