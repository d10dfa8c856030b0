//! One page of a trace.dat's ring buffer: its records, in both byte orders and for both sizes of `long`.
#![no_main]

use threadline::base::{Big, ByteOrder, Little};
use threadline::formats::tracedat::page::{Records, payload_at, read_head};
use threadline::tracedat::layout::Layout;

fn walk<E: ByteOrder>(page: &[u8], layout: Layout) {
    let Some(head) = read_head::<E>(page, layout) else { return };
    let mut records = Records::<E>::new(page, layout, &head);
    let mut at = records.at();
    while let Some(record) = records.next() {
        // What is read on demand is what was read in the walk.
        assert_eq!(payload_at::<E>(page, record.at), Some(record.payload));
        assert!(records.at() > at, "a record takes room");
        at = records.at();
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for layout in [Layout { commit_size: 8, data: 16 }, Layout { commit_size: 4, data: 12 }] {
        walk::<Little>(bytes, layout);
        walk::<Big>(bytes, layout);
    }
});
