//! Parses threads in an event's text: context switches and wakeups, in the forms of the kernel, of trace-cmd and of the
//! wakeup tracers.
//!
//! ```text
//! prev_comm=a prev_pid=1 prev_prio=120 prev_state=R ==> next_comm=b next_pid=2 next_prio=120
//! a:1 [120] R ==> b:2 [120]          a:1 [120] success=1 CPU:001
//! task a:1 [120] (R) ==> b:2 [120]   task a:1 [120] success=1 [001]         until 2.6.33
//! 0:120:R ==> [001]  286: 19:R cat   0:120:R   + [001]  286: 19:R cat       wakeup tracers
//! ```

use super::fields::{InOrder, first_word, number};
use crate::event::ThreadState;
use crate::event::kernel::MOST_COMM;
use crate::formats::ftrace_line::prefix::pid_of;
use crate::formats::ftrace_line::short::find_short;

/// One side of a context switch, or the woken thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Task<'a> {
    /// Name of the thread.
    pub comm: &'a [u8],
    /// Pid of the thread.
    pub pid: u32,
    /// Priority of the thread.
    pub priority: i32,
}

/// A context switch in text form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SwitchText<'a> {
    /// The outgoing thread.
    pub prev: Task<'a>,
    /// The incoming thread.
    pub next: Task<'a>,
    /// State of the outgoing thread.
    pub state: &'a [u8],
    /// Form of the text.
    pub form: Form,
}

/// Forms of context switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `prev_comm=a ...`: the kernel, and trace-cmd with raw fields or without its plugins.
    Fields,
    /// `a:1 [120] R ==> b:2 [120]`: trace-cmd, and kernels until 2.6.33.
    Short,
}

/// Meaning of the letters of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StateLetters {
    /// The letters of the traced kernel.
    Kernel,
    /// The letters of trace-cmd before 3.2 in the short form: those of kernels before 3.14, for any kernel.
    OldTraceCmd,
}

/// Parses `prev_comm=a prev_pid=1 prev_prio=120 prev_state=R ==> next_comm=b ...` or `a:1 [120] R ==> b:2 [120]`.
#[must_use]
pub(crate) fn switch(info: &[u8]) -> Option<SwitchText<'_>> {
    if info.starts_with(b"prev_comm=") {
        let mut fields = InOrder::new(info);
        return Some(SwitchText {
            prev: Task {
                comm: fields.field(b"prev_comm")?,
                pid: fields.pid(b"prev_pid")?,
                priority: i32::try_from(fields.number(b"prev_prio")?).ok()?,
            },
            state: first_word(fields.field(b"prev_state")?),
            next: Task {
                comm: fields.field(b"next_comm")?,
                pid: fields.pid(b"next_pid")?,
                priority: i32::try_from(fields.number(b"next_prio")?).ok()?,
            },
            form: Form::Fields,
        });
    }
    // Until 2.6.33: `task a:1 [120] (R) ==> b:2 [120]`.
    let info = info.strip_prefix(b"task ").unwrap_or(info);
    // Names in the kernel are short, but other writers may use longer names.
    short_switch(info, MOST_COMM).or_else(|| short_switch(info, usize::MAX))
}

/// Parses `a:1 [120] R ==> b:2 [120]` with names of at most `most_comm` bytes.
fn short_switch(info: &[u8], most_comm: usize) -> Option<SwitchText<'_>> {
    let mut from = 0;
    loop {
        let arrow = from + find_short(info.get(from..)?, b"==> ")?;
        let found = || {
            let (prev, state) = short_task(info.get(..arrow)?.strip_suffix(b" ")?)?;
            let (next, _) = short_task(info.get(arrow + 4..)?)?;
            let state = state.strip_prefix(b"(").unwrap_or(state);
            let state = state.strip_suffix(b")").unwrap_or(state);
            let is_one_word = !state.is_empty() && !state.contains(&b' ');
            let are_names = prev.comm.len() <= most_comm && next.comm.len() <= most_comm;
            (is_one_word && are_names).then_some(SwitchText {
                prev,
                next,
                state,
                form: Form::Short,
            })
        };
        // An arrow inside a name has no thread before it, or the name after it is too long.
        if let Some(found) = found() {
            return Some(found);
        }
        from = arrow + 4;
    }
}

