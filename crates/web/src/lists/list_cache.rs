//! List cache: encoded lists of reference data, one entry per list, format and version of the data. They are long,
//! requested often, and seldom change.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use axum::http::HeaderValue;
use domain::ReferenceData;

use crate::lists::list_format::ListFormat;

/// Enough that no two lists share a tag by chance.
const TAG_DIGITS: usize = 32;

#[derive(Default)]
pub(crate) struct ListCache(Mutex<BTreeMap<(&'static str, ListFormat), Arc<CachedList>>>);

/// A list as it is sent.
pub(crate) struct CachedList {
    /// The version of the data.
    reference: Arc<ReferenceData>,
    pub(crate) pieces: Vec<Bytes>,
    /// Weak, because the response may be compressed.
    pub(crate) etag: HeaderValue,
}

impl ListCache {
    /// The cached list, encoded where the data has changed.
    pub(crate) fn get_or_encode(
        &self,
        name: &'static str,
        form: ListFormat,
        reference: Arc<ReferenceData>,
        encode: impl FnOnce(&ReferenceData) -> Vec<Bytes>,
    ) -> Arc<CachedList> {
        let kept = self.lock().get(&(name, form)).cloned();
        if let Some(kept) = kept.filter(|kept| Arc::ptr_eq(&kept.reference, &reference)) {
            return kept;
        }
        // Encoded without the lock: two concurrent requests both do the work, but none waits.
        let pieces = encode(&reference);
        let copy = Arc::new(CachedList { etag: etag(&pieces), reference, pieces });
        self.lock().insert((name, form), copy.clone());
        copy
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(&'static str, ListFormat), Arc<CachedList>>> {
        // Only complete entries are inserted.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Equal lists have equal tags, also after a restart.
fn etag(pieces: &[Bytes]) -> HeaderValue {
    let mut hasher = blake3::Hasher::new();
    for piece in pieces {
        hasher.update(piece);
    }
    let digest = hasher.finalize().to_hex();
    HeaderValue::try_from(format!("W/\"{}\"", &digest[..TAG_DIGITS])).expect("only ASCII is in it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_encoded_once_for_every_picture() {
        let list_cache = ListCache::default();
        let (first, second) = (Arc::new(ReferenceData::default()), Arc::new(ReferenceData::default()));
        let mut encoded = 0;
        for (picture, form) in [
            (&first, ListFormat::Json),
            (&first, ListFormat::Json),
            (&first, ListFormat::Csv("account::list")),
            (&second, ListFormat::Json),
        ] {
            list_cache.get_or_encode("accounts", form, picture.clone(), |_| {
                encoded += 1;
                vec![]
            });
        }
        assert_eq!(encoded, 3);
    }

    #[test]
    fn a_tag_follows_the_content() {
        let tag_of = |text: &'static str| etag(&[Bytes::from(text)]);
        assert_eq!(tag_of("[1]"), tag_of("[1]"));
        assert_ne!(tag_of("[1]"), tag_of("[2]"));
    }
}
