//! Which file of `src/` uses names of which other file: the texts of the files in, all uses out.
//!
//! A path (after `use` or in an expression) that begins with `crate`, `super`, `self`, a child module or an
//! imported name is followed to the file that defines its last name: a module that only imports or re-exports
//! a name is passed over. Methods are not followed: calling one needs no import.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use super::words::{is_name, words_of};

/// The files of the library and what each of them uses.
pub struct House {
    /// Paths below `src/`, sorted.
    pub files: Vec<PathBuf>,
    /// What each file uses of others, by the index of the file.
    pub uses: Vec<Vec<Use>>,
}

/// One name that a file uses.
pub struct Use {
    /// The index of the file that defines the name.
    pub file: usize,
    /// The path by which the name is used, from the crate's root.
    pub path: Vec<String>,
    /// What it is used for.
    pub purpose: Purpose,
}

/// What a file uses a name for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The file's own code.
    Code,
    /// A re-export: the file does not need the name itself.
    Reexport,
    /// The file's unit tests.
    Test,
}

/// A module's path from the crate's root and what its file says.
struct Module {
    path: Vec<String>,
    /// Modules that have a file of their own.
    children: BTreeSet<String>,
    /// Names that the file defines.
    defined: BTreeSet<String>,
    named: Vec<Named>,
    /// Names of types and called functions that occur in the code without a path.
    plain: BTreeSet<String>,
}

/// One path in a file.
struct Named {
    path: Vec<String>,
    /// The name in this file of what is imported, `*` for all names of a module; `None` in an expression.
    alias: Option<String>,
    purpose: Purpose,
    /// The modules inside of the file that the path stands in.
    inner: Vec<String>,
}

impl House {
    /// Reads all files below `src`, the folder of a library.
    pub fn read(src: &Path) -> House {
        let mut files = Vec::new();
        rust_files(src, &mut files);
        // The programs are other crates.
        files.retain(|file| *file != src.join("main.rs") && *file != src.join("tracer.rs"));
        let texts = files.into_iter().map(|file| {
            let text = std::fs::read_to_string(&file).unwrap();
            (file.strip_prefix(src).unwrap().to_path_buf(), text)
        });
        House::of(texts.collect())
    }

    /// Analyses files given by path below `src` and text.
    pub fn of(mut texts: Vec<(PathBuf, String)>) -> House {
        texts.sort();
        let modules: Vec<Module> = texts
            .iter()
            .map(|(file, text)| Reading::module(file, text))
            .collect();
        let by_path: HashMap<&[String], usize> = (modules.iter().enumerate())
            .map(|(index, module)| (module.path.as_slice(), index))
            .collect();
        let library = Crate {
            modules: &modules,
            by_path,
        };
        House {
            uses: (0..modules.len())
                .map(|index| library.uses_of(index))
                .collect(),
            files: texts.into_iter().map(|(file, _)| file).collect(),
        }
    }

    /// The files that each file's own code uses.
    pub fn code_uses(&self) -> Vec<BTreeSet<usize>> {
        let code = |uses: &Vec<Use>| {
            let code = uses.iter().filter(|used| used.purpose == Purpose::Code);
            code.map(|used| used.file).collect()
        };
        self.uses.iter().map(code).collect()
    }

    /// The names of `to` that the code of `from` uses.
    pub fn names(&self, from: usize, to: usize) -> BTreeSet<&str> {
        self.uses[from]
            .iter()
            .filter(|used| used.file == to && used.purpose == Purpose::Code)
            .filter_map(|used| used.path.last().map(String::as_str))
            .collect()
    }
}

fn rust_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
}

/// `formats/fxt/mod.rs` is `formats::fxt`.
fn module_path(file: &Path) -> Vec<String> {
    let mut path: Vec<String> = (file.with_extension("").iter())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    if matches!(path.last().map(String::as_str), Some("mod" | "lib")) {
        path.pop();
    }
    path
}

struct Crate<'a> {
    modules: &'a [Module],
    by_path: HashMap<&'a [String], usize>,
}

/// Re-exports of re-exports are followed so far.
const MOST_REEXPORTS: usize = 8;

