//! Bytes as one line of text, and back: `\n`, `\r`, `\0`, `\\`, and `\xNN` for what is not UTF-8.

pub(crate) fn to_line(bytes: &[u8]) -> String {
    let mut line = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => line.push_str("\\n"),
                '\r' => line.push_str("\\r"),
                '\0' => line.push_str("\\0"),
                '\\' => line.push_str("\\\\"),
                c => line.push(c),
            }
        }
        chunk.invalid().iter().for_each(|byte| line.push_str(&format!("\\x{byte:02x}")));
    }
    line
}

pub(crate) fn from_line(line: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = line;
    while let Some((plain, escape)) = rest.split_once('\\') {
        bytes.extend_from_slice(plain.as_bytes());
        let length = if escape.starts_with('x') { 3 } else { 1 };
        bytes.push(match &escape[..length] {
            "n" => b'\n',
            "r" => b'\r',
            "0" => 0,
            "\\" => b'\\',
            hex => u8::from_str_radix(&hex[1..], 16).expect("an escape of the transcripts"),
        });
        rest = &escape[length..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

#[test]
fn any_bytes_are_one_line() {
    let bytes = b"a\n\r\0\\c\xff\xc3\xa9";
    assert_eq!(to_line(bytes), "a\\n\\r\\0\\\\c\\xffé");
    assert_eq!(from_line(&to_line(bytes)), bytes);
}
