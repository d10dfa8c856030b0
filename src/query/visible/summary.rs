//! The draw list of several rows as one: the mean of their times, column by column.

use super::block::Block;
use super::buckets::Buckets;
use crate::base::TimeSpan;
use crate::index::lod::PARTS;
use crate::index::tally::Tally;

/// The total of the rows in a column.
#[derive(Clone, Default)]
struct Sum {
    times: [f32; PARTS],
    tally: Tally,
    has_any: bool,
}

/// Writes the mean of `count` rows to `out`, which is emptied first; `list` writes the blocks of each row into an empty
/// list.
pub fn summary(
    count: usize,
    span: TimeSpan,
    pixels: u32,
    mut list: impl FnMut(usize, &mut Vec<Block>),
    out: &mut Vec<Block>,
) {
    let buckets = Buckets::new(span, pixels);
    let mut sums = vec![Sum::default(); buckets.count];
    let mut blocks = Vec::new();
    for row in 0..count {
        blocks.clear();
        list(row, &mut blocks);
        for block in &blocks {
            let busy: f32 = block.times.iter().sum();
            buckets.divide(block.start..block.end, |part| {
                let Some(sum) = sums.get_mut(part.column) else {
                    return;
                };
                sum.has_any = true;
                for (time, more) in sum.times.iter_mut().zip(block.times) {
                    *time += more * part.share;
                }
                let weight = (busy * part.share).max(1.0);
                sum.tally.add(block.label, weight);
            });
        }
    }
    let share = 1.0 / count.max(1) as f32;
    out.clear();
    out.extend(
        (0..)
            .zip(sums)
            .filter(|(_, sum)| sum.has_any)
            .map(|(column, sum)| {
                buckets.block(
                    column,
                    sum.tally.most(),
                    column as u32,
                    sum.times.map(|time| time * share),
                )
            }),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Timestamp;

    #[test]
    fn a_summary_is_the_mean_of_its_rows() {
        let item = |start: i64, end: i64, label| {
            let mut times = [0.0; PARTS];
            times[0] = (end - start) as f32;
            Block {
                start,
                end,
                label,
                first: 0,
                count: 1,
                times,
            }
        };
        let rows = [
            vec![item(0, 250, 1)],
            vec![item(150, 200, 2), item(380, 480, 2)],
        ];
        let span = TimeSpan::new(Timestamp(0), Timestamp(400));
        let mut out = Vec::new();
        summary(2, span, 4, |row, list| list.extend(&rows[row]), &mut out);
        let seen: Vec<_> = out
            .iter()
            .map(|it| (it.start, it.end, it.label, it.times[0]))
            .collect();
        assert_eq!(
            seen,
            [
                (0, 100, 1, 50.0),
                (100, 200, 1, 75.0),
                (200, 300, 1, 25.0),
                (300, 400, 2, 10.0)
            ]
        );
    }
}