impl Crate<'_> {
    fn uses_of(&self, index: usize) -> Vec<Use> {
        let module = &self.modules[index];
        let mut aliases: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for named in &module.named {
            if let (Some(alias), Some(path)) = (&named.alias, module.absolute(named)) {
                aliases.insert(alias, path);
            }
        }
        let mut uses = Vec::new();
        for named in &module.named {
            let path = module.absolute(named).or_else(|| {
                let mut path = aliases.get(named.path.first()?.as_str())?.clone();
                path.extend_from_slice(&named.path[1..]);
                Some(path)
            });
            let Some(path) = path else { continue };
            let file = self.definer(&path, MOST_REEXPORTS);
            let is_needed = named.purpose == Purpose::Reexport
                && (named.alias.as_ref()).is_some_and(|alias| module.plain.contains(alias));
            if file != index {
                let purpose = if is_needed {
                    Purpose::Code
                } else {
                    named.purpose
                };
                uses.push(Use {
                    file,
                    path,
                    purpose,
                });
            }
        }
        uses
    }

    /// The file that defines what `path` names: of the deepest module on the path, or where that has the name from.
    fn definer(&self, path: &[String], reexports_left: usize) -> usize {
        let (length, index) = (0..=path.len())
            .rev()
            .find_map(|length| Some((length, *self.by_path.get(&path[..length])?)))
            .expect("lib.rs has the empty path");
        let module = &self.modules[index];
        let Some(name) = path
            .get(length)
            .filter(|name| !module.defined.contains(*name))
        else {
            return index;
        };
        if reexports_left == 0 {
            return index;
        }
        for named in module.named.iter().filter(|it| it.purpose != Purpose::Test) {
            let (Some(alias), Some(mut source)) = (&named.alias, module.absolute(named)) else {
                continue;
            };
            if alias == name {
                return self.definer(&source, reexports_left - 1);
            }
            if alias == "*" {
                source.push(name.clone());
                let found = self.definer(&source, reexports_left - 1);
                // Which names a glob brings is known only from the module that defines one.
                if self.modules[found].defined.contains(name) {
                    return found;
                }
            }
        }
        index
    }
}

impl Module {
    /// The path from the crate's root, if its first word says where it begins.
    fn absolute(&self, named: &Named) -> Option<Vec<String>> {
        let mut at: Vec<String> = self.path.iter().chain(&named.inner).cloned().collect();
        let mut rest = named.path.as_slice();
        match rest.first()?.as_str() {
            "crate" => {
                at.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|word| word == "super") {
                    at.pop();
                    rest = &rest[1..];
                }
            }
            child if self.children.contains(child) => at.clone_from(&self.path),
            _ => return None,
        }
        at.extend_from_slice(rest);
        Some(at)
    }
}

const TEST_ATTRIBUTE: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];

/// A module while its words are read.
struct Reading {
    words: Vec<String>,
    at: usize,
    /// Where the unit tests end that are being read; 0: none were met yet.
    tests_end: usize,
    /// The file's inner modules that are open, each with where it ends.
    inner: Vec<(String, usize)>,
    is_test_file: bool,
    module: Module,
}

