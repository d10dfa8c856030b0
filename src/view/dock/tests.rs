use super::PaneKind::{Build, Details, Durations, Events, Files, Info, Latency, Marks, Matches};
use super::*;

/// Four arbitrary panes.
const A: PaneKind = Details;
const B: PaneKind = Marks;
const C: PaneKind = Matches;
const D: PaneKind = Info;

fn tabs(panes: &[PaneKind], front: usize) -> Tile {
    let panes = panes.to_vec();
    Tile::Tabs { panes, front }
}

#[test]
fn a_title_that_no_pane_has_is_passed_over_and_the_front_stays() {
    let kept = r#"{"Tabs":{"panes":["Marks","Old pane","Info","Files"],"front":2}}"#;
    let tile: Tile = serde_json::from_str(kept).unwrap();
    assert_eq!(tile, tabs(&[Marks, Info, Files], 1));
    let again = serde_json::to_string(&tile).unwrap();
    assert_eq!(
        again,
        r#"{"Tabs":{"panes":["Marks","Info","Files"],"front":1}}"#
    );
    let none: Tile = serde_json::from_str(r#"{"Tabs":{"panes":["Old"],"front":0}}"#).unwrap();
    assert_eq!(none.simplified(), None);
}

#[test]
fn a_pane_comes_to_the_front_where_it_is_or_joins_the_fullest_tabs() {
    let mut dock = Dock::default();
    dock.change(Docking::Open(Latency));
    dock.change(Docking::Open(Files));
    let panes = dock.panes();
    assert_eq!(panes.first().copied(), Some(Details));
    assert_eq!(panes.last().copied(), Some(Files));
    let Some(Tile::Row(parts)) = &dock.tiles else {
        panic!("{dock:?}")
    };
    assert!(matches!(&parts[1].1, Tile::Tabs { front: 8, .. }));
    dock.change(Docking::OpenAmong(Build, vec![Details]));
    assert_eq!(dock.panes()[..2], [Details, Build]);
}

#[test]
fn panes_are_closed_until_none_is_left_and_come_back() {
    let mut dock = Dock::default();
    dock.change(Docking::CloseOthers(Events));
    assert_eq!(dock.tiles, Some(tabs(&[Events], 0)));
    dock.change(Docking::Close(Events));
    assert!(dock.is_hidden && dock.tiles.is_none());
    dock.change(Docking::Toggle);
    assert!(!dock.is_hidden && dock.panes().len() == 9);
    dock.change(Docking::Open(Durations));
    dock.change(Docking::Close(Durations));
    let Some(Tile::Row(parts)) = &dock.tiles else {
        panic!("{dock:?}")
    };
    assert!(matches!(&parts[1].1, Tile::Tabs { front: 2, panes } if panes[2] == Latency));
}

#[test]
fn a_pane_is_put_beside_its_tabs() {
    let mut dock = Dock {
        tiles: Some(tabs(&[A, B, C], 1)),
        ..Dock::default()
    };
    dock.change(Docking::Split(B, Beside::Right));
    dock.change(Docking::Split(C, Beside::Below));
    let left = Tile::Column(vec![(1.0, tabs(&[A], 0)), (1.0, tabs(&[C], 0))]);
    let both = Tile::Row(vec![(1.0, left), (1.0, tabs(&[B], 0))]);
    assert_eq!(dock.tiles.as_ref(), Some(&both));
    // A pane that is alone in its tabs is not split off.
    dock.change(Docking::Split(B, Beside::Right));
    assert_eq!(dock.tiles, Some(both));
}

#[test]
fn tabs_are_turned_and_moved_into_the_next() {
    let two = |a: Tile, b: Tile| Some(Tile::Row(vec![(1.0, a), (1.0, b)]));
    let mut dock = Dock {
        tiles: two(tabs(&[A], 0), tabs(&[B, C, D], 0)),
        ..Dock::default()
    };
    assert_eq!(dock.front_at(None), Some(B));
    let turn = |direction| Docking::Turn(B, direction);
    dock.change(turn(Direction::Previous));
    assert_eq!(dock.fronts(), [A, D]);
    assert_eq!(dock.front_at(Some(C)), Some(D));
    dock.change(turn(Direction::Next));
    assert_eq!(dock.fronts(), [A, B]);
    let shift = Docking::Shift;
    dock.change(shift(B, Direction::Next));
    assert_eq!(dock.tiles, two(tabs(&[A], 0), tabs(&[C, B, D], 1)));
    dock.change(shift(C, Direction::Previous));
    assert_eq!(dock.tiles, two(tabs(&[A, C], 1), tabs(&[B, D], 0)));
    // At the very last place a tab stays; moving the last pane out of its tabs removes these tabs.
    dock.change(shift(D, Direction::Next));
    assert_eq!(dock.fronts(), [C, B]);
    for _ in 0..2 {
        dock.change(shift(A, Direction::Next));
    }
    dock.change(shift(C, Direction::Next));
    assert_eq!(dock.tiles, Some(tabs(&[C, A, B, D], 0)));
}

#[test]
fn what_a_file_says_is_held() {
    let dock = Dock {
        height_share: f32::NAN,
        tiles: Some(Tile::Row(vec![
            (f32::INFINITY, tabs(&[A], 7)),
            (-1.0, tabs(&[], 0)),
        ])),
        ..Dock::default()
    };
    let dock = dock.held();
    assert_eq!(dock.tiles, Some(tabs(&[A], 0)));
    assert_eq!(dock.share(), 0.36);
}
