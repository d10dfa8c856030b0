-- The tables of a data set in the folder /data/fleet for Trino's Hive connector (catalog `hive`), as
-- `threadline dataset views /data/fleet --for trino` prints them; the other tables are made in the same way.
--
-- Trino reads all parts in the folders: compact the data set while no query runs, and call sync_partition_metadata again
-- after each change. The columns `date` and `bucket` come from the folders' names.
-- The questions of questions.sql need another percentile: Trino has no exact one, approx_percentile is approximate.

CREATE SCHEMA IF NOT EXISTS hive.threadline;
CREATE TABLE IF NOT EXISTS hive.threadline."process" ("trace_id" VARCHAR, "upid" BIGINT, "pid" BIGINT, "name" VARCHAR, "start_ts" BIGINT, "end_ts" BIGINT, "parent_upid" BIGINT, "cmdline" VARCHAR, "key" VARCHAR, "exit_status" BIGINT, "exit_signal" BIGINT, "execs" BIGINT, "opens" BIGINT, "date" VARCHAR, "bucket" VARCHAR)
    WITH (external_location = 'file:///data/fleet/process', format = 'PARQUET', partitioned_by = ARRAY['date', 'bucket']);
CALL hive.system.sync_partition_metadata('threadline', 'process', 'FULL');
CREATE TABLE IF NOT EXISTS hive.threadline."sched" ("trace_id" VARCHAR, "id" BIGINT, "ts" BIGINT, "dur" BIGINT, "cpu" BIGINT, "utid" BIGINT, "end_state" VARCHAR, "priority" BIGINT, "date" VARCHAR, "bucket" VARCHAR)
    WITH (external_location = 'file:///data/fleet/sched', format = 'PARQUET', partitioned_by = ARRAY['date', 'bucket']);
CALL hive.system.sync_partition_metadata('threadline', 'sched', 'FULL');
CREATE TABLE IF NOT EXISTS hive.threadline."slice" ("trace_id" VARCHAR, "id" BIGINT, "ts" BIGINT, "dur" BIGINT, "track_id" BIGINT, "utid" BIGINT, "upid" BIGINT, "cpu" BIGINT, "depth" BIGINT, "parent_id" BIGINT, "name" VARCHAR, "category" VARCHAR, "self_dur" BIGINT, "arg_set_id" BIGINT, "date" VARCHAR, "bucket" VARCHAR)
    WITH (external_location = 'file:///data/fleet/slice', format = 'PARQUET', partitioned_by = ARRAY['date', 'bucket']);
CALL hive.system.sync_partition_metadata('threadline', 'slice', 'FULL');
CREATE TABLE IF NOT EXISTS hive.threadline."thread" ("trace_id" VARCHAR, "utid" BIGINT, "tid" BIGINT, "name" VARCHAR, "start_ts" BIGINT, "end_ts" BIGINT, "upid" BIGINT, "is_main_thread" BOOLEAN, "key" VARCHAR, "date" VARCHAR, "bucket" VARCHAR)
    WITH (external_location = 'file:///data/fleet/thread', format = 'PARQUET', partitioned_by = ARRAY['date', 'bucket']);
CALL hive.system.sync_partition_metadata('threadline', 'thread', 'FULL');
CREATE TABLE IF NOT EXISTS hive.threadline."thread_state" ("trace_id" VARCHAR, "id" BIGINT, "ts" BIGINT, "dur" BIGINT, "cpu" BIGINT, "utid" BIGINT, "state" VARCHAR, "waker_utid" BIGINT, "waker" VARCHAR, "woken_in" VARCHAR, "spans_loss" BOOLEAN, "date" VARCHAR, "bucket" VARCHAR)
    WITH (external_location = 'file:///data/fleet/thread_state', format = 'PARQUET', partitioned_by = ARRAY['date', 'bucket']);
CALL hive.system.sync_partition_metadata('threadline', 'thread_state', 'FULL');
CREATE TABLE IF NOT EXISTS hive.threadline."trace" ("trace_id" VARCHAR, "path" VARCHAR, "format" VARCHAR, "clock" VARCHAR, "start_ts" BIGINT, "end_ts" BIGINT, "wall_start_ns" BIGINT, "size_bytes" BIGINT, "events" BIGINT, "slices" BIGINT, "cpus" BIGINT, "date" VARCHAR, "bucket" VARCHAR)
    WITH (external_location = 'file:///data/fleet/trace', format = 'PARQUET', partitioned_by = ARRAY['date', 'bucket']);
CALL hive.system.sync_partition_metadata('threadline', 'trace', 'FULL');
CREATE TABLE IF NOT EXISTS hive.threadline."trace_label" ("trace_id" VARCHAR, "key" VARCHAR, "value" VARCHAR, "source" VARCHAR, "date" VARCHAR, "bucket" VARCHAR)
    WITH (external_location = 'file:///data/fleet/trace_label', format = 'PARQUET', partitioned_by = ARRAY['date', 'bucket']);
CALL hive.system.sync_partition_metadata('threadline', 'trace_label', 'FULL');
