//! Reads the bodies of the metadata sections, which are equal in versions 6 and 7: texts of the recorded kernel, as
//! event formats and tables.
//!
//! ```text
//! "header_page" NUL | size u64 | text | "header_event" NUL | size u64 | text
//! count u32 | (size u64 | format text) of system ftrace ...
//! systems u32 | (name NUL | events u32 | (size u64 | format text) ...) ...
//! size u32 | kallsyms        size u32 | printk formats        size u64 | "PID COMM" lines
//! ```

use super::btf::Btf;
use super::event_format::{EventFormat, HeaderPage};
use super::tables::{Cmdlines, Kallsyms, PrintkFormats};
use crate::base::{Cursor, Diagnostics, Location, ReadError, Severity};
use crate::event::ThreadKey;
use crate::event::keys::{Group, Moment};
use crate::tracedat::layout::id;

/// Maximum number of kinds of events that are kept (their numbers have 16 bits).
const MAX_FORMATS: usize = 60_000;

/// Event formats, symbols and thread names of the recorded kernel.
#[derive(Debug, Default)]
pub struct Metadata {
    /// Layout of the start of a ring-buffer page; `None` if the file's header_page cannot be parsed.
    pub header_page: Option<HeaderPage>,
    /// The text of header_event.
    pub header_event: String,
    /// All kinds of events, in the order of the file.
    pub formats: Vec<EventFormat>,
    /// The formats as text: each system with the texts of its events, each followed by an empty line.
    pub format_texts: Vec<(String, Vec<u8>)>,
    /// The kernel's symbols.
    pub kallsyms: Kallsyms,
    /// The formats of trace_printk.
    pub printk: PrintkFormats,
    /// Thread names at the end of the recording.
    pub cmdlines: Cmdlines,
    /// The processes of threads; only recordings of Threadline contain them.
    pub thread_groups: Vec<Group>,
    /// Names of enum values.
    pub btf: Btf,
}

impl Metadata {
    /// Replaces names of enum values in the formats' tables by numbers, if the file contains BTF.
    pub(crate) fn resolve_enums(&mut self) {
        if self.btf.is_empty() {
            return;
        }
        for format in &mut self.formats {
            format.print_fmt = self.btf.resolve(&format.print_fmt);
        }
    }

    /// Returns the size of `long` in the recorded kernel, in bytes: 4 or 8.
    #[must_use]
    pub(crate) fn kernel_long_size(&self) -> u32 {
        match self.header_page {
            Some(page) if page.commit.1 == 4 => 4,
            _ => 8,
        }
    }

    /// Reads the body of the section with this id of version 7; version 6 has the same bodies one after the other.
    ///
    /// # Errors
    /// If the body is cut.
    pub(crate) fn read_section(
        &mut self,
        id: u16,
        cursor: &mut Cursor<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), ReadError> {
        match id {
            id::HEADER_INFO => self.read_headers(cursor, diagnostics),
            id::FTRACE_EVENTS => self.read_ftrace_formats(cursor, diagnostics),
            id::EVENT_FORMATS => self.read_systems(cursor, diagnostics),
            id::KALLSYMS => self.read_kallsyms(cursor),
            id::PRINTK => self.read_printk(cursor),
            id::THREAD_GROUPS => self.read_thread_groups(cursor),
            _ => self.read_cmdlines(cursor),
        }
    }

    /// Reads header_page and header_event.
    ///
    /// # Errors
    /// If they are cut. A header_page that cannot be parsed becomes a diagnostic.
    fn read_headers(
        &mut self,
        cursor: &mut Cursor<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), ReadError> {
        let at = cursor.file_offset();
        cursor.until_nul("header_page")?;
        let size = cursor.u64("size of header_page")?;
        self.header_page = HeaderPage::parse(cursor.take(size, "header_page")?);
        if self.header_page.is_none() {
            let code = "header_page_damaged";
            diagnostics.note(code, Severity::Error, Location::Byte(at), || {
                "header_page does not contain the offset of a page's data; the usual layout is used".into()
            });
        }
        cursor.until_nul("header_event")?;
        let size = cursor.u64("size of header_event")?;
        let text = cursor.take(size, "header_event")?;
        self.header_event = String::from_utf8_lossy(text).into_owned();
        Ok(())
    }

    /// Reads the formats of ftrace's own events.
    ///
    /// # Errors
    /// If the list is cut; the formats before the cut are kept.
    fn read_ftrace_formats(
        &mut self,
        cursor: &mut Cursor<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), ReadError> {
        self.read_formats("ftrace", cursor, diagnostics)
    }

    /// Reads the formats of all other systems.
    ///
    /// # Errors
    /// If the list is cut; the formats before the cut are kept.
    fn read_systems(
        &mut self,
        cursor: &mut Cursor<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), ReadError> {
        for _ in 0..cursor.u32("number of systems")? {
            let system = String::from_utf8_lossy(cursor.until_nul("name of a system")?);
            self.read_formats(&system, cursor, diagnostics)?;
        }
        Ok(())
    }

    fn read_formats(
        &mut self,
        system: &str,
        cursor: &mut Cursor<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), ReadError> {
        let long_size = self.kernel_long_size();
        self.format_texts.push((system.to_owned(), Vec::new()));
        for _ in 0..cursor.u32("number of events")? {
            let size = cursor.u64("size of an event's format")?;
            let at = cursor.file_offset();
            let text = cursor.take(size, "event format")?;
            if let Some((_, texts)) = self.format_texts.last_mut() {
                texts.extend_from_slice(text);
                texts.push(b'\n');
            }
            match EventFormat::parse(text, system, long_size) {
                Some(format) if self.formats.len() < MAX_FORMATS => self.formats.push(format),
                _ => diagnostics.note(
                    "event_format_damaged",
                    Severity::Error,
                    Location::Byte(at),
                    || format!("a format of system {system} has no name or no ID"),
                ),
            }
        }
        Ok(())
    }

    /// Reads the kernel's symbols.
    ///
    /// # Errors
    /// If they are cut.
    fn read_kallsyms(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
        let size = u64::from(cursor.u32("size of kallsyms")?);
        self.kallsyms = Kallsyms::new(cursor.take(size, "kallsyms")?.to_vec());
        Ok(())
    }

    /// Reads the formats of trace_printk.
    ///
    /// # Errors
    /// If they are cut.
    fn read_printk(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
        let size = u64::from(cursor.u32("size of printk formats")?);
        self.printk = PrintkFormats::parse(cursor.take(size, "printk formats")?);
        Ok(())
    }

    /// Reads the thread names.
    ///
    /// # Errors
    /// If they are cut.
    fn read_cmdlines(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
        let size = cursor.u64("size of cmdlines")?;
        self.cmdlines = Cmdlines::parse(cursor.take(size, "cmdlines")?);
        Ok(())
    }

    /// Reads the processes of threads: two lists of lines `THREAD PROCESS`, as the recording began and as it ended.
    ///
    /// # Errors
    /// If they are cut.
    fn read_thread_groups(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
        for when in [Moment::Start, Moment::End] {
            let size = cursor.u64("size of thread groups")?;
            let text = cursor.take(size, "thread groups")?;
            let numbers = text.split(|&byte| byte == b'\n').filter_map(|line| {
                let (thread, leader) = std::str::from_utf8(line).ok()?.split_once(' ')?;
                Some((thread.parse().ok()?, leader.parse().ok()?))
            });
            self.thread_groups
                .extend(numbers.map(|(thread, leader)| Group {
                    thread: ThreadKey(thread),
                    leader: ThreadKey(leader),
                    when,
                }));
        }
        Ok(())
    }
}
