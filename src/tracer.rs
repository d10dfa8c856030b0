//! The process of `threadline record` that may need rights: it sets tracefs up and hands the open files over.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    threadline::tracefs::server::main(std::env::args_os().skip(1))
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    // Only Linux has tracefs.
    ExitCode::FAILURE
}
