//! Columns return what was pushed.

use super::*;

#[test]
fn events_come_back_as_they_were_pushed() {
    let mut columns = EventColumns::new(2);
    let mut expected = Vec::new();
    let mut time = -5_000_000_000_i64;
    for i in 0..1000_u64 {
        time += match i % 300 {
            0 => 6_000_000_000,
            n => n as i64,
        };
        let place = if i == 700 { 1 << 40 } else { i * 48 };
        let row = EventRow {
            time: Timestamp(time),
            place,
            kind: KindId(i as u32),
            thread: Some(ThreadKey(i as u32 * 7)),
        };
        assert_eq!(columns.push(time, place, row.kind, row.thread), i as u32);
        expected.push(row);
    }
    for (i, row) in expected.iter().enumerate() {
        assert_eq!(columns.row(i as u32), *row);
        if i == 0 {
            continue;
        }
        let mut visited = Vec::new();
        columns.visit(i as u32 - 1..i as u32 + 300, |at, time, place| {
            visited.push((at as usize, time, place));
        });
        let all = expected.iter().enumerate().skip(i - 1).take(301);
        let all: Vec<_> = all.map(|(at, row)| (at, row.time.0, row.place)).collect();
        assert_eq!(visited, all);
        let first = expected.partition_point(|other| other.time < row.time);
        assert_eq!(columns.lower_bound(row.time), first as u32);
    }
    assert!(columns.is_sorted());
    assert_eq!(columns.lower_bound(Timestamp::MAX), 1000);
}

#[test]
fn places_that_go_back_and_forth_stay_narrow() {
    let mut columns = EventColumns::new(3);
    let place = |i: u64| (i / 3 + 8000 * (2 - i % 3)) * 8;
    for i in 0..1000 {
        columns.push(i as i64, place(i), KindId(1), ThreadKey(2));
    }
    assert!(columns.wide.is_empty());
    assert!((0..1000).all(|i| columns.place(i) == place(u64::from(i))));
}

#[test]
fn places_far_apart_take_two_bytes_more() {
    let mut columns = EventColumns::new(3);
    let place = |i: u64| match i % 1000 {
        // Sometimes too far even for a far block, in its middle.
        500 => 1 << 50,
        _ => (4_000_000 + i / 8 - 500_000 * (i % 8)) * 8,
    };
    for i in 0..2000 {
        columns.push(i as i64 * 10, place(i), KindId(1), ThreadKey(2));
    }
    assert!((0..2000).all(|i| columns.place(i) == place(u64::from(i))));
    assert!((0..2000).all(|i| columns.time(i).0 == i64::from(i) * 10));
    assert_eq!(columns.wide.len(), 2 * BLOCK_LEN);
    assert_eq!(columns.far.len(), 2000 - 2 * BLOCK_LEN);
}

#[test]
fn times_that_go_back_a_little_stay_narrow_and_are_put_in_order() {
    let time = |i: u64| (i * 10 + (i * 7919) % 64) as i64;
    for (count, step) in [(5000, 1), (5000, 4999)] {
        // Events are a few positions out of order, or in reverse order.
        let number = |i: u64| i * step % count;
        let mut columns = EventColumns::new(0);
        for i in 0..count {
            columns.push(time(number(i)), i * 60, KindId(3), ThreadKey(i as u32 % 5));
        }
        let SortedEvents {
            events: sorted,
            new_indices: map,
        } = columns.sorted_by_time();
        assert!(sorted.is_sorted() && sorted.wide.is_empty() && columns.wide.is_empty());
        let mut expected: Vec<u32> = (0..count as u32).collect();
        expected.sort_by_key(|&i| time(number(u64::from(i))));
        for (new, &old) in expected.iter().enumerate() {
            assert_eq!(map[old as usize], new as u32);
            assert_eq!(sorted.row(new as u32), columns.row(old));
        }
    }
}

#[test]
fn unsorted_events_can_be_put_in_order() {
    let mut columns = EventColumns::new(0);
    for (i, time) in [5_i64, 3, 9, 3].into_iter().enumerate() {
        columns.push(time, i as u64, KindId(0), ThreadKey(0));
    }
    assert!(!columns.is_sorted());
    let SortedEvents {
        events: sorted,
        new_indices: map,
    } = columns.sorted_by_time();
    assert!(sorted.is_sorted());
    assert_eq!(map, vec![2, 0, 3, 1]);
    assert_eq!(
        (0..4).map(|i| sorted.place(i)).collect::<Vec<_>>(),
        vec![1, 3, 0, 2]
    );
}
