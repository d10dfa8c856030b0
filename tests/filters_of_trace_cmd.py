#!/usr/bin/env python3
"""Compares `threadline report` with `trace-cmd report` for many filters, and writes what trace-cmd prints as a golden.

    tests/filters_of_trace_cmd.py THREADLINE FILE...            compares all filters that fit each trace.dat
    tests/filters_of_trace_cmd.py -o GOLDEN FILE...             writes one line a filter: file, options, lines

A golden's lines are numbers of lines of the same file's report without filters, from 0 ("3 5-9"). trace-cmd 3.1.6 has no
flags column and other letters for idle and dead threads.
"""

import subprocess
import sys
from pathlib import Path

FILTERS = [
    "sched_.*: pid > 100", "sched_switch", "SCHED_SWITCH", "sched", "sched/.*", ".*/sched_switch", ".*",
    "sched_switch,sched_wakeup", r"sched_\(switch\|waking\): common_pid > 100", "sched/sched_w.*,irq: common_pid != 0",
    "sched_switch: prev_state == 0", "sched_switch: prev_state != 0", "sched_switch: prev_prio < 120",
    "sched_switch: next_comm == \"bash\"", "sched_switch: next_comm =~ \"^[k-r]\"", "sched_switch: next_comm =~ \"KW\"",
    "sched_switch: next_comm !~ \"kw\"", r"sched_switch: next_comm =~ 'kworker\|rcu'", "sched_switch: next_comm =~ 'a|b'",
    "sched_switch: prev_pid == 0 || next_pid == 0 && prev_prio < 100",
    "sched_switch: prev_pid == 0 && next_prio < 120 || next_pid > 100",
    "sched_switch: prev_pid > 100 && (next_pid == 0 || next_prio <= 120) && CPU == 0",
    "sched_switch: !prev_pid == 0 && CPU == 1", "sched_switch: !(prev_pid == 0 || next_pid == 0)",
    "sched_switch: bogus == 1 || next_pid == 0", "sched_switch: !(bogus == 1) && next_pid == 0",
    "sched : bogus == 1 || common_pid == 2", "sched: pid == 1 || next_pid != 0",
    ".*: COMM =~ \"k.*\"", ".*:COMM != \"trace-cmd\"", ".*: COMM == '<idle>' && CPU == 1", ".*: CPU >= 1", ".*:CPU==0x1",
    "sched_switch: prev_pid & 1", "sched_switch: prev_pid % 3 && CPU == 0", "sched_switch: next_pid ^ 0",
    "sched_switch: prev_pid - 0", "sched_switch: prev_prio >> 7", "sched_switch: prev_pid == 010",
    "sched_switch: prev_pid =~ '0x1'", ".*: common_flags & 8", ".*: common_pid > 0x40 && common_flags != 1",
    "function: ip =~ '^vfs'", "function: ip == 'vfs_read' || parent_ip =~ 'sys'", "funcgraph_entry: depth == 0",
    "funcgraph_entry", "funcgraph_exit", "funcgraph_exit: overrun > 0", "kmem: bytes_req > 100", "kmalloc: call_site =~ 'alloc'",
    "raw_syscalls: id == 1", "sys_exit: ret > 100 && ret < 100000", r"sys_\(enter\|exit\)_r.*", "sys_exit_.*: ret == 0",
    "sys_enter_.*: fd == 3", "irq: irq > 1", "softirq_.*: vec == 1 || vec == 9", "timer: now > 0", "hrtimer_.*",
    "print", "print: buf =~ 'mark'", "bprint", "ftrace", "block: rwbs =~ 'W'", "block_rq_.*: nr_sector >= 8 && COMM =~ 'k'",
    "ext4_.*: ino == 2", "net: len > 100", "power: state == 1 || cpu_id == 0", "kernel_stack", "user_stack",
    "kprobes", "uprobes", "synthetic", "osnoise", "writeback: state == 0", "signal: sig == 17", "task: pid > 1",
]
PAIRS = [
    ["-F", "sched_switch: CPU == 0", "-F", "sched_waking"], ["-F", "sched", "-v", "-F", "sched_switch"],
    ["-v", "-F", "sched_switch"], ["-v", "-F", "sched_switch: next_pid == 0", "-F", "sched_wak.*"],
    ["-F", ".*: common_pid != 0", "-v", "-F", ".*: CPU == 0"], ["-v", "-F", "kernel_stack"], ["-v", "-F", "ftrace"],
    ["-v", "-F", "funcgraph_entry"], ["-v", "-F", "funcgraph_exit"], ["-I"], ["-S"], ["-I", "-S", "-F", ".*: CPU == 1"],
    ["-r", "sched_switch"], ["-r", "sched", "-F", "sched_switch"], ["-n", "sched_sw.*"], ["-n", "sched_switch", "-r", "irq"],
    ["-r", "func.*"], ["-n", "func.*"], ["-r", ".*"], ["-n", ".*"],
]
LISTS = ["-e", "-p", "-f", "-P", "-E", "--stat", "--events", "--uname", "--version", "--cpus", "--first-event", "--last-event"]
OPTIONS = [["-F", text] for text in FILTERS] + PAIRS


