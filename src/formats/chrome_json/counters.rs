//! Counter events: each argument that is a number is a sample of a series.

use super::emit::{Emitter, Event};
use super::numbers::float;
use super::scan::{Members, Raw};
use crate::base::StringId;
use crate::event::{Role, Sample, Series, SeriesScope, series_name};

/// The key of a counter's series in a part; [`series_name`] returns its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SeriesKey {
    event: StringId,
    argument: StringId,
    id: StringId,
    scope: SeriesScope,
}

impl<'f> Emitter<'f> {
    pub(super) fn counter(&mut self, event: &Event<'_, 'f>) {
        let index = self.push(event, Role::Named);
        let scope = match self.out.people.process(event.pair.process) {
            Some(process) => SeriesScope::Process(process),
            None => SeriesScope::Global,
        };
        let id = self.name(event.raw.more.id);
        for (argument, value) in Members::of(event.raw.args.nested()) {
            let number = match value {
                Raw::Word(word) => float(word),
                Raw::Text(text) => float(text.bytes),
                Raw::None | Raw::Nested(_) => None,
            };
            let Some(value) = number else {
                self.hint("counter_not_a_number", event.at, || {
                    "an argument of a counter is not a number".to_owned()
                });
                continue;
            };
            let argument = self.intern(argument);
            let series = self.series(SeriesKey {
                event: event.name,
                argument,
                id,
                scope,
            });
            self.out.columns.samples.push(Sample {
                event: index,
                series,
                value,
            });
        }
    }

    /// Returns the index of the series of a counter event's argument.
    fn series(&mut self, key: SeriesKey) -> u32 {
        let columns = &mut self.out.columns;
        *self.all_series.entry(key).or_insert_with(|| {
            let strings = &mut columns.strings;
            let text = |id| strings.bytes(id);
            let name = series_name(text(key.event), text(key.argument), text(key.id));
            let name = strings.intern(&name);
            columns.series.push(Series {
                name,
                scope: key.scope,
            });
            columns.series.len() as u32 - 1
        })
    }
}
