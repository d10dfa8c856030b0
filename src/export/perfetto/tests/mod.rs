//! Tests that read exports back with a small reader of the wire format.

pub(super) mod read;