/// A line of the wakeup tracers instead of an event: `0:120:R ==> [001]  286: 19:R cat`, or with `+` for a wakeup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TracerText<'a> {
    /// The outgoing or waking thread; its name is in the line's columns.
    pub prev: Task<'a>,
    /// Letter of its state.
    pub state: &'a [u8],
    /// The incoming or woken thread.
    pub next: Task<'a>,
    /// The CPU on which the incoming or woken thread is to run.
    pub cpu: u32,
    /// Whether the line is about a wakeup, not a switch.
    pub is_wakeup: bool,
}

/// Parses the text of the kernel's `context_switch` and `wakeup` entries.
#[must_use]
pub(crate) fn tracer_text(body: &[u8]) -> Option<TracerText<'_>> {
    let text = body.trim_ascii();
    let open = memchr::memchr(b'[', text.get(..64).unwrap_or(text))?;
    let before = text.get(..open)?.trim_ascii_end();
    let (before, is_wakeup) = match before.strip_suffix(b"==>") {
        Some(before) => (before, false),
        None => (before.strip_suffix(b"+")?, true),
    };
    let inner = text.get(open + 1..)?;
    let close = memchr::memchr(b']', inner)?;
    let prev = colon_task(before.trim_ascii_end())?;
    let next = colon_task(inner.get(close + 1..)?.trim_ascii_start())?;
    Some(TracerText {
        prev: prev.task,
        state: prev.state,
        next: Task {
            comm: next.rest,
            ..next.task
        },
        cpu: u32::try_from(number(inner.get(..close)?)?).ok()?,
        is_wakeup,
    })
}

/// A task with its state, and the text after it.
struct ColonTask<'a> {
    task: Task<'a>,
    state: &'a [u8],
    rest: &'a [u8],
}

/// Parses `pid:prio:state rest`.
fn colon_task(text: &[u8]) -> Option<ColonTask<'_>> {
    let (pid, rest) = text.split_at_checked(memchr::memchr(b':', text)?)?;
    let rest = rest.get(1..)?;
    let (priority, rest) = rest.split_at_checked(memchr::memchr(b':', rest)?)?;
    let state = first_word(rest.get(1..)?);
    let all_digits = |text: &[u8]| {
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    };
    if !all_digits(pid) || !all_digits(priority.trim_ascii()) {
        return None;
    }
    let task = Task {
        comm: b"",
        pid: pid_of(u64::try_from(number(pid)?).ok()?)?,
        priority: i32::try_from(number(priority.trim_ascii())?).ok()?,
    };
    let after = rest.get(1 + state.len()..)?.trim_ascii();
    (state.len() <= 2).then_some(ColonTask {
        task,
        state,
        rest: after,
    })
}

/// Parses `comm:pid [prio] rest`.
fn short_task(text: &[u8]) -> Option<(Task<'_>, &[u8])> {
    let open = memchr::memmem::rfind(text, b" [")?;
    let inner = text.get(open + 2..)?;
    let close = memchr::memchr(b']', inner)?;
    let name = text.get(..open)?;
    let colon = memchr::memrchr(b':', name)?;
    let task = Task {
        comm: name.get(..colon)?,
        pid: pid_of(u64::try_from(number(name.get(colon + 1..)?)?).ok()?)?,
        priority: i32::try_from(number(inner.get(..close)?)?).ok()?,
    };
    Some((task, inner.get(close + 1..)?.trim_ascii()))
}

/// The text of a wakeup.
pub(crate) struct WakeupText<'a> {
    /// The thread that was woken.
    pub task: Task<'a>,
    /// The CPU on which the thread is to run, if the text contains it.
    pub cpu: Option<u32>,
}

