//! CBOR helpers for shared values and 128-bit keys.

use std::collections::BTreeMap;
use std::sync::Arc;

use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::shared::shared_set::SharedSet;

pub(crate) fn encode_shared<'a, T, C, W>(
    values: impl ExactSizeIterator<Item = &'a Arc<T>>,
    e: &mut Encoder<W>,
    ctx: &mut C,
) -> Result<(), minicbor::encode::Error<W::Error>>
where
    T: Encode<C> + 'a,
    W: minicbor::encode::Write,
{
    e.array(values.len() as u64)?;
    for value in values {
        value.as_ref().encode(e, ctx)?;
    }
    Ok(())
}

pub(crate) fn decode_shared<'b, T: Decode<'b, C>, C, S: FromIterator<Arc<T>>>(
    d: &mut Decoder<'b>,
    ctx: &mut C,
) -> Result<S, minicbor::decode::Error> {
    let count = d.array()?.ok_or_else(|| minicbor::decode::Error::message("a list of known length is expected"))?;
    (0..count).map(|_| T::decode(d, ctx).map(Arc::new)).collect()
}

pub(crate) fn decode_by_key<'b, K: Ord, T: Decode<'b, C>, C>(
    d: &mut Decoder<'b>,
    ctx: &mut C,
    key: impl Fn(&T) -> K,
) -> Result<BTreeMap<K, Arc<T>>, minicbor::decode::Error> {
    let values: Vec<Arc<T>> = decode_shared(d, ctx)?;
    Ok(values.into_iter().map(|value| (key(&value), value)).collect())
}

/// Pairs with 128-bit keys, which CBOR's integers do not hold: keys as 16 bytes.
pub(crate) fn encode_keyed<'a, T: Encode<C> + 'a, C, W: minicbor::encode::Write>(
    pairs: impl ExactSizeIterator<Item = &'a (u128, T)>,
    e: &mut Encoder<W>,
    ctx: &mut C,
) -> Result<(), minicbor::encode::Error<W::Error>> {
    e.map(pairs.len() as u64)?;
    for (key, value) in pairs {
        e.bytes(&key.to_be_bytes())?;
        value.encode(e, ctx)?;
    }
    Ok(())
}

pub(crate) fn decode_keyed<'b, T: Decode<'b, C>, C, S: FromIterator<(u128, T)>>(
    d: &mut Decoder<'b>,
    ctx: &mut C,
) -> Result<S, minicbor::decode::Error> {
    let count = d.map()?.ok_or_else(|| minicbor::decode::Error::message("a map of known length is expected"))?;
    (0..count).map(|_| Ok((decode_key(d)?, T::decode(d, ctx)?))).collect()
}

pub(crate) fn encode_keys<W: minicbor::encode::Write>(
    keys: &SharedSet<u128>,
    e: &mut Encoder<W>,
) -> Result<(), minicbor::encode::Error<W::Error>> {
    e.array(keys.len() as u64)?;
    for key in keys.iter() {
        e.bytes(&key.to_be_bytes())?;
    }
    Ok(())
}

pub(crate) fn decode_keys(d: &mut Decoder<'_>) -> Result<SharedSet<u128>, minicbor::decode::Error> {
    let count = d.array()?.ok_or_else(|| minicbor::decode::Error::message("a list of known length is expected"))?;
    (0..count).map(|_| decode_key(d)).collect()
}

fn decode_key(d: &mut Decoder<'_>) -> Result<u128, minicbor::decode::Error> {
    let bytes = <[u8; 16]>::try_from(d.bytes()?).map_err(|_| minicbor::decode::Error::message("a key has 16 bytes"))?;
    Ok(u128::from_be_bytes(bytes))
}
