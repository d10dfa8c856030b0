//! The process of `threadline record` that may need privileges: it sets up tracefs and passes the open files on.

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
