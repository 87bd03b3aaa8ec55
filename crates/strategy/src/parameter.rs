//! Strategy parameters: typed, with defaults and ranges. The configuration has texts; a strategy gets checked values.

use std::collections::BTreeMap;
use std::fmt;

use domain::{BarSize, Decimal, Price, Quantity, ReferenceData, SecurityId};

/// A parameter of a strategy.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// The key in the configuration.
    pub name: &'static str,
    /// One line for `rialto strategy list`.
    pub about: &'static str,
    /// Type and range.
    pub kind: ParameterKind,
    /// As in a configuration; a parameter without a default is required.
    pub default: Option<&'static str>,
}

/// Type and range of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum ParameterKind {
    /// A whole number.
    Integer {
        /// The smallest value.
        min: i64,
        /// The largest value.
        max: i64,
    },
    /// Exact; the bounds are written as decimals.
    Decimal {
        /// The smallest value.
        min: &'static str,
        /// The largest value.
        max: &'static str,
    },
    /// True or false.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// The symbol or the id of a security.
    Security,
    /// The size of bars, such as `MIN_1`.
    BarSize,
    /// Any text.
    Text,
}

impl Parameter {
    /// A whole number with its range.
    pub const fn integer(name: &'static str, default: &'static str, min: i64, max: i64, about: &'static str) -> Self {
        Self { name, about, kind: ParameterKind::Integer { min, max }, default: Some(default) }
    }

    /// An exact decimal with its range.
    pub const fn decimal(
        name: &'static str,
        default: &'static str,
        min: &'static str,
        max: &'static str,
        about: &'static str,
    ) -> Self {
        Self { name, about, kind: ParameterKind::Decimal { min, max }, default: Some(default) }
    }

    /// True or false.
    pub const fn flag(name: &'static str, default: &'static str, about: &'static str) -> Self {
        Self { name, about, kind: ParameterKind::Flag, default: Some(default) }
    }

    /// One of several words.
    pub const fn choice(
        name: &'static str,
        default: &'static str,
        of: &'static [&'static str],
        about: &'static str,
    ) -> Self {
        Self { name, about, kind: ParameterKind::Choice(of), default: Some(default) }
    }

    /// Required: there is no good default for a security.
    pub const fn security(name: &'static str, about: &'static str) -> Self {
        Self { name, about, kind: ParameterKind::Security, default: None }
    }

    /// The size of bars.
    pub const fn bar_size(name: &'static str, default: &'static str, about: &'static str) -> Self {
        Self { name, about, kind: ParameterKind::BarSize, default: Some(default) }
    }

    /// Any text; without a default it must be given.
    pub const fn text(name: &'static str, default: Option<&'static str>, about: &'static str) -> Self {
        Self { name, about, kind: ParameterKind::Text, default }
    }

    fn parse(&self, written: &str, reference: &ReferenceData) -> Result<Value, String> {
        match &self.kind {
            ParameterKind::Integer { min, max } => parse_integer(written, *min, *max),
            ParameterKind::Decimal { min, max } => parse_decimal(written, min, max),
            ParameterKind::Flag => {
                written.parse().map(Value::Flag).map_err(|_| format!("'{written}' is not true or false"))
            }
            ParameterKind::Choice(of) => match of.iter().find(|choice| **choice == written) {
                Some(choice) => Ok(Value::Text((*choice).to_owned())),
                None => Err(format!("'{written}' is not one of {}", of.join(", "))),
            },
            ParameterKind::Security => find_security(written, reference).map(Value::Security),
            ParameterKind::BarSize => match BarSize::ALL.into_iter().find(|size| size.name() == written) {
                Some(size) => Ok(Value::BarSize(size)),
                None => Err(format!("'{written}' is not one of {}", BarSize::ALL.map(BarSize::name).join(", "))),
            },
            ParameterKind::Text => Ok(Value::Text(written.to_owned())),
        }
    }
}

fn parse_integer(written: &str, min: i64, max: i64) -> Result<Value, String> {
    match written.parse::<i64>() {
        Ok(number) if (min..=max).contains(&number) => Ok(Value::Integer(number)),
        Ok(number) => Err(format!("{number} is not from {min} to {max}")),
        Err(_) => Err(format!("'{written}' is not a whole number")),
    }
}

fn parse_decimal(written: &str, min: &str, max: &str) -> Result<Value, String> {
    let bound = |text: &str| Decimal::from_str_exact(text).expect("the author of the parameter wrote a decimal");
    match Decimal::from_str_exact(written) {
        Ok(number) if (bound(min)..=bound(max)).contains(&number) => Ok(Value::Decimal(number)),
        Ok(number) => Err(format!("{number} is not from {min} to {max}")),
        Err(_) => Err(format!("'{written}' is not a decimal number")),
    }
}

