//! Credentials: where they come from, and what is refused.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use adapter_kit::credentials::{CredentialSource, CredentialWatch, ExposeSecret, SigningKey, VenueCredentials};
use tempfile::TempDir;

pub(crate) const KEY: &str = "vmPUZE6mv9SD5VNHk4HlWFsOr6aKE2zvsw0MuIgwCIPy6utIco14y7Ju91duEh8A";
pub(crate) const SECRET: &str = "NhqPtmdSJYdKjVHjA7PZj4Mge3R5YNiP1e3UZjInClVN65XAbvqqM6A7H5fATj0j";

pub(crate) fn hmac_file(key: &str, secret: &str) -> String {
    format!("apiKey = \"{key}\"\nsecret = \"{secret}\"\n")
}

pub(crate) fn write(folder: &TempDir, name: &str, content: &str, mode: u32) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

fn source(text: &str) -> CredentialSource {
    text.parse().unwrap()
}

fn load(path: &Path) -> Result<VenueCredentials, String> {
    source(path.to_str().unwrap()).load(&|_| None).map_err(|error| error.to_string())
}

fn shown(credentials: &VenueCredentials) -> (String, &str, &str) {
    let signing = credentials.signing();
    (credentials.to_string(), credentials.api_key().expose_secret(), signing.secret().expose_secret())
}

#[test]
fn a_file_that_only_its_owner_can_read_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for mode in [0o600, 0o400] {
        let credentials = load(&write(&folder, "key.toml", &hmac_file(KEY, SECRET), mode)).unwrap();
        assert_eq!(shown(&credentials), ("key vmPU… with secret".to_owned(), KEY, SECRET));
        fs::remove_file(folder.path().join("key.toml")).unwrap();
    }
    let pem = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2Vw\n-----END PRIVATE KEY-----\n";
    let path = write(&folder, "pem.toml", &format!("apiKey = \"short\"\nprivateKey = \"\"\"\n{pem}\"\"\"\n"), 0o600);
    let credentials = load(&path).unwrap();
    assert_eq!(shown(&credentials), ("key … with privateKey".to_owned(), "short", pem));
    assert!(matches!(credentials.signing(), SigningKey::PrivateKey(_)));
}

#[test]
fn a_file_that_others_can_use_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(&folder, "key.toml", &hmac_file(KEY, SECRET), 0o640);
    let text = load(&path).unwrap_err();
    let shown = path.display();
    assert_eq!(text, format!("credentials {shown} have mode 0640: others can use them; run chmod 600 {shown}"));
    let text = load(folder.path()).unwrap_err();
    assert_eq!(text, format!("credentials {} are no file", folder.path().display()));
    let text = load(&folder.path().join("none")).unwrap_err();
    assert!(text.ends_with("/none cannot be read: No such file or directory (os error 2)"), "{text}");
    let long = write(&folder, "long", &"#".repeat(70_000), 0o600);
    assert_eq!(load(&long).unwrap_err(), format!("credentials {} are longer than 65536 bytes", long.display()));
}

#[test]
fn a_malformed_file_is_named_by_its_line_and_nothing_of_it_is_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let expected =
        "expected are the texts apiKey, secret or privateKey, passphrase where the venue has one, and nothing else";
    let cases = [
        (format!("apiKey = \"{KEY}\"\nsecret = {SECRET}\n"), format!("cannot be read at line 2: {expected}")),
        (format!("apiKey = \"{KEY}\"\n\nsecret = \"{SECRET}\n"), format!("cannot be read at line 3: {expected}")),
        (format!("{SECRET}\n"), format!("cannot be read at line 1: {expected}")),
        (format!("{SECRET} = 1\n"), format!("cannot be read at line 1: {expected}")),
        ("apiKey = 4711\n".to_owned(), format!("cannot be read at line 1: {expected}")),
        (format!("apiKey = \"{KEY}\"\n"), "have no secret or privateKey".to_owned()),
        (format!("secret = \"{SECRET}\"\napiKey = \" \"\n"), "have no apiKey".to_owned()),
        (
            format!("{}privateKey = \"x\"\n", hmac_file(KEY, SECRET)),
            "have secret and privateKey: give one of them".to_owned(),
        ),
    ];
    for (content, reason) in cases {
        let path = write(&folder, "key.toml", &content, 0o600);
        assert_eq!(load(&path).unwrap_err(), format!("credentials {} {reason}", path.display()), "{content}");
    }
}

