//! Fixed fields of headers.

/// The `N` bytes at a place; the caller knows that the header is that long.
pub(crate) fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[at..at + N]);
    field
}
