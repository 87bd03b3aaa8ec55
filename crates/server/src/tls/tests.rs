//! What becomes of certificate files: made, renewed, exchanged, or refused with the reason.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rcgen::KeyPair;

use super::*;
use crate::config::Sources;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn config(folder: &Path, set: &[&str]) -> Config {
    let set = set.iter().map(|text| (*text).to_owned()).collect();
    Config::load(&Sources { data_dir: Some(folder.to_owned()), set, ..Sources::default() }).unwrap()
}

fn own(folder: &Path) -> CertificateSource {
    CertificateSource::of(&config(folder, &["http.hosts=desk.example"])).unwrap()
}

/// Somebody's own files, with the names of the keys that point to them.
fn given(folder: &Path) -> CertificateSource {
    let at = |name: &str| folder.join(name).display().to_string();
    let set = [format!("https.certificate={}", at("desk.crt")), format!("https.key={}", at("desk.key"))];
    CertificateSource::of(&config(folder, &[&set[0], &set[1]])).unwrap()
}

fn write_pair(folder: &Path) {
    let made = rcgen::generate_simple_self_signed(["desk.example".to_owned()]).unwrap();
    fs::write(folder.join("desk.crt"), made.cert.pem()).unwrap();
    fs::write(folder.join("desk.key"), made.signing_key.serialize_pem()).unwrap();
}

fn served(certificate: &Certificate) -> String {
    key_pair::fingerprint(&certificate.served.read().unwrap().cert[0])
}

/// Messages without the folder of the test.
fn refusal(folder: &Path, wanted: CertificateSource) -> String {
    let failure = Certificate::open(wanted).unwrap_err();
    assert_eq!(failure.exit, Exit::Refused);
    failure.to_string().replace(&format!("{}/", folder.display()), "")
}

#[test]
fn the_first_start_makes_a_certificate_and_the_next_keeps_it() {
    let folder = tempfile::tempdir().unwrap();
    let first = Certificate::open(own(folder.path())).unwrap();
    let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(["tls", "tls/key.pem", "tls/cert.pem"].map(mode), [0o700, 0o600, 0o644]);
    assert_eq!(served(&first), served(&Certificate::open(own(folder.path())).unwrap()));
}

#[test]
fn our_certificate_is_renewed_before_it_expires_and_its_key_stays() {
    let folder = tempfile::tempdir().unwrap();
    let certificate = Certificate::open(own(folder.path())).unwrap();
    let (first, key) = (served(&certificate), fs::read(folder.path().join("tls/key.pem")).unwrap());
    let after = |days: u32| SystemTime::now() + DAY * days;
    certificate.refresh(after(365));
    assert_eq!(served(&certificate), first, "more than thirty days are left");
    certificate.refresh(after(367));
    let second = served(&certificate);
    assert_ne!(second, first);
    certificate.refresh(after(368));
    assert_eq!(served(&certificate), second);
    certificate.refresh(after(5_000));
    assert_ne!(served(&certificate), second, "expired long ago");
    assert_eq!(fs::read(folder.path().join("tls/key.pem")).unwrap(), key);
}

#[test]
fn a_further_host_gets_a_new_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let first = served(&Certificate::open(own(folder.path())).unwrap());
    let more = CertificateSource::of(&config(folder.path(), &["http.hosts=desk.example,10.0.0.7"])).unwrap();
    let second = served(&Certificate::open(more).unwrap());
    assert_ne!(first, second);
    assert_eq!(served(&Certificate::open(own(folder.path())).unwrap()), second, "one name too many does no harm");
}

#[test]
fn a_host_that_no_certificate_can_name_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = CertificateSource::of(&config(folder.path(), &["http.hosts=-.-,desk.example"])).unwrap();
    assert_eq!(wanted.names.as_deref().unwrap(), ["127.0.0.1", "::1", "desk.example", "localhost"]);
    Certificate::open(wanted).unwrap();
}

#[test]
fn half_of_our_pair_is_made_whole() {
    let folder = tempfile::tempdir().unwrap();
    let first = served(&Certificate::open(own(folder.path())).unwrap());
    fs::remove_file(folder.path().join("tls/key.pem")).unwrap();
    let second = served(&Certificate::open(own(folder.path())).unwrap());
    assert_ne!(first, second);
    fs::remove_file(folder.path().join("tls/cert.pem")).unwrap();
    Certificate::open(own(folder.path())).unwrap();
}

