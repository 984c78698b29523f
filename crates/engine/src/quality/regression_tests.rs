//! Checks the worked example of the textbook (Humphrey, A Discipline for Software Engineering, tables D8 and D11), and
//! properties of every regression line.

use super::*;
use proptest::prelude::*;

/// Estimated size, actual size and hours.
const TEXTBOOK: [(f64, f64, f64); 10] = [
    (130.0, 186.0, 15.0),
    (650.0, 699.0, 69.9),
    (99.0, 132.0, 6.5),
    (150.0, 272.0, 22.4),
    (128.0, 291.0, 28.4),
    (302.0, 331.0, 65.9),
    (95.0, 199.0, 19.4),
    (945.0, 1890.0, 198.7),
    (368.0, 788.0, 38.8),
    (961.0, 1601.0, 138.2),
];

fn sizes() -> Vec<RunEffort> {
    TEXTBOOK.iter().map(|(size, actual, _)| RunEffort { size: *size, effort: *actual }).collect()
}

fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() < tolerance, "{value} instead of {expected}");
}

// PF-11
#[test]
fn the_line_and_its_prediction_interval_match_the_textbook() {
    let RegressionResult::Good(line) = fit_line(&sizes()) else { panic!("a line") };
    assert_near(line.intercept, -22.552_533, 1e-5);
    assert_near(line.slope, 1.727_932, 1e-5);
    assert_near(line.r2, 0.954_496_6_f64.powi(2), 1e-5);
    let at_70 = line.predict(386.0, 0.7);
    assert_near(at_70.expected, 644.429_4, 1e-3);
    assert_near(at_70.high, 874.431, 1e-2);
    assert_near(at_70.low, 414.428, 1e-2);
    let at_90 = line.predict(386.0, 0.9);
    assert_near(at_90.high - at_90.expected, 386.05, 0.1);
}

// PF-11
#[test]
fn predicted_hours_match_the_textbook() {
    let points: Vec<RunEffort> =
        TEXTBOOK.iter().map(|(size, _, hours)| RunEffort { size: *size, effort: *hours }).collect();
    let RegressionResult::Good(line) = fit_line(&points) else { panic!("a line") };
    assert_near(line.intercept, -4.038_881_6, 1e-5);
    assert_near(line.slope, 0.168_126_65, 1e-6);
    assert_near(line.predict(386.0, 0.7).expected, 60.858, 1e-3);
}

// PF-11
#[test]
fn too_few_points_and_a_loose_fit_give_no_line() {
    assert_eq!(fit_line(&sizes()[..2]), RegressionResult::TooFew { points: 2 });
    let alike = [1.0, 2.0, 3.0].map(|effort| RunEffort { size: 5.0, effort });
    assert_eq!(fit_line(&alike), RegressionResult::Alike { points: 3 });
    let scattered =
        [(1.0, 5.0), (2.0, 1.0), (3.0, 4.0), (4.0, 2.0)].map(|(size, effort)| RunEffort { size, effort });
    assert!(
        matches!(fit_line(&scattered), RegressionResult::TooLoose { points: 4, r2 } if r2 < 0.5),
        "{:?}",
        fit_line(&scattered)
    );
    let level = [1.0, 2.0, 3.0].map(|size| RunEffort { size, effort: 7.0 });
    assert!(matches!(fit_line(&level), RegressionResult::TooLoose { .. }), "{:?}", fit_line(&level));
    let falling = [(1.0, 9.0), (2.0, 6.0), (3.0, 3.5)].map(|(size, effort)| RunEffort { size, effort });
    assert_eq!(fit_line(&falling), RegressionResult::Falling { points: 3 });
}

proptest! {
    // PF-11
    #[test]
    fn points_on_a_line_give_that_line(
        intercept in -100.0..100.0_f64,
        slope in 0.1..50.0_f64,
        sizes in proptest::collection::btree_set(1_u32..500, 3..20),
    ) {
        let points: Vec<RunEffort> = sizes
            .iter()
            .map(|size| RunEffort { size: f64::from(*size), effort: intercept + slope * f64::from(*size) })
            .collect();
        let RegressionResult::Good(line) = fit_line(&points) else { return Err(TestCaseError::fail("no line")) };
        prop_assert!((line.slope - slope).abs() < 1e-6 && (line.intercept - intercept).abs() < 1e-4);
        prop_assert!(line.r2 > 0.999_999 && line.r2 <= 1.0 + 1e-12);
    }

    // PF-11
    #[test]
    fn an_interval_contains_the_expected_effort_and_widens_with_confidence_and_distance(
        efforts in proptest::collection::vec(0.0..1000.0_f64, 5..20),
        size in 0.0..100.0_f64,
    ) {
        let points: Vec<RunEffort> = efforts
            .iter()
            .zip(1_u32..)
            .map(|(effort, size)| RunEffort { size: f64::from(size), effort: *effort + 5000.0 + 200.0 * f64::from(size) })
            .collect();
        let Some(line) = RegressionLine::fit(&points) else { return Err(TestCaseError::fail("no line")) };
        let (at_70, at_95) = (line.predict(size, 0.7), line.predict(size, 0.95));
        prop_assert!(at_70.low <= at_70.expected && at_70.expected <= at_70.high);
        prop_assert!(at_95.low <= at_70.low && at_70.high <= at_95.high);
        let (near, far) = (line.predict(line.mean, 0.7), line.predict(line.mean + 1000.0, 0.7));
        prop_assert!(near.high - near.expected <= far.high - far.expected);
    }
}
