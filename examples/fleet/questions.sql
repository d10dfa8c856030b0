-- Four questions about a fleet of traces, in the SQL that DuckDB and Spark share.
-- A line `-- name:` begins a question; `:call`, `:trace` and `:second` are parameters.
--
-- Percentiles are the nearest rank, as in `threadline stats` and `latency`: of N durations in order, the p99 is
-- number ceil(0.99 * N), a duration that was measured. This is `percentile_disc`, not `percentile_cont`.

-- name: p99_of_call
-- The 99th percentile of a system call over all traces.
SELECT count(*) AS calls,
       CAST(sum(dur) AS BIGINT) AS total,
       CAST(percentile_disc(0.99) WITHIN GROUP (ORDER BY dur) AS BIGINT) AS p99,
       max(dur) AS longest
FROM slice
WHERE name = :call AND category IN ('syscalls', 'raw_syscalls') AND dur IS NOT NULL

-- name: wakeup_latency
-- How long threads waited for a CPU after a wakeup, by process and kernel version. The kernel is the third word of the
-- trace's uname: `Linux host 6.18.0 x86_64`.
WITH kernels AS (
    SELECT trace_id, max(split_part(value, ' ', 3)) AS kernel
    FROM trace_label WHERE key = 'uname' AND source = 'trace' GROUP BY trace_id
)
SELECT p.name AS process,
       k.kernel AS kernel,
       count(*) AS waits,
       CAST(sum(s.dur) AS BIGINT) AS total,
       CAST(percentile_disc(0.5) WITHIN GROUP (ORDER BY s.dur) AS BIGINT) AS p50,
       CAST(percentile_disc(0.99) WITHIN GROUP (ORDER BY s.dur) AS BIGINT) AS p99,
       max(s.dur) AS longest
FROM thread_state s
JOIN thread t ON t.trace_id = s.trace_id AND t.utid = s.utid
LEFT JOIN process p ON p.trace_id = t.trace_id AND p.upid = t.upid
LEFT JOIN kernels k ON k.trace_id = s.trace_id
WHERE s.state = 'runnable' AND s.waker IS NOT NULL AND s.dur IS NOT NULL
GROUP BY p.name, k.kernel

-- name: one_second
-- Which threads ran in one second of one trace, and for how long in that second.
SELECT t.tid AS tid,
       t.name AS thread,
       count(*) AS runs,
       CAST(sum(least(r.ts + r.dur, w.until_ts) - greatest(r.ts, w.from_ts)) AS BIGINT) AS ran
FROM (
    SELECT trace_id,
           start_ts + CAST(:second AS BIGINT) * 1000000000 AS from_ts,
           start_ts + (CAST(:second AS BIGINT) + 1) * 1000000000 AS until_ts
    FROM trace WHERE trace_id = :trace
) w
JOIN sched r ON r.trace_id = w.trace_id AND r.ts < w.until_ts AND r.ts + r.dur > w.from_ts
JOIN thread t ON t.trace_id = r.trace_id AND t.utid = r.utid
WHERE r.trace_id = :trace
GROUP BY t.tid, t.name

-- name: outliers
-- The traces whose p99 of the system call is more than three standard deviations from the mean of all traces' p99.
WITH each AS (
    SELECT trace_id, count(*) AS calls,
           CAST(percentile_disc(0.99) WITHIN GROUP (ORDER BY dur) AS BIGINT) AS p99
    FROM slice
    WHERE name = :call AND category IN ('syscalls', 'raw_syscalls') AND dur IS NOT NULL
    GROUP BY trace_id
), fleet AS (
    SELECT avg(p99) AS mean, stddev_pop(p99) AS deviation FROM each
)
SELECT t.path AS path, each.calls AS calls, each.p99 AS p99, (each.p99 - fleet.mean) / fleet.deviation AS deviations
FROM each CROSS JOIN fleet JOIN trace t ON t.trace_id = each.trace_id
WHERE abs(each.p99 - fleet.mean) > 3 * fleet.deviation
