//! Kernel objects as records name them: their types, classes and names.

use serde::{Deserialize, Serialize};

use crate::base::StringId;
use crate::fxt::layout::kernel_object;

/// `ZX_OBJ_TYPE_PROCESS`.
pub(super) const OBJECT_PROCESS: u64 = kernel_object::PROCESS;
/// `ZX_OBJ_TYPE_THREAD`.
pub(crate) const OBJECT_THREAD: u64 = kernel_object::THREAD;

/// Returns the name of a kernel object type (`ZX_OBJ_TYPE`).
#[must_use]
pub(crate) fn object_type_name(object_type: u64) -> &'static str {
    match object_type {
        OBJECT_PROCESS => "process",
        OBJECT_THREAD => "thread",
        3 => "vmo",
        4 => "channel",
        5 => "event",
        6 => "port",
        9 => "interrupt",
        11 => "pci device",
        12 => "debug log",
        14 => "socket",
        15 => "resource",
        16 => "event pair",
        17 => "job",
        18 => "vmar",
        19 => "fifo",
        20 => "guest",
        21 => "vcpu",
        22 => "timer",
        23 => "iommu",
        24 => "bti",
        25 => "profile",
        26 => "pmt",
        27 => "suspend token",
        28 => "pager",
        29 => "exception",
        30 => "clock",
        31 => "stream",
        32 => "msi",
        _ => "object",
    }
}

/// Class of all types other than process and thread. Koids are unique only within a class: some writers give a process
/// and its main thread the same number, as in 2 of the 50 FXT files of the corpus and the samples. 3 of these
/// files name objects of other types.
pub(super) const OBJECT_OTHER: u64 = 0;

pub(super) fn sort_of(object_type: u64) -> u64 {
    match object_type {
        OBJECT_PROCESS | OBJECT_THREAD => object_type,
        _ => OBJECT_OTHER,
    }
}

/// Contents of a kernel object record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelObject<'a> {
    /// The object.
    pub koid: u64,
    /// Its type (`ZX_OBJ_TYPE`).
    pub object_type: u64,
    /// Its name.
    pub name: &'a [u8],
    /// Koid of the process that the record names.
    pub process: Option<u64>,
    /// Place of the record, if it has arguments other than the process.
    pub with_arguments: Option<u64>,
}

/// Name and type of a kernel object.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct ObjectName {
    pub object_type: u64,
    pub name: StringId,
    /// Place of its record, if the record has arguments other than the process.
    pub with_arguments: Option<u64>,
}

/// A kernel object that a file names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedObject<'a> {
    /// The number of its type.
    pub object_type: u64,
    /// Its koid.
    pub koid: u64,
    /// Its name.
    pub name: &'a [u8],
    /// Place of its record, if the record has arguments other than the process.
    pub with_arguments: Option<u64>,
}
