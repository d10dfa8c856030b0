//! Lookup tables from texts of the recorded kernel in a trace.dat: symbols, printk formats, thread names.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

/// The kernel's symbols, to find the function that contains an address.
///
/// Built from `addr type name[\t[module]]` lines. Absolute symbols (type A) and names that start with `$` are skipped;
/// a table whose addresses are all 0 (hidden from the recording user) counts as empty. The lines are parsed when the
/// first symbol is asked for: a kernel has 200,000 symbols, of which many recordings need none.
#[derive(Clone, Debug, Default)]
pub struct Kallsyms {
    text: Vec<u8>,
    symbols: OnceLock<Vec<SymbolRow>>,
}

#[derive(Clone, Copy, Debug)]
struct SymbolRow {
    address: u64,
    name: u32,
    name_len: u16,
    module_len: u16,
}

/// The symbol that contains an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Symbol<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Name of its module without brackets; empty for the kernel itself.
    pub module: &'a [u8],
    /// Address of its start.
    pub address: u64,
    /// Offset of the looked-up address from its start, in bytes.
    pub offset: u64,
    /// Size in bytes, up to the next symbol; `None` for the last symbol.
    pub size: Option<u64>,
}

impl Kallsyms {
    /// Returns the symbols in the text of /proc/kallsyms.
    #[must_use]
    pub fn new(text: Vec<u8>) -> Kallsyms {
        Kallsyms {
            text,
            symbols: OnceLock::new(),
        }
    }

    /// All symbols, sorted by address; equal addresses in reverse file order.
    fn symbols(&self) -> &[SymbolRow] {
        self.symbols.get_or_init(|| parse_symbols(&self.text))
    }

    /// Returns the symbol that contains `address`: the last one that starts at or before it. If several symbols have
    /// the same start, returns the one that a plain binary search finds first, like libtraceevent.
    #[must_use]
    pub(crate) fn lookup(&self, address: u64) -> Option<Symbol<'_>> {
        let symbols = self.symbols();
        let (mut low, mut high) = (0, symbols.len());
        while low < high {
            let middle = low.midpoint(high);
            let row = symbols.get(middle)?;
            let next = symbols.get(middle + 1).map(|next| next.address);
            if address < row.address {
                high = middle;
            } else if address == row.address || next.is_none_or(|next| address < next) {
                return Some(self.symbol(middle, *row, address));
            } else {
                low = middle + 1;
            }
        }
        None
    }

    /// Returns the first symbol with a greater address than `address`; `at` is the index of a symbol at `address`.
    fn after(&self, at: usize, address: u64) -> Option<&SymbolRow> {
        let symbols = self.symbols();
        let neighbour = symbols.get(at + 1)?;
        if neighbour.address > address {
            return Some(neighbour);
        }
        symbols.get(symbols.partition_point(|other| other.address <= address))
    }

    fn symbol(&self, at: usize, row: SymbolRow, address: u64) -> Symbol<'_> {
        let name = row.name as usize;
        let module = name + usize::from(row.name_len) + 2;
        Symbol {
            name: self.bytes(name, row.name_len),
            module: if row.module_len == 0 {
                &[]
            } else {
                self.bytes(module, row.module_len)
            },
            address: row.address,
            offset: address.wrapping_sub(row.address),
            size: self
                .after(at, row.address)
                .map(|next| next.address.wrapping_sub(row.address)),
        }
    }

    fn bytes(&self, start: usize, length: u16) -> &[u8] {
        self.text
            .get(start..start + usize::from(length))
            .unwrap_or(&[])
    }

    /// Returns the address of the symbol `name`. Compares every symbol.
    #[must_use]
    pub fn find(&self, name: &[u8]) -> Option<u64> {
        let mut rows = self.symbols().iter();
        let row = rows.find(|row| self.bytes(row.name as usize, row.name_len) == name)?;
        Some(row.address)
    }

    /// Returns whether `address` can belong to the kernel: from its first symbol to at most 64 MiB after its last
    /// symbol.
    #[must_use]
    pub(crate) fn covers(&self, address: u64) -> bool {
        const SLACK: u64 = 64 << 20;
        match (self.symbols().first(), self.symbols().last()) {
            (Some(first), Some(last)) => {
                address >= first.address && address <= last.address.saturating_add(SLACK)
            }
            _ => false,
        }
    }

    /// Iterates over all symbols by address; symbols with equal addresses are in reverse file order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Symbol<'_>> {
        let symbols = self.symbols().iter().enumerate();
        symbols.map(|(at, row)| self.symbol(at, *row, row.address))
    }

    /// Returns the number of symbols.
    #[must_use]
    pub fn len(&self) -> usize {
        self.symbols().len()
    }

    /// Returns whether there are no symbols.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.symbols().is_empty()
    }

    /// Returns the heap memory of the table, in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let rows = self.symbols.get().map_or(0, Vec::capacity);
        (self.text.capacity() + rows * size_of::<SymbolRow>()) as u64
    }
}