def printed(program, options, path):
    run = subprocess.run(program + options + [path.name], cwd=path.parent, capture_output=True)
    return None if run.returncode else run.stdout


def newer(text):
    """The same with the letters that trace-cmd has since 3.2."""
    for old, new in [(b"] Z ==> ", b"] zombie ==> "), (b"] X ==> ", b"] Z ==> "), (b"] zombie ==> ", b"] X ==> "), (b"] W ==> ", b"] I ==> ")]:
        text = text.replace(old, new)
    return text


def compare(threadline, paths):
    same = differ = refused = empty = 0
    for path in paths:
        for options in OPTIONS + [[option] for option in LISTS]:
            theirs = printed(["trace-cmd", "report"], options, path)
            if theirs is None:
                refused += 1
                continue
            ours = printed([threadline, "report", "--no-flags"], options, path)
            theirs = newer(theirs)
            empty += theirs.count(b"\n") <= 1
            if ours == theirs:
                same += 1
                continue
            differ += 1
            print(f"{path.name} {options}")
            ours_lines, lines = (ours or b"").splitlines(), theirs.splitlines()
            print(f"    {len(ours_lines)} lines, trace-cmd has {len(lines)}" if ours is not None else "    refused")
            for a, b in zip(ours_lines, lines):
                if a != b:
                    print("    ours  ", a.decode(errors="replace")[:200])
                    print("    theirs", b.decode(errors="replace")[:200])
                    break
    print(f"same {same} ({empty} of them without events), different {differ}, refused by trace-cmd {refused}")
    return differ


def numbers(lines, of):
    """The numbers of `lines` among the lines `of`, as ranges."""
    ranges, at = [], 0
    for line in lines:
        at = of.index(line, at)
        if ranges and ranges[-1][1] == at - 1:
            ranges[-1][1] = at
        else:
            ranges.append([at, at])
        at += 1
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)


def write(golden, paths):
    rows = []
    for path in paths:
        whole = printed(["trace-cmd", "report"], [], path).splitlines()
        for options in OPTIONS:
            if set(options) & {"-r", "-n"}:
                continue
            text = printed(["trace-cmd", "report"], options, path)
            if text is None or text.count(b"\n") <= 1:
                continue
            try:
                rows.append("\t".join([path.name, "\x1f".join(options), numbers(text.splitlines(), whole)]))
            except ValueError:
                print(f"{path.name} {options}: a line that the whole report lacks", file=sys.stderr)
    Path(golden).write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "-o":
        write(sys.argv[2], [Path(name) for name in sys.argv[3:]])
    else:
        sys.exit(compare(sys.argv[1], [Path(name) for name in sys.argv[2:]]) != 0)