impl Reading {
    fn module(file: &Path, text: &str) -> Module {
        let mut reading = Reading {
            words: words_of(text),
            at: 0,
            tests_end: 0,
            inner: Vec::new(),
            is_test_file: file
                .iter()
                .any(|name| name == "tests" || name == "tests.rs"),
            module: Module {
                path: module_path(file),
                children: BTreeSet::new(),
                defined: BTreeSet::new(),
                named: Vec::new(),
                plain: BTreeSet::new(),
            },
        };
        while reading.at < reading.words.len() {
            reading.step();
        }
        reading.module
    }

    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", String::as_str)
    }

    fn purpose(&self) -> Purpose {
        if self.is_test_file || self.at < self.tests_end {
            Purpose::Test
        } else {
            Purpose::Code
        }
    }

    /// Reads the item, path or word at `at` and moves behind it.
    fn step(&mut self) {
        while self.inner.last().is_some_and(|(_, end)| self.at >= *end) {
            self.inner.pop();
        }
        let is_public = self.word(self.at) == "pub";
        if is_public {
            self.at += 1;
            if self.word(self.at) == "(" {
                self.at = self.end_of_item(self.at, ("(", ")"));
            }
        }
        match self.word(self.at) {
            "#" if (0..)
                .zip(TEST_ATTRIBUTE)
                .all(|(i, word)| self.word(self.at + i) == word) =>
            {
                self.at += TEST_ATTRIBUTE.len();
                self.tests_end = self.tests_end.max(self.end_of_item(self.at, ("{", "}")));
            }
            "mod" => {
                let name = self.word(self.at + 1).to_owned();
                if self.word(self.at + 2) == ";" {
                    self.module.children.insert(name);
                } else {
                    let end = self.end_of_item(self.at, ("{", "}"));
                    self.inner.push((name, end));
                }
                self.at += 2;
            }
            "use" => {
                self.at += 1;
                let purpose = match self.purpose() {
                    Purpose::Code if is_public => Purpose::Reexport,
                    purpose => purpose,
                };
                self.read_use(&mut Vec::new(), purpose);
                self.at += 1;
            }
            "struct" | "enum" | "fn" | "trait" | "const" | "static" | "type" | "union"
            | "macro_rules" => {
                self.at += 1;
                if self.inner.is_empty() && is_name(self.word(self.at)) {
                    let name = self.word(self.at).to_owned();
                    self.module.defined.insert(name);
                    self.at += 1;
                }
            }
            word if is_name(word) => self.read_path(),
            _ => self.at += 1,
        }
    }

    /// Reads a name in the code and the names behind it.
    fn read_path(&mut self) {
        let is_method = self.at > 0 && self.word(self.at - 1) == ".";
        let mut path = vec![self.word(self.at).to_owned()];
        while self.word(self.at + 1) == "::" && is_name(self.word(self.at + 2)) {
            path.push(self.word(self.at + 2).to_owned());
            self.at += 2;
        }
        self.at += 1;
        if path.len() > 1 {
            self.push(path, None, self.purpose());
        } else if let Some(word) = path.pop()
            && self.purpose() == Purpose::Code
            && !is_method
            && (self.word(self.at) == "(" || word.starts_with(char::is_uppercase))
        {
            self.module.plain.insert(word);
        }
    }

    fn push(&mut self, path: Vec<String>, alias: Option<String>, purpose: Purpose) {
        let inner = self.inner.iter().map(|(name, _)| name.clone()).collect();
        self.module.named.push(Named {
            path,
            alias,
            purpose,
            inner,
        });
    }

    /// The place behind the item or bracket that begins at `at`: behind its semicolon, or its closing bracket.
    fn end_of_item(&self, at: usize, (open, close): (&str, &str)) -> usize {
        let mut depth = 0;
        for (place, word) in self.words.iter().enumerate().skip(at) {
            if word == open {
                depth += 1;
            } else if word == close {
                depth -= 1;
            }
            if depth == 0 && (word == close || word == ";") {
                return place + 1;
            }
        }
        self.words.len()
    }

    /// Reads what stands after `use`, or one branch of it, up to the semicolon, comma or brace behind it.
    fn read_use(&mut self, prefix: &mut Vec<String>, purpose: Purpose) {
        let depth = prefix.len();
        let mut alias = None;
        loop {
            match self.word(self.at) {
                "::" => {}
                "{" => {
                    while !matches!(self.word(self.at), "}" | "") {
                        self.at += 1;
                        if self.word(self.at) != "}" {
                            self.read_use(prefix, purpose);
                        }
                    }
                    self.at += 1;
                    prefix.truncate(depth);
                    return;
                }
                "as" => {
                    self.at += 1;
                    alias = Some(self.word(self.at).to_owned());
                }
                "," | "}" | ";" | "" => break,
                name => {
                    let name = name.to_owned();
                    prefix.push(name);
                }
            }
            self.at += 1;
        }
        let mut path = prefix.clone();
        prefix.truncate(depth);
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let last = path.last().cloned();
        if last.as_deref() == Some("*") {
            path.pop();
        }
        self.push(path, alias.or(last), purpose);
    }
}

#[test]
fn names_are_followed_to_the_file_that_defines_them() {
    let texts = [
        ("lib.rs", "pub mod a; pub mod b;"),
        (
            "a/mod.rs",
            "mod deep; pub use deep::{Deep, Seen}; use crate::b; fn f() -> Seen { b::g() }",
        ),
        (
            "a/deep.rs",
            "pub struct Deep; pub struct Seen; mod inner { use super::Deep; }",
        ),
        (
            "b.rs",
            "use crate::a::{Deep as D, Seen}; pub fn g() -> Seen {}
             #[cfg(test)] mod tests { use super::*; fn t() { crate::a::f(); } }",
        ),
    ];
    let house = House::of(
        texts
            .map(|(file, text)| (file.into(), text.into()))
            .to_vec(),
    );
    let files: Vec<_> = house
        .files
        .iter()
        .map(|file| file.to_str().unwrap())
        .collect();
    assert_eq!(files, ["a/deep.rs", "a/mod.rs", "b.rs", "lib.rs"]);
    let uses = house.code_uses();
    assert_eq!(uses, [[].into(), [0, 2].into(), [0].into(), [].into()]);
    assert_eq!(house.names(2, 0), ["Deep", "Seen"].into());
    // What `a` re-exports and does not need itself is no use; the unit test of `b` uses `a`.
    assert_eq!(house.names(1, 0), ["Seen"].into());
    assert!(
        house.uses[2]
            .iter()
            .any(|it| it.file == 1 && it.purpose == Purpose::Test)
    );
}