/// Parses all lines.
fn parse_symbols(text: &[u8]) -> Vec<SymbolRow> {
    let mut symbols = Vec::with_capacity(text.len() / 44);
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text).chain([text.len()]) {
        let line = text.get(start..end).unwrap_or(&[]);
        symbols.extend(parse_symbol(line, start));
        start = end + 1;
    }
    if symbols.iter().all(|symbol| symbol.address == 0) {
        symbols.clear();
    }
    symbols.reverse();
    symbols.sort_by_key(|symbol| symbol.address);
    symbols.shrink_to_fit();
    symbols
}

fn parse_symbol(line: &[u8], start: usize) -> Option<SymbolRow> {
    // 64-bit kernels write 16 digits.
    let space = match line.get(16) {
        Some(b' ') => 16,
        _ => memchr::memchr(b' ', line)?,
    };
    let address = parse_hex(line.get(..space)?)?;
    let sort = *line.get(space + 1)?;
    let rest = line.get(space + 3..)?;
    let tab = rest.iter().position(|&byte| byte == b'\t');
    let name = rest.get(..tab.unwrap_or(rest.len()))?.trim_ascii_end();
    if matches!(sort, b'A' | b'a') || name.is_empty() || name.first() == Some(&b'$') {
        return None;
    }
    let module = tab
        .and_then(|tab| rest.get(tab + 1..))
        .and_then(|module| module.strip_prefix(b"["))
        .and_then(|module| module.get(..memchr::memchr(b']', module)?))
        .filter(|_| tab == Some(name.len()));
    Some(SymbolRow {
        address,
        name: u32::try_from(start + space + 3).ok()?,
        name_len: u16::try_from(name.len()).ok()?,
        module_len: u16::try_from(module.map_or(0, <[u8]>::len)).ok()?,
    })
}

fn parse_hex(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 16 {
        return None;
    }
    text.iter().try_fold(0, |value: u64, &digit| {
        Some(value << 4 | u64::from(char::from(digit).to_digit(16)?))
    })
}

/// The formats of the kernel's `trace_printk` calls, by their address.
#[derive(Clone, Debug, Default)]
pub struct PrintkFormats {
    formats: FxHashMap<u64, Vec<u8>>,
    /// The addresses of all lines, sorted: a format may be listed several times.
    addresses: Vec<u64>,
}

impl PrintkFormats {
    /// Parses `0xADDR : "format\n"` lines.
    #[must_use]
    pub fn parse(text: &[u8]) -> PrintkFormats {
        let formats = text.split(|&byte| byte == b'\n').filter_map(|line| {
            let colon = memchr::memchr(b':', line)?;
            let address = line.get(..colon)?.trim_ascii();
            let address = parse_hex(address.strip_prefix(b"0x").unwrap_or(address))?;
            let format = line.get(colon + 1..)?.trim_ascii();
            let format = format.strip_prefix(b"\"").unwrap_or(format);
            let format = format.strip_suffix(b"\"").unwrap_or(format);
            let format = format.strip_suffix(b"\\n").unwrap_or(format);
            Some((address, format.to_vec()))
        });
        let formats: Vec<(u64, Vec<u8>)> = formats.collect();
        let mut addresses: Vec<u64> = formats.iter().map(|(address, _)| *address).collect();
        addresses.sort_unstable();
        PrintkFormats {
            formats: formats.into_iter().collect(),
            addresses,
        }
    }

