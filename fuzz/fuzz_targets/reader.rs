//! One file of one format: its reader is what is fuzzed; few files are read and written as `any_format` does.

#[path = "whole.rs"]
mod whole;

use threadline::formats::Format;
use whole::Depth;

const DEPTH: Depth = Depth { loaded: 64, written: 2048 };

pub fn run(format: &Format, bytes: &[u8]) {
    whole::run(format, bytes, &DEPTH);
}