#[test]
fn what_somebody_else_put_in_our_place_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    Certificate::open(own(folder.path())).unwrap();
    let path = folder.path().join("tls/cert.pem");
    let advice = "delete both files to get new ones, or name yours by https.certificate and https.key";
    fs::write(&path, "scribble").unwrap();
    let expected = format!("the certificate can't be used: tls/cert.pem: holds no certificate in PEM form; {advice}");
    assert_eq!(refusal(folder.path(), own(folder.path())), expected);
    fs::write(&path, issued_by_another()).unwrap();
    let expected =
        format!("the certificate can't be used: tls/cert.pem: is not one that we made (UnknownIssuer); {advice}");
    assert_eq!(refusal(folder.path(), own(folder.path())), expected);
    assert_eq!(fs::read_to_string(&path).unwrap().matches("BEGIN CERTIFICATE").count(), 1);
}

fn issued_by_another() -> String {
    let authority = rcgen::Issuer::new(named("Authority"), KeyPair::generate().unwrap());
    named("Desk").signed_by(&KeyPair::generate().unwrap(), &authority).unwrap().pem()
}

fn named(name: &str) -> rcgen::CertificateParams {
    let mut wanted = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
    wanted.distinguished_name.push(rcgen::DnType::CommonName, name);
    wanted
}

#[test]
fn files_that_can_t_be_used_are_named_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let refused = || refusal(folder.path(), given(folder.path()));
    let mut reasons = vec![refused()];
    write_pair(folder.path());
    let (certificate, key) = (fs::read(at("desk.crt")).unwrap(), fs::read(at("desk.key")).unwrap());
    fs::write(at("desk.crt"), "").unwrap();
    reasons.push(refused());
    fs::write(at("desk.crt"), "-----BEGIN CERTIFICATE-----\n???\n-----END CERTIFICATE-----\n").unwrap();
    reasons.push(refused());
    fs::write(at("desk.crt"), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
    reasons.push(refused());
    fs::write(at("desk.crt"), &certificate).unwrap();
    fs::remove_file(at("desk.key")).unwrap();
    reasons.push(refused());
    fs::write(at("desk.key"), &certificate).unwrap();
    reasons.push(refused());
    fs::write(at("desk.key"), KeyPair::generate().unwrap().serialize_pem()).unwrap();
    reasons.push(refused());
    fs::write(at("desk.key"), &key).unwrap();
    assert!(Certificate::open(given(folder.path())).is_ok());
    expect_test::expect![[r#"
        the certificate can't be used: desk.crt: No such file or directory (os error 2)
        the certificate can't be used: desk.crt: holds no certificate in PEM form
        the certificate can't be used: desk.crt: base64 decode error: InvalidCharacter(63)
        the certificate can't be used: desk.crt: is not a certificate (BadEncoding)
        the certificate can't be used: desk.key: No such file or directory (os error 2)
        the certificate can't be used: desk.key: holds no private key in PEM form, or one with a password
        the certificate can't be used: desk.key: is not the key of desk.crt"#]]
    .assert_eq(&reasons.join("\n"));
}

#[test]
fn a_certificate_needs_its_key() {
    let folder = tempfile::tempdir().unwrap();
    for set in ["https.certificate=desk.crt", "https.key=desk.key"] {
        let failure = CertificateSource::of(&config(folder.path(), &[set])).unwrap_err();
        let expected = "https.certificate and https.key are given together or not at all";
        assert_eq!((failure.exit, failure.to_string()), (Exit::Refused, expected.to_owned()));
    }
}

#[test]
fn new_files_are_served_and_bad_ones_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    write_pair(folder.path());
    let certificate = Certificate::open(given(folder.path())).unwrap();
    let refreshed = || {
        certificate.refresh(SystemTime::now());
        served(&certificate)
    };
    let first = served(&certificate);
    assert_eq!(refreshed(), first);
    write_pair(folder.path());
    let second = refreshed();
    assert_ne!(second, first);
    let good = fs::read(folder.path().join("desk.crt")).unwrap();
    fs::write(folder.path().join("desk.crt"), "half a certi").unwrap();
    assert_eq!(refreshed(), second);
    fs::remove_file(folder.path().join("desk.key")).unwrap();
    assert_eq!(refreshed(), second);
    fs::write(folder.path().join("desk.crt"), good).unwrap();
    assert_eq!(refreshed(), second, "the key is still gone");
    write_pair(folder.path());
    assert_ne!(refreshed(), second, "whole again");
}
