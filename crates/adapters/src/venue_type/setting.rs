//! Settings of a venue: the table of a type, and the checked values of one venue.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use domain::{Decimal, Text};

/// Separator of list items outside of a TOML file.
pub const BETWEEN_ITEMS: char = ',';

/// A setting of a venue type.
#[derive(Debug, Clone, Copy)]
pub struct VenueSetting {
    /// Its key in the configuration, in camel case.
    pub key: &'static str,
    /// The value where none is given; blank: none.
    pub default: &'static str,
    /// A venue without it is refused.
    pub is_required: bool,
    /// The form of its values.
    pub form: SettingForm,
    /// What it does.
    pub doc: &'static str,
}

impl VenueSetting {
    /// A setting that may be absent.
    pub const fn optional(key: &'static str, form: SettingForm, default: &'static str, doc: &'static str) -> Self {
        Self { key, default, is_required: false, form, doc }
    }

    /// A setting without which a venue is refused.
    pub const fn required(key: &'static str, form: SettingForm, doc: &'static str) -> Self {
        Self { key, default: "", is_required: true, form, doc }
    }

    /// Whether a text is a value of it.
    pub fn check(&self, text: &str) -> Result<(), String> {
        match (text.is_empty(), self.is_required) {
            (true, false) => Ok(()),
            (true, true) => Err(format!("is missing; it must be {}", self.form)),
            (false, _) => self.form.check(text),
        }
    }
}

/// What every venue has, of whatever type.
pub const COMMON_SETTINGS: &[VenueSetting] = &[
    VenueSetting::required(
        "name",
        SettingForm::Text("a name of capital letters and digits"),
        "Name of the venue; it is the session qualifier of its accounts.",
    ),
    VenueSetting::required("type", SettingForm::Text("a type of venue"), "Type of the venue."),
    VenueSetting::optional(
        "account",
        SettingForm::Text("the name of an account"),
        "",
        "Account that trades at this venue. It is created where it is absent. Blank: the accounts that reference data has for \
         the venue, or else one with the venue's name.",
    ),
];

/// The form of a setting's values.
#[derive(Debug, Clone, Copy)]
pub enum SettingForm {
    /// True or false.
    Switch,
    /// A whole number between two limits.
    Whole(i64, i64),
    /// A decimal between two whole numbers.
    Decimal(i64, i64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any text; this describes it.
    Text(&'static str),
    /// A text that this function understands; the text describes it.
    Parsed(&'static str, fn(&str) -> bool),
    /// Several of the same form.
    List(&'static SettingForm),
}

impl SettingForm {
    /// Whether a text has this form.
    pub fn check(&self, text: &str) -> Result<(), String> {
        let fits = match self {
            Self::Switch => text.parse::<bool>().is_ok(),
            Self::Whole(min, max) => text.parse().is_ok_and(|number| (*min..=*max).contains(&number)),
            Self::Decimal(min, max) => Decimal::from_str_exact(text)
                .is_ok_and(|number| (Decimal::from(*min)..=Decimal::from(*max)).contains(&number)),
            Self::Choice(words) => words.contains(&text),
            Self::Text(_) => true,
            Self::Parsed(_, understands) => understands(text),
            Self::List(item) => return items(text).try_for_each(|text| item.check(text)),
        };
        if fits { Ok(()) } else { Err(format!("'{text}' is not {self}")) }
    }
}

/// As it stands behind "is not": `a whole number from 1 to 9`.
impl fmt::Display for SettingForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch => f.write_str("true or false"),
            Self::Whole(min, max) => write!(f, "a whole number from {min} to {max}"),
            Self::Decimal(min, max) => write!(f, "a decimal from {min} to {max}"),
            Self::Choice(words) => write!(f, "one of {}", words.join(", ")),
            Self::Text(shape) | Self::Parsed(shape, _) => f.write_str(shape),
            Self::List(item) => write!(f, "a list, each {item}"),
        }
    }
}

fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(BETWEEN_ITEMS).map(str::trim).filter(|item| !item.is_empty())
}