/// Parses `comm=a pid=1 prio=120 target_cpu=001` or `a:1 [120] success=1 CPU:001`.
#[must_use]
pub(crate) fn wakeup(info: &[u8]) -> Option<WakeupText<'_>> {
    if info.starts_with(b"comm=") {
        let mut fields = InOrder::new(info);
        let task = Task {
            comm: fields.field(b"comm")?,
            pid: fields.pid(b"pid")?,
            priority: (fields.number(b"prio"))
                .and_then(|priority| i32::try_from(priority).ok())
                .unwrap_or(0),
        };
        let cpu = fields.pid(b"target_cpu");
        return Some(WakeupText { task, cpu });
    }
    // Until 2.6.33: `task a:1 [120] success=1 [001]`. No text at hand is of such a kernel; a test was made for it.
    if let Some(info) = info.strip_prefix(b"task ") {
        let (before, cpu) = info.split_at_checked(memchr::memrchr(b'[', info)?)?;
        let (task, _) = short_task(before)?;
        let cpu = number(cpu.get(1..)?);
        let cpu = cpu.and_then(|cpu| u32::try_from(cpu).ok());
        return Some(WakeupText { task, cpu });
    }
    let (task, rest) = short_task(info)?;
    let cpu = memchr::memmem::find(rest, b"CPU:").and_then(|at| rest.get(at + 4..));
    let cpu = cpu.and_then(number).and_then(|cpu| u32::try_from(cpu).ok());
    Some(WakeupText { task, cpu })
}

/// Returns the state for its letters, or for its number if fields are printed raw; the first letter decides.
#[must_use]
pub(crate) fn end_state(state: &[u8], letters: StateLetters) -> ThreadState {
    match (state, letters) {
        ([b'0'..=b'9', ..], _) => numbered_state(number(state).unwrap_or(-1)),
        // Old trace-cmd prints the letters that the bits had in earlier kernels.
        (b"W", StateLetters::OldTraceCmd) => ThreadState::Idle,
        ([b'X', ..], StateLetters::OldTraceCmd) => ThreadState::Zombie,
        ([b'Z', ..], StateLetters::OldTraceCmd) => ThreadState::Dead,
        ([b'x', ..], StateLetters::OldTraceCmd) => ThreadState::Parked,
        (b"R+", _) => ThreadState::Preempted,
        // Waits without contributing to the load, as kernel threads before 4.14 do: not a wait for a disk. No text at
        // hand contains this state, or a `W` that the kernel printed.
        (b"D|N", _) => ThreadState::Idle,
        // `W`: waking, in kernels before 4.14.
        ([b'R' | b'W', ..], _) => ThreadState::Runnable,
        ([b'S', ..], _) => ThreadState::Sleeping,
        // `K` (killable) is alone if the other letters are not printed.
        ([b'D' | b'K', ..], _) => ThreadState::Uninterruptible,
        ([b'T', ..], _) => ThreadState::Stopped,
        ([b't', ..], _) => ThreadState::Traced,
        ([b'Z', ..], _) => ThreadState::Zombie,
        ([b'X' | b'x', ..], _) => ThreadState::Dead,
        ([b'P', ..], _) => ThreadState::Parked,
        ([b'I', ..], _) => ThreadState::Idle,
        _ => ThreadState::Unknown,
    }
}

