//! Tests how the colours of thread states look with each kind of colour blindness.
//!
//! Simulation: the matrices for severity 1.0 of Machado, Oliveira and Fernandes, "A Physiologically-based Model for
//! Simulation of Color Vision Deficiency", IEEE Transactions on Visualization and Computer Graphics 15 (6), 2009, on
//! linear RGB. Distance: Euclidean in Oklab (Ottosson, "A perceptual color space for image processing", 2020), where
//! black and white are 1 apart and about 0.02 is just noticed.

use super::theme::palette;
use crate::trace::ThreadState;
use egui::Color32;

type Matrix = [[f32; 3]; 3];

const EYES: [(&str, Matrix); 4] = [
    (
        "three kinds of cones",
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    ),
    (
        "protanopia",
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
    ),
    (
        "deuteranopia",
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
    ),
    (
        "tritanopia",
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ),
];

/// Least distance of the colours of two adjacent states.
const STATES_APART: f32 = 0.08;
/// Least distance of a finished state's colour, which is meant to recede, from a waiting state and from the canvas.
const CALM_APART: f32 = 0.05;

fn times(matrix: &Matrix, [x, y, z]: [f32; 3]) -> [f32; 3] {
    matrix.map(|[a, b, c]| a * x + b * y + c * z)
}

/// Returns linear RGB, each from 0 to 1.
fn linear(color: Color32) -> [f32; 3] {
    let [r, g, b, _] = color.to_array();
    [r, g, b].map(|value| {
        let value = f32::from(value) / 255.0;
        match value <= 0.040_45 {
            true => value / 12.92,
            false => ((value + 0.055) / 1.055).powf(2.4),
        }
    })
}

fn oklab(rgb: [f32; 3]) -> [f32; 3] {
    const CONES: Matrix = [
        [0.412_221_46, 0.536_332_55, 0.051_445_995],
        [0.211_903_5, 0.680_699_5, 0.107_396_96],
        [0.088_302_46, 0.281_718_85, 0.629_978_7],
    ];
    const LAB: Matrix = [
        [0.210_454_26, 0.793_617_8, -0.004_072_047],
        [1.977_998_5, -2.428_592_2, 0.450_593_7],
        [0.025_904_037, 0.782_771_77, -0.808_675_77],
    ];
    times(&LAB, times(&CONES, rgb).map(f32::cbrt))
}

/// Returns the perceived distance of two colours.
fn apart(eyes: &Matrix, a: Color32, b: Color32) -> f32 {
    let seen = |color| oklab(times(eyes, linear(color)).map(|value| value.clamp(0.0, 1.0)));
    let (a, b) = (seen(a), seen(b));
    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
    squares.sum::<f32>().sqrt()
}

#[test]
fn the_simulation_takes_away_what_such_eyes_cannot_see() {
    let (black, white) = (Color32::BLACK, Color32::WHITE);
    for (whose, eyes) in &EYES {
        // Black and white stay 1 apart in every simulation.
        assert!((apart(eyes, black, white) - 1.0).abs() < 0.01, "{whose}");
    }
    let [normal, protan, deutan, tritan] = EYES.map(|(_, eyes)| eyes);
    let dark = palette(egui::Theme::Dark);
    let of = |state| dark.of_state(state);
    let (orange, green) = (of(ThreadState::Preempted), of(ThreadState::Running));
    for eyes in [protan, deutan] {
        assert!(apart(&eyes, orange, green) < apart(&normal, orange, green) * 0.8);
    }
    let (yellow, grey) = (of(ThreadState::Runnable), of(ThreadState::Unknown));
    assert!(apart(&tritan, yellow, grey) < apart(&protan, yellow, grey));
}

#[test]
fn states_side_by_side_are_told_apart_by_all_eyes() {
    // Variants of one state share a colour on purpose; their labels differ.
    let kind = |state| match state {
        ThreadState::Traced => ThreadState::Stopped,
        ThreadState::Zombie => ThreadState::Dead,
        ThreadState::Idle => ThreadState::Parked,
        other => other,
    };
    for theme in [egui::Theme::Dark, egui::Theme::Light] {
        let palette = palette(theme);
        for (whose, eyes) in &EYES {
            for (at, &a) in ThreadState::ALL.iter().enumerate() {
                for &b in ThreadState::ALL.iter().skip(at + 1) {
                    if kind(a) == kind(b) {
                        assert_eq!(palette.of_state(a), palette.of_state(b));
                        continue;
                    }
                    let is_calm = kind(b) == ThreadState::Dead && a == ThreadState::Sleeping;
                    let least = if is_calm { CALM_APART } else { STATES_APART };
                    let far = apart(eyes, palette.of_state(a), palette.of_state(b));
                    assert!(far >= least, "{theme:?}, {whose}: {a:?} and {b:?}: {far}");
                }
                for behind in [palette.canvas, palette.canvas_alternate] {
                    let far = apart(eyes, palette.of_state(a), behind);
                    assert!(far >= CALM_APART, "{theme:?}, {whose}: {a:?}: {far}");
                }
            }
        }
    }
}
