#!/bin/sh
# Draws all pictures of this folder from sample-traces/, with no display needed: screenshots/make.sh [PROGRAM]
set -e
cd "$(dirname "$0")/.."
program=${1:-target/release/threadline}
draw() { # NAME TRACE OPTIONS...
    name=$1 trace=$2
    shift 2
    "$program" render "sample-traces/$trace" -o "screenshots/$name.png" "$@"
}
draw workbench sched-irq-syscalls.dat --size 1920x1080 --from 590ms --until 720ms --pane details --pane events --pane flame-graph \
    --select 'name == "wait4" && dur > 4ms && ts > 600ms' --do "Show only tracks that are active in view"
draw overview-dark sched-irq-syscalls.dat --size 1280x720
draw overview-light sched-irq-syscalls.dat --size 1280x720 --theme light
draw kprobe-durations kprobe-hackbench.dat --size 1280x720 --pane durations
draw syscalls-events sched-irq-syscalls.dat --size 1280x720 --from 600ms --until 660ms --pane events
draw function-graph function-graph.dat --size 1280x720 --from 1087.6ms --until 1088.7ms
draw first-zoom sched-irq-syscalls.dat --size 1280x720 --from 600ms --until 680ms
draw why-late sched-irq.ftrace --size 1280x720 --pane wakeup-chain --select 'state == "runnable" && dur > 2ms' --do "Why it waited: the chain of wakeups"
draw process-tree lua-make-j2.etrace.zst --size 1280x720 --pane process-tree --theme light
draw fxt-events compress.fxt --size 1280x720 --pane events
draw chrome-json node-workers.json.gz --size 1280x720 --pane flame-graph
draw build lua-make-j2.etrace.zst --size 1280x720 --pane build
draw kprobe-text-pairs kprobe-pair.trace_pipe sample-traces/kprobe-pair.kprobe_events sample-traces/kprobe-pair.kprobe_profile \
    --size 1280x720 --from 325ms --until 620ms --pane probes
