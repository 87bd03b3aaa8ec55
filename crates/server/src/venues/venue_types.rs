//! Types of venues that can be configured. A new type is one line in this table.

use std::sync::OnceLock;

use adapters::venue_type::{COMMON_SETTINGS, VenueSetting, VenueType};

use wire::nearest::hint;

const BUILT_IN: &[&dyn VenueType] =
    &[&adapters::SimulatedVenueType, &adapter_binance::BinanceSpotType, &adapter_fix::FixVenueType];

/// Types of a program that is built on this library.
static FURTHER: OnceLock<&'static [&'static dyn VenueType]> = OnceLock::new();

/// Adds types of one's own. To be called once, before the configuration is read.
pub fn add(types: &'static [&'static dyn VenueType]) -> Result<(), &'static str> {
    FURTHER.set(types).map_err(|_| "venue types were added already")
}

pub fn all() -> impl Iterator<Item = &'static dyn VenueType> + Clone {
    BUILT_IN.iter().chain(FURTHER.get().copied().unwrap_or_default()).copied()
}

/// The type of that name, or an error text.
pub fn find(name: &str) -> Result<&'static dyn VenueType, String> {
    let unknown = || {
        let known: Vec<&str> = all().map(VenueType::name).collect();
        format!("'{name}' is no type of venue{} (known: {})", hint(name, known.iter().copied()), known.join(", "))
    };
    all().find(|kind| kind.name() == name).ok_or_else(unknown)
}

/// All settings of a type, the common ones first.
pub fn tables(kind: &dyn VenueType) -> Vec<&'static [VenueSetting]> {
    [COMMON_SETTINGS].iter().chain(kind.settings()).copied().collect()
}

/// The settings of all types; one that several types have is there several times.
pub fn all_settings() -> impl Iterator<Item = &'static VenueSetting> {
    all().flat_map(tables).flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_type_has_a_name_of_its_own_and_defaults_that_it_accepts() {
        let names: BTreeSet<_> = all().map(VenueType::name).collect();
        assert_eq!(names.len(), all().count());
        for kind in all() {
            let settings: Vec<_> = tables(kind).into_iter().flatten().collect();
            let keys: BTreeSet<_> = settings.iter().map(|setting| setting.key).collect();
            assert_eq!(keys.len(), settings.len(), "{} has a setting twice", kind.name());
            for setting in settings.iter().filter(|setting| !setting.is_required) {
                assert_eq!(setting.check(setting.default), Ok(()), "{}.{}", kind.name(), setting.key);
            }
        }
    }
}
