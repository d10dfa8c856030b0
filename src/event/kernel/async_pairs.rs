//! Kernel events that begin and end operations which may end on another thread than they begin. **To add a pair, add a
//! row to [`ASYNC_PAIRS`].**

use super::pairs::{PairEnd, strip_ending};

/// Kernel events that begin and end an asynchronous slice, on tracks of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AsyncPair {
    /// Name of the group of tracks.
    pub group: &'static str,
    /// `system:event` that begins the slice.
    pub begin: &'static str,
    /// The `system:event`s that end the slice.
    pub ends: &'static [&'static str],
    /// The fields, in all events, whose values form the slice's id. Names of the same field in other kernels follow
    /// after `|`; fields that an event does not have are skipped.
    pub keys: &'static [&'static str],
    /// The field of the begin with the slice's name; empty: the begin's own name is used.
    pub name: &'static str,
}

impl AsyncPair {
    /// Returns the name of the begin event without its ending.
    #[must_use]
    pub(crate) fn stem(&self) -> &'static str {
        strip_ending(
            self.begin
                .split_once(':')
                .map_or(self.begin, |(_, event)| event),
        )
    }
}

/// The asynchronous pairs.
pub(crate) const ASYNC_PAIRS: &[AsyncPair] = &[
    AsyncPair {
        group: "SCSI commands",
        begin: "scsi:scsi_dispatch_cmd_start",
        ends: &[
            "scsi:scsi_dispatch_cmd_done",
            "scsi:scsi_dispatch_cmd_error",
            "scsi:scsi_dispatch_cmd_timeout",
        ],
        keys: &["host_no", "channel", "id", "lun", "driver_tag"],
        name: "",
    },
    AsyncPair {
        group: "ATA commands",
        begin: "libata:ata_qc_issue",
        ends: &[
            "libata:ata_qc_complete_done",
            "libata:ata_qc_complete_failed",
            "libata:ata_qc_complete_internal",
        ],
        keys: &["ata_port", "ata_dev", "tag"],
        name: "",
    },
    AsyncPair {
        group: "NVMe commands",
        begin: "nvme:nvme_setup_cmd",
        ends: &["nvme:nvme_complete_rq"],
        keys: &["ctrl_id", "qid", "cid|cmdid"],
        name: "",
    },
    AsyncPair {
        group: "MMC requests",
        begin: "mmc:mmc_request_start",
        ends: &["mmc:mmc_request_done"],
        keys: &["mrq"],
        name: "",
    },
    AsyncPair {
        group: "FUSE requests",
        begin: "fuse:fuse_request_send",
        ends: &["fuse:fuse_request_end"],
        keys: &["connection", "unique|req"],
        name: "",
    },
    AsyncPair {
        group: "RPC tasks",
        begin: "sunrpc:rpc_task_begin",
        ends: &["sunrpc:rpc_task_end"],
        keys: &["client_id", "task_id"],
        name: "",
    },
    AsyncPair {
        group: "SPI messages",
        begin: "spi:spi_message_start",
        ends: &["spi:spi_message_done"],
        keys: &["msg"],
        name: "",
    },
    AsyncPair {
        group: "jbd2 commits",
        begin: "jbd2:jbd2_start_commit",
        ends: &["jbd2:jbd2_end_commit"],
        keys: &["dev", "transaction"],
        name: "",
    },
];

/// An event's row of [`ASYNC_PAIRS`], and which end the event is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndOfPair {
    pub pair: &'static AsyncPair,
    pub end: PairEnd,
}

/// Returns the row of [`ASYNC_PAIRS`] for `system:event`, and which end the event is.
#[must_use]
pub(crate) fn find_async_pair(system: &str, event: &str) -> Option<EndOfPair> {
    let is = |pattern: &str| pattern.split_once(':') == Some((system, event));
    ASYNC_PAIRS.iter().find_map(|pair| {
        if is(pair.begin) {
            Some(EndOfPair {
                pair,
                end: PairEnd::Begin,
            })
        } else {
            let is_end = pair.ends.iter().any(|end| is(end));
            is_end.then_some(EndOfPair {
                pair,
                end: PairEnd::End,
            })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_the_ends_is_found() {
        assert_eq!(
            find_async_pair("libata", "ata_qc_complete_failed").map(|found| found.end),
            Some(PairEnd::End)
        );
    }
}
