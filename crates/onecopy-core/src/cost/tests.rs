//! The published figure from its published inputs, and the limits of the model.

use super::*;

#[test]
fn the_published_savings_come_out() {
    let sizes = (30..=80).map(|tenth| f64::from(tenth) * 1e8);
    let all: Vec<f64> = published_profiles()
        .iter()
        .flat_map(|(_, profile)| {
            sizes.clone().map(|pages| saving(profile, Scheme::Both, pages)).collect::<Vec<_>>()
        })
        .collect();
    let (least, most) = (all.iter().copied().fold(1.0, f64::min), all.iter().copied().fold(0.0, f64::max));
    // Zhu et al. read 8.2 and 25.6 % from their figure.
    assert!((least - 0.082).abs() < 0.005, "{least}");
    assert!((most - 0.256).abs() < 0.005, "{most}");
    for (name, profile) in published_profiles() {
        let savings: Vec<f64> = sizes.clone().map(|pages| saving(&profile, Scheme::Both, pages)).collect();
        assert!(savings.is_sorted(), "{name}: larger collections save more");
    }
}

#[test]
fn nothing_removed_saves_nothing() {
    let profile =
        CostProfile { removed_share: 0.05, unique_gain: 0.0, filter_gain: 0.0, ..CostProfile::default() };
    let online = machines(&profile, Scheme::Online, 1e9);
    let both = machines(&profile, Scheme::Both, 1e9);
    assert_eq!((online.serving, online.removing), (both.serving, 0.0));
    assert!(both.removing > 0.0 && saving(&profile, Scheme::Both, 1e9) < 0.0);
    let slow = CostProfile { service_rate: 1.0, ..profile };
    assert!(saving(&slow, Scheme::Both, 1e9) < saving(&slow, Scheme::Offline, 1e9));
}

#[test]
fn numbers_are_checked() {
    let base = CostProfile::default;
    for profile in [
        CostProfile { removed_share: 1.0, ..base() },
        CostProfile { careful_share: -0.1, ..base() },
        CostProfile { batch_rate: 0.0, ..base() },
        CostProfile { machine_price: f64::NAN, ..base() },
        CostProfile { pages_per_machine: f64::INFINITY, ..base() },
    ] {
        assert!(matches!(profile.check(), Err(ConfigError::CostInput { .. })), "{profile:?}");
    }
    assert_eq!(base().check(), Ok(()));
}
