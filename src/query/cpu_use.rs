//! How busy CPUs were over time: a span in columns in, a share for each column out. The cost is proportional to the
//! number of columns.

use super::visible::{self, Block};
use crate::base::TimeSpan;
use crate::index::Index;
use crate::trace::{CpuId, Trace};

/// Returns, for each of `columns` equal parts of `span`, the share of it (0 to 1) in which `cpu` ran something.
#[must_use]
pub fn cpu_use(
    trace: &Trace,
    index: &Index,
    cpu: CpuId,
    span: TimeSpan,
    columns: usize,
) -> Vec<f32> {
    let mut shares = vec![0.0_f64; columns];
    let length = span.duration().0;
    if length <= 0 || columns == 0 {
        return vec![0.0; columns];
    }
    let mut blocks: Vec<Block> = Vec::new();
    visible::runs(trace, index, cpu, span, columns as u32, &mut blocks);
    let width = length as f64 / columns as f64;
    for block in &blocks {
        let from = (block.start.max(span.start.0) - span.start.0) as f64 / width;
        let end = block.end.min(trace.span.end.0).min(span.end.0);
        let until = end.saturating_sub(span.start.0).max(0) as f64 / width;
        let mut at = from;
        while at < until {
            let column = at as usize;
            let next = ((column + 1) as f64).min(until);
            if let Some(share) = shares.get_mut(column) {
                *share += (next - at) * f64::from(block.busy());
            }
            at = next.max(at + 1e-9);
        }
    }
    shares
        .into_iter()
        .map(|share| share.min(1.0) as f32)
        .collect()
}
