//! A path in, the bytes of its text out, as often as needed: unpacked, without a byte order mark, in UTF-8. Standard
//! input and pipes are copied to a temporary file. Must not know what the text says.

use super::error::SourceError;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// The most bytes of a text that is read as a whole: a model, a template, or one of many values.
pub const MAX_TEXT_LENGTH: u64 = 16 * 1024 * 1024;

/// A file that is deleted at the end.
#[derive(Debug)]
pub struct TemporaryFile {
    /// Where it is.
    pub path: PathBuf,
}

impl TemporaryFile {
    /// A new file in the system's directory for them, open to be written.
    pub fn create() -> io::Result<(Self, File)> {
        let path = std::env::temp_dir().join(format!("keyfold-{}.jsonl", Uuid::now_v7()));
        let file = File::create_new(&path)?;
        Ok((Self { path }, file))
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // The system cleans up its directory for temporary files anyway.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A file of a source.
#[derive(Debug)]
pub struct SourceFile {
    /// Where it is.
    pub path: PathBuf,
    /// As a person knows it.
    pub name: String,
    copy: Option<TemporaryFile>,
}

impl SourceFile {
    /// The file at a path; `-` is standard input.
    pub fn at(path: &Path) -> Result<Self, SourceError> {
        if path == Path::new("-") {
            return Self::copied("standard input".into(), &mut io::stdin().lock());
        }
        let name = path.display().to_string();
        // A pipe, as of `<(aws dynamodb scan …)`, can be read once.
        if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            let mut pipe = File::open(path).map_err(|why| SourceError::Read { name: name.clone(), why })?;
            return Self::copied(name, &mut pipe);
        }
        Ok(Self { path: path.to_owned(), name, copy: None })
    }

    fn copied(name: String, from: &mut impl Read) -> Result<Self, SourceError> {
        let mut copy = || {
            let (copy, mut file) = TemporaryFile::create()?;
            io::copy(from, &mut file)?;
            Ok(copy)
        };
        match copy() {
            Ok(copy) => Ok(Self { path: copy.path.clone(), name, copy: Some(copy) }),
            Err(why) => Err(SourceError::Read { name, why }),
        }
    }

    /// The copy that it is, to be kept as long as its path is used; nothing if it is a person's own file.
    pub fn into_copy(self) -> Option<TemporaryFile> {
        self.copy
    }

    /// The extension of its name in small letters, without that of a compression.
    pub fn extension(&self) -> Option<String> {
        let name = self.name.to_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        Path::new(name).extension().and_then(|extension| Some(extension.to_str()?.to_owned()))
    }

    /// Its text from the beginning.
    pub fn open(&self) -> Result<Box<dyn BufRead>, SourceError> {
        let opened = File::open(&self.path).and_then(|file| decoded(Box::new(BufReader::with_capacity(1 << 16, file))));
        opened.map_err(|source| self.unread(source))
    }

    /// Whether its text stands in it as it is.
    pub fn is_plain(&self) -> bool {
        let first = self.first();
        !self.is_packed() && ![&[0xef, 0xbb][..], &[0xff, 0xfe], &[0xfe, 0xff]].contains(&first.as_slice())
    }

    fn is_packed(&self) -> bool {
        self.first() == [0x1f, 0x8b]
    }

    /// The first two bytes; none if there are none to be read.
    fn first(&self) -> Vec<u8> {
        let mut first = Vec::new();
        // Who reads on meets the error again.
        let _ = File::open(&self.path).and_then(|file| file.take(2).read_to_end(&mut first));
        first
    }

    /// The first bytes of its text.
    pub fn head(&self, bytes: u64) -> Result<Vec<u8>, SourceError> {
        let mut head = Vec::new();
        self.open()?.take(bytes).read_to_end(&mut head).map_err(|source| self.unread(source))?;
        Ok(head)
    }

    /// All of its text, if that is no longer than [`MAX_TEXT_LENGTH`].
    pub fn text(&self) -> Result<String, SourceError> {
        let bytes = self.head(MAX_TEXT_LENGTH + 1)?;
        if bytes.len() as u64 > MAX_TEXT_LENGTH {
            let most = MAX_TEXT_LENGTH >> 20;
            return Err(SourceError::malformed(&self.name, format!("a file of its format has at most {most} MB")));
        }
        String::from_utf8(bytes).map_err(|_| SourceError::malformed(&self.name, "it is not UTF-8 text"))
    }

    /// The error of a failed read.
    pub fn unread(&self, why: io::Error) -> SourceError {
        if self.is_packed() && why.kind() != io::ErrorKind::NotFound {
            return SourceError::malformed(&self.name, format!("it is cut off or broken: {why}"));
        }
        SourceError::Read { name: self.name.clone(), why }
    }
}

/// The text of bytes, which a compression and a byte order mark may begin.
fn decoded(bytes: Box<dyn BufRead>) -> io::Result<Box<dyn BufRead>> {
    let (first, bytes) = peeked(bytes, 2)?;
    let bytes: Box<dyn BufRead> = match first.as_slice() {
        [0x1f, 0x8b] => Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(bytes))),
        _ => bytes,
    };
    let (first, mut bytes) = peeked(bytes, 3)?;
    match first.as_slice() {
        [0xef, 0xbb, 0xbf] => {
            bytes.read_exact(&mut [0; 3])?;
            Ok(bytes)
        }
        // PowerShell writes what a program prints in UTF-16.
        [0xff, 0xfe, ..] => Ok(Box::new(BufReader::new(Utf16::new(bytes, u16::from_le_bytes)))),
        [0xfe, 0xff, ..] => Ok(Box::new(BufReader::new(Utf16::new(bytes, u16::from_be_bytes)))),
        _ => Ok(bytes),
    }
}

/// The first bytes, and all bytes.
fn peeked(mut bytes: Box<dyn BufRead>, count: u64) -> io::Result<(Vec<u8>, Box<dyn BufRead>)> {
    let mut first = Vec::new();
    bytes.by_ref().take(count).read_to_end(&mut first)?;
    let all = Cursor::new(first.clone()).chain(bytes);
    Ok((first, Box::new(all)))
}

/// Bytes in UTF-16 in, in UTF-8 out.
struct Utf16 {
    bytes: Box<dyn BufRead>,
    unit: fn([u8; 2]) -> u16,
    /// The first half of a pair.
    half: Option<u16>,
    ready: Cursor<Vec<u8>>,
}

impl Utf16 {
    fn new(bytes: Box<dyn BufRead>, unit: fn([u8; 2]) -> u16) -> Self {
        Self { bytes, unit, half: None, ready: Cursor::default() }
    }

    fn refill(&mut self) -> io::Result<()> {
        let mut chunk = Vec::new();
        self.bytes.by_ref().take(1 << 14).read_to_end(&mut chunk)?;
        let pairs = chunk.chunks_exact(2).map(|pair| (self.unit)([pair[0], pair[1]]));
        let mut units: Vec<u16> = self.half.take().into_iter().chain(pairs).collect();
        let is_first_half = |unit: &u16| (0xd800..0xdc00).contains(unit);
        if !chunk.is_empty() && units.last().is_some_and(is_first_half) {
            self.half = units.pop();
        }
        let text: String =
            char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        self.ready = Cursor::new(text.trim_start_matches('\u{feff}').as_bytes().to_vec());
        Ok(())
    }
}

impl Read for Utf16 {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.ready.position() as usize >= self.ready.get_ref().len() {
            self.refill()?;
        }
        self.ready.read(into)
    }
}
