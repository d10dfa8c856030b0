//! Operating system calls below the window, one small module each. A module's functions exist on every system and do
//! what the system supports. docs/platforms.md lists what is missing where.

pub mod files;
pub mod memory;
pub(crate) mod streams;
pub(crate) mod unnamed_file;
