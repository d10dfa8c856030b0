//! A recording from its start to its file.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::desk::{Desk, Plan, Recorded, Situation, page_size};
use super::flight::fly;
use super::live::Reports;
use super::names::Names;
use super::session::{Rights, Session, drop_rights};
use super::to_file::to_file;
use super::trouble::RecordError;

/// Records until `is_stopped` is set or the planned end. Calls `report` regularly.
///
/// # Errors
/// If nothing was recorded: then the kernel is as before, and there is no file.
pub fn record(
    plan: &Plan,
    is_stopped: &AtomicBool,
    report: &mut dyn FnMut(Situation),
) -> Result<Recorded, RecordError> {
    let result = record_and_restore(plan, is_stopped, report);
    if let Some(live) = &plan.live {
        live.look(is_stopped);
        live.leave();
    }
    result
}

fn record_and_restore(
    plan: &Plan,
    is_stopped: &AtomicBool,
    report: &mut dyn FnMut(Situation),
) -> Result<Recorded, RecordError> {
    let give_up = || match plan.rights {
        Rights::GivenUp => drop_rights().map_err(RecordError::Io),
        Rights::Kept => Ok(()),
    };
    let mut is_over = || {
        if let Some(live) = &plan.live {
            live.look(is_stopped);
        }
        is_stopped.load(Ordering::Relaxed)
    };
    let mut session = match plan.on.as_slice() {
        [] => Session::start(&plan.order, plan.authority, &mut is_over)?,
        on => {
            // Recording another machine needs no rights here.
            give_up()?;
            Session::start_on(on, &plan.order)?
        }
    };
    let mut reports = None;
    let mut last = Situation::default();
    let result = give_up();
    let result = result.and_then(|()| {
        if let Some(live) = &plan.live {
            reports = Some(Reports::new(live)?);
        }
        let report = &mut |now: Situation| {
            last = now;
            if let Some(reports) = &mut reports {
                reports.add(now);
            }
            report(now);
        };
        let cpus = std::mem::take(&mut session.cpus);
        let mut names = Names::default();
        session.add_names(&mut names);
        // The signal came during set-up: the recording would contain no event.
        if is_stopped.load(Ordering::Relaxed) {
            return Err(RecordError::Stopped);
        }
        let mut desk = Desk {
            plan,
            page_size: page_size(session.formats()?),
            session: &mut session,
            cpus: &cpus,
            names,
            shared: Arc::default(),
            is_stopped,
            report,
        };
        match &plan.flight {
            None => to_file(&mut desk),
            Some(flight) => fly(&mut desk, flight),
        }
    });
    session.close();
    if let (Some(reports), Ok(recorded)) = (&mut reports, &result) {
        reports.end(last, recorded);
    }
    result
}
