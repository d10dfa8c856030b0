//! The kernel's tracefs: an order comes in, an instance of the ring buffer with open files goes out; everything is
//! restored at the end.
//!
//! This module is the part of a recording that needs rights. It runs in a process of its own (`threadline-tracer`),
//! which parses its command line (`order`), sets up an instance (`instance`), hands the open files to the process that
//! started it (`channel`) and waits until that process ends (`server`). It reads no page of the ring buffer and no file
//! of the user, and uses no other module of the program except `base` and the constants of `tracedat`.
//!
//! ```text
//! order    what is recorded, as the arguments of a command line
//! folder   files of tracefs: reading, writing, and reasons of failures
//! shell    a shell on another machine, which reads and writes files there
//! catalog  the events that the kernel offers
//! journal  old values of what was changed outside the instance, kept in a file until they are restored
//! instance sets up an order
//! head     the kernel's texts for the start of a trace.dat
//! channel  messages with open files, between two processes
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
