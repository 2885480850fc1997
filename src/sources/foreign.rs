//! The first bytes of a file that has no known format in, what it is and the way to a known one out.

/// What a file is, and what to do instead.
pub struct ForeignFile {
    /// What it is.
    pub what: String,
    /// The one command that makes a known format of it, if there is one.
    pub advice: Option<String>,
    /// Whether it is a text of which nothing more is known.
    pub is_text: bool,
}

/// Files by their first bytes.
const MAGIC: [(&[u8], &str, Option<&str>); 20] = [
    (b"PAR1", "a Parquet file", Some("Convert it: duckdb -c \"copy 'FILE' to 'items.jsonl' (format json)\"")),
    (b"\xe0\x01\x00\xea", "Ion in its binary form", Some(ION)),
    (b"$ion_", "Ion", Some(ION)),
    (
        b"SQLite format 3\0",
        "a SQLite database",
        Some("Convert a table: sqlite3 -json FILE 'select * from TABLE' > items.json"),
    ),
    (b"PK\x03\x04", "a zip archive", Some("Unpack it: unzip FILE -d DIRECTORY")),
    (b"\x28\xb5\x2f\xfd", "a file packed by zstd", Some("Unpack it: zstd -d FILE")),
    (b"BZh", "a file packed by bzip2", Some("Unpack it: bunzip2 FILE")),
    (b"\xfd7zXZ\0", "a file packed by xz", Some("Unpack it: xz -d FILE")),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", Some("Unpack it: 7z x FILE")),
    (b"\x89PNG", "an image (PNG)", None),
    (b"\xff\xd8\xff", "an image (JPEG)", None),
    (b"GIF8", "an image (GIF)", None),
    (b"%PDF", "a PDF document", None),
    (b"Obj\x01", "an Avro file", Some("Convert it: avro-tools tojson FILE > items.jsonl")),
    (b"ORC", "an ORC file", None),
    (b"\x7fELF", "a program", None),
    (b"MZ", "a program", None),
    (b"\0asm", "a program (WebAssembly)", None),
    (b"<?xml", "XML", None),
    (b"-----BEGIN", "a key or a certificate", None),
];

/// How a program shows the schema or the model in it.
const JAVA_SCRIPT: &str = "Print its schema or model as JSON: \
    node -e 'import(\"./FILE\").then(m => console.log(JSON.stringify(m.default)))'";

const ION: &str = "Export the table again with `--export-format DYNAMODB_JSON`";

/// What JSON of another shape is, by its first members.
pub fn json(members: &[String]) -> ForeignFile {
    let mut first: Vec<String> = members.iter().take(5).map(|name| format!("{:?}", shortened(name))).collect();
    if members.len() > first.len() {
        first.push("…".into());
    }
    let what = match first.len() {
        0 => "JSON without members".into(),
        _ => format!("JSON of another shape, with the members {}", first.join(", ")),
    };
    ForeignFile { what, advice: Some("For items, write a list of them, or one on each line".into()), is_text: false }
}

/// What a file is, by its first bytes.
pub fn described(head: &[u8]) -> ForeignFile {
    if let Some((_, what, advice)) = MAGIC.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return ForeignFile { what: (*what).to_owned(), advice: advice.map(str::to_owned), is_text: false };
    }
    let file = |what: &str, advice: Option<&str>| ForeignFile {
        what: what.into(),
        advice: advice.map(str::to_owned),
        is_text: false,
    };
    if head.get(257..262) == Some(b"ustar") {
        return file("a tar archive", Some("Unpack it: tar -xf FILE"));
    }
    // The end of the head may cut a letter.
    let is_text = std::str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true);
    if !is_text || head.contains(&0) {
        return file("a binary file", None);
    }
    let text = String::from_utf8_lossy(head);
    let begin = text.trim_start().to_lowercase();
    if begin.starts_with("<!doctype html") || begin.starts_with("<html") {
        return file("HTML", None);
    }
    if ["import ", "export ", "const ", "module.exports", "\"use strict\"", "'use strict'"]
        .iter()
        .any(|word| begin.starts_with(word))
    {
        return file("a program in JavaScript or TypeScript", Some(JAVA_SCRIPT));
    }
    let line: String = text.trim_start().lines().next().unwrap_or_default().chars().take(60).collect();
    ForeignFile { what: format!("text that begins with {line:?}"), advice: None, is_text: true }
}

fn shortened(name: &str) -> String {
    name.chars().take(60).collect()
}