#[test]
fn systemd_and_the_environment_give_the_same() {
    let folder = tempfile::tempdir().unwrap();
    // systemd shows its access list as rights of a group.
    write(&folder, "binance", &hmac_file(KEY, SECRET), 0o440);
    let directory = folder.path().to_str().unwrap().to_owned();
    let environment = |name: &str| match name {
        "CREDENTIALS_DIRECTORY" => Some(directory.clone()),
        "DESK1_API_KEY" => Some(KEY.to_owned()),
        "DESK1_SECRET" => Some(SECRET.to_owned()),
        _ => None,
    };
    for text in ["systemd:binance", "env:DESK1"] {
        let credentials = source(text).load(&environment).unwrap();
        assert_eq!(shown(&credentials), ("key vmPU… with secret".to_owned(), KEY, SECRET), "{text}");
    }
    let failed = |text: &str| source(text).load(&|_| None).unwrap_err().to_string();
    assert_eq!(failed("systemd:binance"), "credentials of systemd: CREDENTIALS_DIRECTORY is not set");
    assert_eq!(failed("env:DESK1"), "credentials environment DESK1_* have no apiKey");
    for text in ["", "systemd:", "systemd:../key", "systemd:.key", "env:A-B", "env:"] {
        let error = text.parse::<CredentialSource>().unwrap_err().to_string();
        assert!(error.ends_with("give a path, systemd:NAME or env:PREFIX with a plain name"), "{text}");
    }
}

#[test]
fn a_new_key_is_used_without_a_restart_and_the_old_one_stays_until_it_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(&folder, "key.toml", &hmac_file("first-key-aaaaaaaa", SECRET), 0o600);
    let mut watch = CredentialWatch::start(source(path.to_str().unwrap()), &|_| None).unwrap();
    let key = |watch: &CredentialWatch| watch.current().api_key().expose_secret().to_owned();
    assert!(!watch.poll(&|_| None).unwrap());

    // A file that is being replaced carelessly changes nothing.
    write(&folder, "key.toml", "apiKey = ", 0o600);
    assert!(watch.poll(&|_| None).is_err());
    assert_eq!(key(&watch), "first-key-aaaaaaaa");

    fs::rename(write(&folder, "new", &hmac_file("second-key-bbbbbbb", SECRET), 0o600), &path).unwrap();
    assert!(watch.poll(&|_| None).unwrap());
    assert_eq!(key(&watch), "second-key-bbbbbbb");
    assert!(watch.on_refused());
    assert_eq!(key(&watch), "first-key-aaaaaaaa");
    assert!(!watch.on_refused(), "there is no older one");

    assert!(watch.reload(&|_| None).unwrap());
    watch.on_accepted();
    assert!(!watch.on_refused());
    assert_eq!(key(&watch), "second-key-bbbbbbb");
}

#[test]
fn after_two_changes_without_a_log_on_the_key_that_the_venue_knows_is_kept() {
    let values = std::cell::RefCell::new(BTreeMap::from([("A_API_KEY", "one"), ("A_SECRET", "s")]));
    let environment = |name: &str| values.borrow().get(name).map(|value| (*value).to_owned());
    let mut watch = CredentialWatch::start(source("env:A"), &environment).unwrap();
    for key in ["two", "three"] {
        values.borrow_mut().insert("A_API_KEY", key);
        assert!(!watch.poll(&environment).unwrap(), "an environment is read again only on request");
        assert!(watch.reload(&environment).unwrap());
    }
    assert!(watch.on_refused());
    assert_eq!(watch.current().api_key().expose_secret(), "one");
}
