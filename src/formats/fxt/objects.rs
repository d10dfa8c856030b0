//! The kernel objects that a file names, as facts about the file: converts the scan's objects to rows with fields.
//!
//! Names of processes and threads are part of the model; their objects are listed only if they have arguments that the
//! model cannot contain.

use super::fields::{Texts, field_of};
use super::scan::Scan;
use crate::base::ByteOrder;
use crate::event::part::KernelObject;
use crate::event::{Field, FieldRef};
use crate::fxt::agreed::{DROPPED, LIFE_ARGUMENTS, OVERWRITTEN};
use crate::fxt::args::Args;
use crate::fxt::layout::kernel_object::{self, PROCESS, THREAD};
use crate::fxt::words::{Words, read_text};

/// Returns the objects, sorted by type, then koid.
pub(super) fn kernel_objects<O: ByteOrder>(bytes: &[u8], scan: &Scan) -> Vec<KernelObject> {
    let named = scan.entities.objects_to_list();
    let rows = named.map(|object| KernelObject {
        object_type: object.object_type,
        koid: object.koid,
        name: object.name.to_vec(),
        fields: object
            .with_arguments
            .and_then(|place| arguments_at::<O>(bytes, scan, place))
            .unwrap_or_default(),
    });
    let has_place = |object: &KernelObject| matches!(object.object_type, PROCESS | THREAD);
    let mut objects: Vec<KernelObject> = rows
        .filter(|object| !(has_place(object) && object.fields.is_empty()))
        .collect();
    objects.sort_unstable_by_key(|object| (object.object_type, object.koid));
    objects
}

/// Returns the arguments of the kernel object record at a place; `None` if it is too short.
fn arguments_at<O: ByteOrder>(bytes: &[u8], scan: &Scan, place: u64) -> Option<Vec<Field>> {
    let file = Words::<O>::new(bytes);
    let record = file.record_at(place)?;
    let header = record.get(0)?;
    let mut next = 2;
    read_text(kernel_object::NAME.get(header), record, &mut next)?;
    let texts = Texts {
        file,
        scan,
        slot: scan.tables.provider_at(place),
        place,
    };
    let providers = scan.tables.providers();
    let is_ours = (providers.get(texts.slot as usize)).is_some_and(|provider| provider.is_ours());
    let args = Args::new(record, next, kernel_object::ARGS.get(header));
    let fields = args.map(|arg| FieldRef::into_field(field_of(&texts, arg)));
    // The model contains what this program writes about lives and losses.
    let ours = LIFE_ARGUMENTS.iter().chain(&[OVERWRITTEN, DROPPED]);
    let fields = fields.filter(|field| !(is_ours && ours.clone().any(|name| *name == field.name)));
    let fields: Vec<Field> = fields.collect();
    let has_others = fields.iter().any(|field| field.name != "process");
    Some(fields).filter(|_| has_others || kernel_object::KIND.get(header) != THREAD)
}
