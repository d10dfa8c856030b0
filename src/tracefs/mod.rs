//! The kernel's tracefs: what to record in, an instance of the ring buffer with open files out, everything put back
//! at the end.
//!
//! This floor is the part of a recording that needs rights. It runs in a process of its own (`threadline-tracer`), which
//! parses its command line (`order`), sets an instance up (`instance`), hands the open files to the process that
//! started it (`channel`) and waits until that one ends (`server`). It sees no page of the ring buffer, no file of the
//! user and no other module of the program but `base` and the numbers of `tracedat`.
//!
//! ```text
//! order    what is recorded, as the arguments of a command line
//! folder   files of tracefs: reading, writing, and why that failed
//! shell    another machine, whose files a shell reads and writes
//! catalog  the events that the kernel offers
//! journal  what was changed outside the instance, kept in a file until it is put back
//! instance an order carried out
//! head     the texts of the kernel that a trace.dat begins with
//! channel  messages with open files between two processes
//! server   the process with the rights
//! ```

pub mod catalog;
pub(crate) mod channel;
pub mod folder;
pub(crate) mod head;
pub(crate) mod instance;
pub mod journal;
pub mod order;
pub mod server;
pub(crate) mod shell;
