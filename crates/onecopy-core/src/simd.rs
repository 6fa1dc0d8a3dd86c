//! Which instructions the fast paths use: the only place that asks the machine.
//!
//! Every fast path has a scalar version, and all versions give the same answer. [`lower`] exists for tests and
//! measurements: it makes a whole process use fewer instructions than the machine has. Nothing can raise the level,
//! so code that holds a [`Level`] may use its instructions.

#[cfg(test)]
use std::io::Write;
use std::sync::atomic::{AtomicU8, Ordering};

/// Sets of instructions that code is written for. Each includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Instructions {
    /// Plain Rust, on any machine. The compiler uses the baseline of the architecture: SSE2 on x86-64, NEON on aarch64.
    Scalar = 1,
    /// AVX2, BMI1, BMI2 and POPCNT: x86-64 processors since about 2013.
    Avx2 = 2,
    /// AVX-512 F, BW, DQ, VL, VBMI2 and VPOPCNTDQ: Intel since Ice Lake, AMD since Zen 4.
    Avx512 = 3,
}

impl Instructions {
    /// All sets, the fastest first.
    pub const ALL: [Instructions; 3] = [Instructions::Avx512, Instructions::Avx2, Instructions::Scalar];

    /// The name in lower case, as the program accepts it.
    pub fn name(self) -> &'static str {
        match self {
            Instructions::Scalar => "scalar",
            Instructions::Avx2 => "avx2",
            Instructions::Avx512 => "avx512",
        }
    }

    /// The set with this name.
    pub fn named(name: &str) -> Option<Instructions> {
        Instructions::ALL.into_iter().find(|set| set.name() == name)
    }

    /// Whether this machine has them. The standard library remembers the answer.
    fn is_here(self) -> bool {
        match self {
            Instructions::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => x86::has_avx2(),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => x86::has_avx2() && x86::has_avx512(),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }
}

/// Instructions that this machine has. The type is the proof: asking the machine is the only way to get one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(Instructions);

impl Level {
    /// The level that every machine has.
    pub const SCALAR: Level = Level(Instructions::Scalar);

    /// These instructions, if this machine has them.
    pub fn of(instructions: Instructions) -> Option<Level> {
        instructions.is_here().then_some(Level(instructions))
    }

    /// All levels of this machine, the fastest first.
    pub fn all() -> impl Iterator<Item = Level> {
        Instructions::ALL.into_iter().filter_map(Level::of)
    }

    /// The instructions that this machine has.
    #[inline]
    pub fn instructions(self) -> Instructions {
        self.0
    }
}

/// The number of the level in use; zero until it is first needed.
static IN_USE: AtomicU8 = AtomicU8::new(0);

/// The level that this process uses: the best of the machine, unless [`lower`] was called.
#[inline]
pub fn level() -> Level {
    const SCALAR: u8 = Instructions::Scalar as u8;
    const AVX2: u8 = Instructions::Avx2 as u8;
    const AVX512: u8 = Instructions::Avx512 as u8;
    // Only `lower` writes here, and only levels of this machine.
    match IN_USE.load(Ordering::Relaxed) {
        AVX512 => Level(Instructions::Avx512),
        AVX2 => Level(Instructions::Avx2),
        SCALAR => Level(Instructions::Scalar),
        _ => ask(),
    }
}

#[cold]
fn ask() -> Level {
    let best = Level::all().next().unwrap_or(Level::SCALAR);
    lower(best);
    best
}

/// Makes this process use at most `to`, from now on and in all threads. It is for tests and measurements: answers
/// are the same at every level, only slower.
pub fn lower(to: Level) {
    let number = to.0 as u8;
    let lowered = |now: u8| (now == 0 || number < now).then_some(number);
    // An error means that the level is already as low.
    let _ = IN_USE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, lowered);
}

/// A bit for each byte of a block that satisfies `is`. It is for scalar code: the compiler tests many bytes at once.
#[inline(always)]
pub fn mask(block: &[u8; 64], is: impl Fn(u8) -> bool) -> u64 {
    let mut flags = [0; 64];
    for (flag, &byte) in flags.iter_mut().zip(block) {
        *flag = u8::from(is(byte));
    }
    // The product has each of the eight flags at its place in the last byte, and no two flags overlap elsewhere.
    let bits = |eight: &[u8; 8]| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    flags.as_chunks().0.iter().rev().fold(0, |mask, eight| mask << 8 | bits(eight))
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::is_x86_feature_detected as has;

    pub(super) fn has_avx2() -> bool {
        has!("avx2") && has!("bmi1") && has!("bmi2") && has!("popcnt")
    }

    pub(super) fn has_avx512() -> bool {
        let common = has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
        common && has!("avx512vbmi2") && has!("avx512vpopcntdq")
    }
}

/// For tests: calls `test` with every level of this machine. It reports once which levels cannot be tested, past the
/// capture of test output.
#[cfg(test)]
pub(crate) fn each_level(test: impl FnMut(Level)) {
    static SAID: std::sync::Once = std::sync::Once::new();
    SAID.call_once(|| {
        for missing in Instructions::ALL.into_iter().filter(|set| !set.is_here()) {
            let name = missing.name();
            let _ = writeln!(std::io::stderr(), "skipped: {name}, which this machine does not have");
        }
    });
    Level::all().for_each(test);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_has_a_bit_for_each_byte() {
        let blocks = (0..=255u8).map(|n| std::array::from_fn(|at| (at as u8).wrapping_mul(n | 1) ^ n));
        for block in blocks {
            let expected = block.iter().rev().fold(0, |mask, &byte| mask << 1 | u64::from(byte > 99));
            assert_eq!(mask(&block, |byte| byte > 99), expected, "{block:?}");
        }
    }

    #[test]
    fn names_are_read_back() {
        for set in Instructions::ALL {
            assert_eq!(Instructions::named(set.name()), Some(set));
        }
        assert_eq!(Instructions::named("AVX2"), None);
    }

    #[test]
    fn every_machine_has_the_scalar_level_and_what_is_below_its_best() {
        let all: Vec<Level> = Level::all().collect();
        assert_eq!(all.last(), Some(&Level::SCALAR));
        assert!(all.is_sorted_by(|a, b| a > b));
        let best = all[0];
        for set in Instructions::ALL {
            assert_eq!(Level::of(set).is_some(), set <= best.instructions(), "{}", set.name());
        }
    }

    /// The only test that sets the level of the process, and only to its current value: others run at the same time.
    #[test]
    fn the_level_is_the_best_and_nothing_raises_it() {
        let best = Level::all().next().unwrap();
        assert_eq!(level(), best);
        lower(best);
        assert_eq!(level(), best);
    }
}
