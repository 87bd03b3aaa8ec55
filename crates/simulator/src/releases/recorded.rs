//! The recorded folders.

/// A recorded data folder, and what the release showed of it. `make record-release` makes both.
pub(crate) struct Release {
    pub(crate) name: &'static str,
    pub(super) packed: &'static [u8],
    pub(super) shown: &'static str,
}

macro_rules! release {
    ($name:literal) => {
        Release {
            name: $name,
            packed: include_bytes!(concat!("../../../scenarios/tests/releases/", $name, ".tar.gz")),
            shown: include_str!(concat!("../../../scenarios/tests/releases/", $name, ".json")),
        }
    };
}

pub(crate) static RELEASES: [Release; 2] = [release!("0.1.0"), release!("0.2.0")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recorded_release_can_be_the_beginning_of_a_run() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/tests/releases");
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut recorded: Vec<String> =
            names.filter_map(|name| name.strip_suffix(".tar.gz").map(str::to_owned)).collect();
        recorded.sort();
        assert_eq!(RELEASES.iter().map(|release| release.name).collect::<Vec<_>>(), recorded);
    }
}