/// What is wrong with a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingProblem {
    /// The setting.
    pub key: &'static str,
    /// Why its value cannot be used.
    pub reason: String,
}

/// The checked settings of one venue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VenueSettings {
    name: Text,
    texts: BTreeMap<&'static str, String>,
}

impl VenueSettings {
    /// Checks the texts of a venue by the tables of its type; what is absent has its default.
    pub fn read(
        name: &str,
        tables: &[&'static [VenueSetting]],
        written: &BTreeMap<&str, &str>,
    ) -> Result<Self, Vec<SettingProblem>> {
        let (mut texts, mut problems) = (BTreeMap::new(), Vec::new());
        for setting in tables.iter().copied().flatten() {
            let text = written.get(setting.key).copied().unwrap_or(setting.default);
            match setting.check(text) {
                Ok(()) => drop(texts.insert(setting.key, text.to_owned())),
                Err(reason) => problems.push(SettingProblem { key: setting.key, reason }),
            }
        }
        if problems.is_empty() { Ok(Self { name: name.into(), texts }) } else { Err(problems) }
    }

    /// The name of the venue.
    pub fn name(&self) -> &Text {
        &self.name
    }

    /// The text of a setting, where it is not blank.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.texts.get(key).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// The value of a setting, where it is not blank. Its form has checked that it can be parsed.
    pub fn value<T: FromStr>(&self, key: &str) -> Option<T> {
        self.text(key).and_then(|text| text.parse().ok())
    }

    /// Whether a switch is on.
    pub fn is_on(&self, key: &str) -> bool {
        self.value(key) == Some(true)
    }

    /// The items of a list.
    pub fn list<T: FromStr>(&self, key: &str) -> Vec<T> {
        self.text(key).into_iter().flat_map(items).filter_map(|item| item.parse().ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[VenueSetting] = &[
        VenueSetting::required("environment", SettingForm::Choice(&["live", "testnet"]), "Where."),
        VenueSetting::optional("paper", SettingForm::Switch, "false", "Whether fills are simulated."),
        VenueSetting::optional("port", SettingForm::Whole(1, 65_535), "", "The port."),
        VenueSetting::optional("fee", SettingForm::Decimal(-10, 10), "0.1", "The fee."),
        VenueSetting::optional("ports", SettingForm::List(&SettingForm::Whole(1, 9)), "1,2", "Ports."),
    ];

    fn read(written: &[(&'static str, &'static str)]) -> Result<VenueSettings, String> {
        let told = |problems: Vec<SettingProblem>| {
            let lines: Vec<_> = problems.iter().map(|problem| format!("{}: {}", problem.key, problem.reason)).collect();
            lines.join("\n")
        };
        VenueSettings::read("MAIN", &[TABLE], &written.iter().copied().collect()).map_err(told)
    }

    #[test]
    fn what_is_absent_has_its_default() {
        let settings = read(&[("environment", "live"), ("port", "80"), ("ports", "3, 4,")]).unwrap();
        assert_eq!((&**settings.name(), settings.text("environment")), ("MAIN", Some("live")));
        assert_eq!((settings.is_on("paper"), settings.value::<u16>("port")), (false, Some(80)));
        assert_eq!(settings.value::<Decimal>("fee"), Some(Decimal::new(1, 1)));
        assert_eq!(settings.list::<u8>("ports"), [3, 4]);
        assert_eq!(read(&[("environment", "live")]).unwrap().value::<u16>("port"), None);
    }

    #[test]
    fn every_value_of_another_form_is_told() {
        let refused = read(&[("paper", "yes"), ("port", "0"), ("fee", "11"), ("ports", "1,x")]).unwrap_err();
        let expected = "environment: is missing; it must be one of live, testnet\npaper: 'yes' is not true or false\n\
                        port: '0' is not a whole number from 1 to 65535\nfee: '11' is not a decimal from -10 to 10\n\
                        ports: 'x' is not a whole number from 1 to 9";
        assert_eq!(refused, expected);
        assert_eq!(read(&[("environment", "mars")]).unwrap_err(), "environment: 'mars' is not one of live, testnet");
    }
}
