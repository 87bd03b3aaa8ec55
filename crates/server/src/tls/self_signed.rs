//! Certificates that we make ourselves: signed by their own key, for the names under which we are called. The key stays,
//! so each certificate is one file that is whole or not there.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use webpki::{ALL_VERIFICATION_ALGS, EndEntityCert, Error, KeyUsage, anchor_from_trusted_cert};

use super::key_pair::KeyPairFiles;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The longest time that browsers accept.
const VALID_DAYS: u32 = 397;
/// A new one is made when so little is left, so that nobody meets an expired one.
const RENEWED_DAYS_BEFORE: u32 = 30;

/// Makes a certificate where there is none, or where the one that is there will soon expire or lacks a name.
pub(super) fn renew_if_due(files: &KeyPairFiles, names: &[String], now: SystemTime) -> Result<(), String> {
    let reason = match fs::read(&files.certificate) {
        Ok(text) if files.key.exists() => due(files, &text, names, now)?,
        Ok(_) => Some("its key is gone"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some("there is none yet"),
        Err(error) => return Err(format!("{}: {error}", files.certificate.display())),
    };
    let Some(reason) = reason else { return Ok(()) };
    let pem = issue(&key(files)?, names, now).map_err(|error| format!("{}: {error}", files.certificate.display()))?;
    write_file(&files.certificate, &pem, 0o644)?;
    tracing::info!("made a certificate for {}: {reason}", names.join(", "));
    Ok(())
}

/// Why a new one is needed, if it is. One that is not ours is not touched.
fn due(files: &KeyPairFiles, text: &[u8], names: &[String], now: SystemTime) -> Result<Option<&'static str>, String> {
    let advice = "delete both files to get new ones, or name yours by https.certificate and https.key";
    let complain = |reason: &dyn std::fmt::Display| format!("{}: {reason}; {advice}", files.certificate.display());
    let chain = files.chain(text).map_err(|reason| format!("{reason}; {advice}"))?;
    let [certificate] = &chain[..] else { return Err(complain(&"holds more than the certificate that we made")) };
    match verify(certificate, names, now + DAY * RENEWED_DAYS_BEFORE) {
        Ok(()) => Ok(None),
        Err(Error::CertExpired { .. }) => Ok(Some("the last one expires soon")),
        Err(Error::CertNotValidForName(_)) => Ok(Some("the last one did not have all these names")),
        Err(error) => Err(complain(&format!("is not one that we made ({error})"))),
    }
}

/// Ours are their own authority.
fn verify(certificate: &CertificateDer<'_>, names: &[String], at: SystemTime) -> Result<(), Error> {
    let at = UnixTime::since_unix_epoch(at.duration_since(UNIX_EPOCH).unwrap_or_default());
    let (checked, anchors) = (EndEntityCert::try_from(certificate)?, [anchor_from_trusted_cert(certificate)?]);
    checked.verify_for_usage(ALL_VERIFICATION_ALGS, &anchors, &[], at, KeyUsage::server_auth(), None, None)?;
    for name in names {
        let name = ServerName::try_from(name.as_str()).map_err(|_| Error::MalformedDnsIdentifier)?;
        checked.verify_is_valid_for_subject_name(&name)?;
    }
    Ok(())
}

fn key(files: &KeyPairFiles) -> Result<KeyPair, String> {
    let complain = |error: rcgen::Error| format!("{}: {error}", files.key.display());
    match fs::read_to_string(&files.key) {
        Ok(pem) => KeyPair::from_pem(&pem).map_err(complain),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let key = KeyPair::generate().map_err(complain)?;
            write_file(&files.key, &key.serialize_pem(), 0o600)?;
            Ok(key)
        }
        Err(error) => Err(format!("{}: {error}", files.key.display())),
    }
}

fn issue(key: &KeyPair, names: &[String], now: SystemTime) -> Result<String, rcgen::Error> {
    let mut wanted = CertificateParams::new(names)?;
    wanted.distinguished_name.push(DnType::CommonName, "Rialto");
    wanted.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    wanted.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    // Two certificates of one key must not share a number, or browsers refuse the second.
    let number = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    wanted.serial_number = Some(number.into());
    // Clocks of others may be behind.
    wanted.not_before = (now - DAY).into();
    wanted.not_after = (now + DAY * (VALID_DAYS - 1)).into();
    Ok(wanted.self_signed(key)?.pem())
}

/// Whole or not at all, and for whom it is from the first moment.
fn write_file(path: &Path, text: &str, mode: u32) -> Result<(), String> {
    let write = || -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let draft = path.with_extension("new");
        match fs::remove_file(&draft) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&draft)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, path)?;
        File::open(folder)?.sync_all()
    };
    write().map_err(|error| format!("{}: cannot be written: {error}", path.display()))
}
