//! Where bytes come from: a mapped file, standard input, or what was unpacked. From there on they are `&[u8]`.

use std::fs::File;
use std::io::Read;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use super::guard::GuardedMap;
use super::reading::Growth;
use crate::base::{Job, Problem, ReadError};
use crate::formats::Input;
use crate::formats::compression::{self, Stopped, Unwrapped};

/// Files from this size on are mapped; smaller ones are read.
const MAP_FROM_BYTES: u64 = 1 << 20;

/// A file's bytes and what tells whether it was changed since.
#[derive(Debug)]
pub struct Source {
    /// The bytes, unpacked.
    pub input: Input,
    /// Size on disk.
    pub file_bytes: u64,
    /// Where a wrapped file could be unpacked no further, if it was not whole.
    pub stopped: Option<Stopped>,
    map: Option<Arc<GuardedMap>>,
    before: Option<(File, u64, Option<SystemTime>)>,
}

impl Source {
    /// Whether the file shrank or was written to since it was opened. One that is expected to grow may have grown.
    #[must_use]
    pub fn was_changed(&self, growth: Growth) -> bool {
        if self.map.as_ref().is_some_and(|map| map.was_torn()) {
            return true;
        }
        self.before
            .as_ref()
            .is_some_and(|(file, length, modified)| {
                file.metadata().is_ok_and(|now| match growth {
                    Growth::Expected => now.len() < *length,
                    Growth::Unexpected => now.len() != *length || now.modified().ok() != *modified,
                })
            })
    }
}

struct Mapped(Arc<GuardedMap>);

impl Deref for Mapped {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.0.bytes()
    }
}

fn io_error(error: &std::io::Error) -> ReadError {
    let words = match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => {
            "you may not read it (permission denied)".to_owned()
        }
        _ => error.to_string(),
    };
    ReadError::at_byte(0, "file", Problem::Io(words))
}

/// Opens `path` (`-` is standard input) and unpacks what is wrapped in gzip, zstd or lz4.
///
/// # Errors
/// In words for the user: no such file, a folder, no permission, nothing that could be unpacked.
pub fn read(path: &Path, job: &Job) -> Result<Source, ReadError> {
    let file_name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map_err(|error| io_error(&error))?;
        let file_bytes = bytes.len() as u64;
        let (input, stopped) = unwrapped(Input::from_vec(bytes, "standard input"), job)?;
        return Ok(Source {
            input,
            file_bytes,
            stopped,
            map: None,
            before: None,
        });
    }
    let metadata = std::fs::metadata(path).map_err(|error| io_error(&error))?;
    if metadata.is_dir() {
        let words = "this is a folder; open a trace file in it".to_owned();
        return Err(ReadError::at_byte(0, "file", Problem::Io(words)));
    }
    let mut file = File::open(path).map_err(|error| io_error(&error))?;
    if !metadata.is_file() || metadata.len() < MAP_FROM_BYTES {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)
            .map_err(|error| io_error(&error))?;
        let file_bytes = bytes.len() as u64;
        let (input, stopped) = unwrapped(Input::from_vec(bytes, &file_name), job)?;
        return Ok(Source {
            input,
            file_bytes,
            stopped,
            map: None,
            before: None,
        });
    }
    let map = Arc::new(GuardedMap::new(&file).map_err(|error| io_error(&error))?);
    let (input, stopped) = unwrapped(Input::new(Arc::new(Mapped(map.clone())), file_name), job)?;
    let before = Some((file, metadata.len(), metadata.modified().ok()));
    Ok(Source {
        input,
        file_bytes: metadata.len(),
        stopped,
        map: Some(map),
        before,
    })
}

fn unwrapped(input: Input, job: &Job) -> Result<(Input, Option<Stopped>), ReadError> {
    match compression::unwrap_file(input.bytes(), job)? {
        Some(Unwrapped { plain, stopped }) => {
            Ok((Input::from_vec(plain, &input.file_name), stopped))
        }
        None => Ok((input, None)),
    }
}
