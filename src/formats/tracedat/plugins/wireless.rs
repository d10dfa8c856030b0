//! Wireless drivers: several lines for one event.

use super::plugin::{Event, Plugin, State, Then};
use crate::formats::tracedat::print_fmt::printf::{push_hex, push_many, push_signed};

pub(super) const PLUGINS: &[Plugin] = &[Plugin {
    system: "mac80211",
    event: "drv_bss_info_changed",
    fields: &[
        "wiphy_name",
        "vif_name",
        "vif_type",
        "assoc",
        "aid",
        "cts",
        "shortpre",
        "shortslot",
        "dtimper",
        "bcnint",
        "assoc_cap",
        "basic_rates",
        "enable_beacon",
        "ht_operation_mode",
    ],
    show,
}];

/// Column at which the lines after the first start.
const INDENT: usize = 65;

fn show(out: &mut Vec<u8>, event: &Event<'_>, _: &mut State<'_>) -> Then {
    let name = |index: usize| {
        PLUGINS
            .first()
            .and_then(|plugin| plugin.fields.get(index))
            .copied()
            .unwrap_or("")
    };
    let text = |out: &mut Vec<u8>, index: usize| match event.field(index) {
        Some(field) => {
            let data = field.data(event.scope.record, event.scope.endian);
            let data = data.unwrap_or(&[]);
            let length = memchr::memchr(0, data).unwrap_or(data.len());
            out.extend_from_slice(data.get(..length).unwrap_or(data));
        }
        None => {
            out.extend_from_slice(b"NOTFOUND:");
            out.extend_from_slice(name(index).as_bytes());
        }
    };
    text(out, 0);
    out.extend_from_slice(b" vif:");
    text(out, 1);
    if let Some(value) = event.signed(2) {
        out.push(b'(');
        push_signed(out, value);
        out.push(b')');
    }
    let rows: [&[usize]; 3] = [&[3, 4, 5, 6, 7, 8], &[9, 10, 11, 12], &[13]];
    for row in rows {
        out.push(b'\n');
        push_many(out, b' ', INDENT);
        for &index in row {
            if let Some(value) = event.signed(index) {
                out.extend_from_slice(name(index).as_bytes());
                out.push(b':');
                if matches!(index, 10 | 11) {
                    if value != 0 {
                        out.extend_from_slice(b"0x");
                    }
                    push_hex(out, value as u64);
                } else {
                    push_signed(out, value);
                }
            }
            if !matches!(index, 12 | 13) {
                out.push(b' ');
            }
        }
    }
    Then::Done
}