/// Returns the state for the kernel's number (since 4.14): the lowest set bit decides.
fn numbered_state(bits: i64) -> ThreadState {
    match bits {
        0 => ThreadState::Runnable,
        1.. => match 1_i64 << bits.trailing_zeros() {
            0x01 => ThreadState::Sleeping,
            0x02 => ThreadState::Uninterruptible,
            0x04 => ThreadState::Stopped,
            0x08 => ThreadState::Traced,
            0x10 => ThreadState::Dead,
            0x20 => ThreadState::Zombie,
            0x40 => ThreadState::Parked,
            0x80 => ThreadState::Idle,
            0x100 => ThreadState::Preempted,
            _ => ThreadState::Unknown,
        },
        _ => ThreadState::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fields::{field, pairs, pid, raw_syscall};
    use super::*;

    #[test]
    fn switches_and_wakeups_of_the_wakeup_tracers() {
        let found = tracer_text(b"        0:120:R   + [001]     286: 19:R cyclic test").unwrap();
        assert!(found.is_wakeup);
        assert_eq!((found.prev.pid, found.state), (0, &b"R"[..]));
        assert_eq!((found.next.pid, found.next.priority), (286, 19));
        assert_eq!((found.next.comm, found.cpu), (&b"cyclic test"[..], 1));
        let found = tracer_text(b"      96:120:S ==> [003]     286: -1:R cat").unwrap();
        assert!(!found.is_wakeup);
        assert_eq!((found.prev.pid, found.next.priority), (96, -1));
        assert!(tracer_text(b"do_idle <-cpu_startup [a] 1:2").is_none());
        assert!(tracer_text(b"1:2 ==> [0").is_none());
    }

    #[test]
    fn switches_and_wakeups_of_both_writers() {
        let kernel = switch(b"prev_comm=recx prev_pid=27217 prev_prio=120 prev_state=R+ ==> next_comm=a b next_pid=2 next_prio=98").unwrap();
        assert_eq!((kernel.prev.pid, kernel.next.pid), (27217, 2));
        assert_eq!((kernel.next.comm, kernel.state), (&b"a b"[..], &b"R+"[..]));
        let short = switch(b"kworker/0:1:17 [120] W ==> swapper/0:0 [120]").unwrap();
        assert_eq!((short.prev.comm, short.prev.pid), (&b"kworker/0:1"[..], 17));
        assert_eq!(short.next.pid, 0);
        use StateLetters::{Kernel, OldTraceCmd};
        for (letters, by, state) in [
            (&b"W"[..], OldTraceCmd, ThreadState::Idle),
            (b"X", OldTraceCmd, ThreadState::Zombie),
            (b"Z", OldTraceCmd, ThreadState::Dead),
            (b"x", OldTraceCmd, ThreadState::Parked),
            (b"W", Kernel, ThreadState::Runnable),
            (b"X", Kernel, ThreadState::Dead),
            (b"x", Kernel, ThreadState::Dead),
            (b"D|N", Kernel, ThreadState::Idle),
            (b"D|K", Kernel, ThreadState::Uninterruptible),
            (b"D|W", Kernel, ThreadState::Uninterruptible),
            (b"S|K", Kernel, ThreadState::Sleeping),
            (b"I", Kernel, ThreadState::Idle),
            (b"?", Kernel, ThreadState::Unknown),
        ] {
            assert_eq!(end_state(letters, by), state, "{}", letters.escape_ascii());
        }
        assert_eq!(short.form, Form::Short);
        let raw = switch(b"prev_comm=bash prev_pid=0x60c8 (24776) prev_prio=0x78 (120) prev_state=0x100 (256) next_comm=a next_pid=0x6151 (24913) next_prio=0x78 (120)").unwrap();
        assert_eq!((raw.prev.pid, raw.next.priority), (24776, 120));
        assert_eq!(end_state(raw.state, Kernel), ThreadState::Preempted);
        assert_eq!(raw_syscall(b"id=0x3b (59) ret=0x0 (0)"), Some(59));
        assert_eq!(raw_syscall(b"NR 59 = 0"), Some(59));
        let WakeupText { task, cpu } = wakeup(b"rcu_preempt:15 [120] success=1 CPU:001").unwrap();
        assert_eq!((task.pid, cpu), (15, Some(1)));
        let WakeupText { task, cpu } =
            wakeup(b"comm=recx pid=27218 prio=120 target_cpu=001").unwrap();
        assert_eq!((task.pid, cpu), (27218, Some(1)));
    }

    #[test]
    fn names_that_other_writers_have_may_be_long() {
        let long = "ThreadPoolForegroundWorker";
        for text in [
            format!("{long}:12 [120] S ==> {long}:13 [98]"),
            format!(
                "prev_comm={long} prev_pid=12 prev_prio=120 prev_state=S ==> next_comm={long} next_pid=13 next_prio=98"
            ),
        ] {
            let found = switch(text.as_bytes()).unwrap();
            assert_eq!((found.prev.comm, found.prev.pid), (long.as_bytes(), 12));
            assert_eq!((found.next.comm, found.next.pid), (long.as_bytes(), 13));
            assert_eq!(found.state, b"S");
        }
    }

    #[test]
    fn names_of_threads_hold_what_they_like() {
        for name in [
            "Web Content",
            "a=b",
            "x prev_pid=1",
            "x pid=7",
            "a ==> b",
            "kworker/u8:1-ev",
            "-:>",
            "a [1] b:2",
            "[120]",
            "a:1 [3] R ==> b",
            "",
        ] {
            let text = format!(
                "prev_comm={name} prev_pid=12 prev_prio=120 prev_state=S ==> next_comm={name} next_pid=13 next_prio=98"
            );
            let found = switch(text.as_bytes()).unwrap();
            assert_eq!(
                (found.prev.comm, found.prev.pid),
                (name.as_bytes(), 12),
                "{text}"
            );
            assert_eq!(
                (found.next.comm, found.next.pid),
                (name.as_bytes(), 13),
                "{text}"
            );
            assert_eq!(
                (found.state, found.next.priority),
                (&b"S"[..], 98),
                "{text}"
            );
            let values = pairs(text.as_bytes());
            assert_eq!(values.len(), 7, "{values:?}");
            let short = format!("{name}:12 [120] R+ ==> {name}:13 [98]");
            let found = switch(short.as_bytes()).unwrap();
            assert_eq!(
                (found.prev.comm, found.prev.pid),
                (name.as_bytes(), 12),
                "{short}"
            );
            assert_eq!(
                (found.next.comm, found.next.pid),
                (name.as_bytes(), 13),
                "{short}"
            );
            assert_eq!(found.state, b"R+");
            let woken = format!("comm={name} pid=12 prio=120 target_cpu=003");
            let WakeupText { task, cpu } = wakeup(woken.as_bytes()).unwrap();
            assert_eq!((task.comm, task.pid, cpu), (name.as_bytes(), 12, Some(3)));
            let woken = format!("{name}:12 [120] success=1 CPU:003");
            let WakeupText { task, cpu } = wakeup(woken.as_bytes()).unwrap();
            assert_eq!((task.comm, task.pid, cpu), (name.as_bytes(), 12, Some(3)));
            let fork = format!("comm={name} pid=12 child_comm={name} child_pid=13");
            assert_eq!(field(fork.as_bytes(), b"child_comm"), Some(name.as_bytes()));
            assert_eq!(
                (
                    pid(fork.as_bytes(), b"pid"),
                    pid(fork.as_bytes(), b"child_pid")
                ),
                (Some(12), Some(13))
            );
            let renamed = format!("pid=12 oldcomm={name} newcomm={name} oom_score_adj=0");
            assert_eq!(field(renamed.as_bytes(), b"newcomm"), Some(name.as_bytes()));
        }
        let exec = b"filename=/usr/bin/a b=c pid=1 pid=2233 old_pid=2234";
        assert_eq!(field(exec, b"filename"), Some(&b"/usr/bin/a b=c pid=1"[..]));
        assert_eq!(
            (pid(exec, b"pid"), pid(exec, b"old_pid")),
            (Some(2233), Some(2234))
        );
        let old = switch(b"task swapper:0 [140] (R) ==> kblockd/0:55 [115]").unwrap();
        assert_eq!(
            (old.prev.comm, old.state, old.next.pid),
            (&b"swapper"[..], &b"R"[..], 55)
        );
        let WakeupText { task, cpu } = wakeup(b"task kblockd/0:55 [115] success=1 [002]").unwrap();
        assert_eq!((task.comm, task.pid, cpu), (&b"kblockd/0"[..], 55, Some(2)));
        assert_eq!(
            number(field(b"q=\"pid=3 x\" pid=4", b"pid").unwrap()),
            Some(4)
        );
    }
}