fn find_security(written: &str, reference: &ReferenceData) -> Result<SecurityId, String> {
    if let Some(known) = written.parse().ok().map(SecurityId).filter(|id| reference.securities.contains_key(id)) {
        return Ok(known);
    }
    let named = reference.securities.values().filter(|security| &*security.symbol == written);
    match named.map(|security| security.id).collect::<Vec<_>>()[..] {
        [] => Err(format!("'{written}' is not the symbol or the id of a security")),
        [only] => Ok(only),
        ref several => {
            let ids: Vec<_> = several.iter().map(SecurityId::to_string).collect();
            Err(format!("'{written}' is the symbol of several securities; say which by id: {}", ids.join(", ")))
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Integer(i64),
    Decimal(Decimal),
    Flag(bool),
    Text(String),
    Security(SecurityId),
    BarSize(BarSize),
}

/// Why a parameter is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidParameter {
    /// The key.
    pub parameter: String,
    /// Why the value is refused.
    pub reason: String,
}

impl InvalidParameter {
    /// A parameter with the reason.
    pub fn new(parameter: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { parameter: parameter.into(), reason: reason.into() }
    }
}

impl fmt::Display for InvalidParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "parameter {}: {}", self.parameter, self.reason)
    }
}

/// The checked settings of one instance. Reading a parameter that the strategy did not declare is a bug of the strategy
/// and panics, which stops only that strategy.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StrategySettings(BTreeMap<&'static str, Value>);

impl StrategySettings {
    /// Every declared parameter gets the configured value, else its default.
    pub fn parse(
        parameters: &[Parameter],
        written: &BTreeMap<String, String>,
        reference: &ReferenceData,
    ) -> Result<Self, InvalidParameter> {
        if let Some(unknown) = written.keys().find(|key| parameters.iter().all(|parameter| parameter.name != **key)) {
            let known: Vec<_> = parameters.iter().map(|parameter| parameter.name).collect();
            return Err(InvalidParameter::new(unknown, format!("is not known; there are {}", known.join(", "))));
        }
        let read = |parameter: &Parameter| {
            let bad = |reason| InvalidParameter::new(parameter.name, reason);
            let written = written.get(parameter.name).map(String::as_str).or(parameter.default);
            let written = written.ok_or_else(|| bad("is missing and has no default".to_owned()))?;
            parameter.parse(written, reference).map(|value| (parameter.name, value)).map_err(bad)
        };
        parameters.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// The value of a whole number.
    pub fn integer(&self, name: &str) -> i64 {
        match self.0.get(name) {
            Some(Value::Integer(number)) => *number,
            _ => undeclared(name, "an integer"),
        }
    }

    /// An integer whose range begins at 0 or more.
    pub fn count(&self, name: &str) -> usize {
        usize::try_from(self.integer(name)).unwrap_or_else(|_| undeclared(name, "an integer from 0"))
    }

    /// The value of a decimal.
    pub fn decimal(&self, name: &str) -> Decimal {
        match self.0.get(name) {
            Some(Value::Decimal(number)) => *number,
            _ => undeclared(name, "a decimal"),
        }
    }

    /// A decimal as a quantity.
    pub fn quantity(&self, name: &str) -> Quantity {
        Quantity(self.decimal(name))
    }

    /// A decimal as a price.
    pub fn price(&self, name: &str) -> Price {
        Price(self.decimal(name))
    }

    /// The value of a flag.
    pub fn flag(&self, name: &str) -> bool {
        match self.0.get(name) {
            Some(Value::Flag(flag)) => *flag,
            _ => undeclared(name, "a flag"),
        }
    }

    /// Of a text or a choice.
    pub fn text(&self, name: &str) -> &str {
        match self.0.get(name) {
            Some(Value::Text(text)) => text,
            _ => undeclared(name, "a text or a choice"),
        }
    }

    /// The value of a security.
    pub fn security(&self, name: &str) -> SecurityId {
        match self.0.get(name) {
            Some(Value::Security(id)) => *id,
            _ => undeclared(name, "a security"),
        }
    }

    /// The value of a bar size.
    pub fn bar_size(&self, name: &str) -> BarSize {
        match self.0.get(name) {
            Some(Value::BarSize(size)) => *size,
            _ => undeclared(name, "a bar size"),
        }
    }
}

fn undeclared(name: &str, kind: &str) -> ! {
    panic!("the strategy reads its parameter {name}, which it did not declare as {kind}")
}