    /// Returns the format at `address` with escapes as in C source, without its final `\n`.
    #[must_use]
    pub(crate) fn lookup(&self, address: u64) -> Option<&[u8]> {
        self.formats.get(&address).map(Vec::as_slice)
    }

    /// Iterates over all formats by address, each as often as the file lists it.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let addresses = self.addresses.iter();
        addresses.filter_map(|address| Some((*address, self.lookup(*address)?)))
    }

    /// Returns the number of formats.
    #[must_use]
    pub fn len(&self) -> usize {
        self.formats.len()
    }

    /// Returns whether there are no formats.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.formats.is_empty()
    }
}

/// Thread names at the end of the recording.
#[derive(Clone, Debug, Default)]
pub struct Cmdlines {
    names: FxHashMap<i32, Vec<u8>>,
    order: Vec<i32>,
}

impl Cmdlines {
    /// Parses `PID COMM` lines; for a repeated pid, the last line is used.
    #[must_use]
    pub fn parse(text: &[u8]) -> Cmdlines {
        let mut cmdlines = Cmdlines::default();
        for line in text.split(|&byte| byte == b'\n') {
            let Some(space) = memchr::memchr(b' ', line) else {
                continue;
            };
            let (pid, name) = line.split_at(space);
            let pid = std::str::from_utf8(pid)
                .ok()
                .and_then(|pid| pid.parse().ok());
            if let (Some(pid), Some(name)) = (pid, name.get(1..))
                && cmdlines.names.insert(pid, name.to_vec()).is_none()
            {
                cmdlines.order.push(pid);
            }
        }
        cmdlines
    }

    /// Returns the name of thread `pid`.
    #[must_use]
    pub fn name(&self, pid: i32) -> Option<&[u8]> {
        self.names.get(&pid).map(Vec::as_slice)
    }

    /// Iterates over all pids with their names, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (i32, &[u8])> {
        self.order
            .iter()
            .filter_map(|&pid| Some((pid, self.name(pid)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_find_the_symbol_before_them() {
        let text = b"ffffffff81000300 t b_func\nffffffff81000100 T a_func\n\
            0000000000020000 A gone\nffffffff81000200 t $x\n\
            ffffffffc0000000 t mod_func\t[ext4]\nffffffff81000300 T b_alias\n";
        let symbols = Kallsyms::new(text.to_vec());
        assert_eq!(symbols.len(), 4);
        assert_eq!(symbols.lookup(0xffff_ffff_8100_00ff), None);
        let a = symbols.lookup(0xffff_ffff_8100_0250).unwrap();
        assert_eq!(
            (a.name, a.offset, a.size),
            (&b"a_func"[..], 0x150, Some(0x200))
        );
        let ext4 = symbols.lookup(0xffff_ffff_c000_0010).unwrap();
        assert_eq!((ext4.name, ext4.module), (&b"mod_func"[..], &b"ext4"[..]));
        assert_eq!(ext4.size, None);
        assert!(symbols.covers(0xffff_ffff_8100_0100) && !symbols.covers(0x5555_0000));
        assert!(Kallsyms::new(b"0000000000000000 T hidden\n".to_vec()).is_empty());
    }

    #[test]
    fn printk_formats_and_names() {
        let printk = PrintkFormats::parse(b"0xffffffff81 : \"got %d\\n\"\nbad\n0x2 : \"x\"\n");
        assert_eq!(printk.lookup(0xff_ffff_ff81), Some(&b"got %d"[..]));
        assert_eq!((printk.lookup(2), printk.len()), (Some(&b"x"[..]), 2));
        let names = Cmdlines::parse(b"12 two words\n7 a\n12 last one\nx y\n");
        assert_eq!(names.name(12), Some(&b"last one"[..]));
        assert_eq!(
            names.iter().map(|(pid, _)| pid).collect::<Vec<_>>(),
            [12, 7]
        );
    }
}
