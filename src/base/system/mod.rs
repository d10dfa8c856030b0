//! Operating system calls that are not about windows, in small modules. The functions of a module exist on every system
//! and do what the system supports. docs/platforms.md lists what is missing where.

pub(crate) mod files;
pub(crate) mod memory;
pub(crate) mod streams;
pub(crate) mod unnamed_file;
