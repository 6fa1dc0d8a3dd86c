//! The words of generated pages: made-up words of five scripts, drawn by Zipf's law.

use super::random::{Random, derive};

/// Words in each script's list.
const WORDS_PER_SCRIPT: usize = 12_000;
/// The vocabulary is the same for every seed, like a language that all authors share.
const VOCABULARY_SEED: u64 = 0x6f6e_6563_6f70_7921;

/// Letters that open a syllable and letters that may follow.
struct Script {
    onsets: &'static str,
    vowels: &'static str,
}

/// Latin first: most sites use it.
const SCRIPTS: [Script; 5] = [
    Script { onsets: "bcdfghjklmnprstvwz", vowels: "aeiouaeio" },
    Script { onsets: "бвгджзклмнпрстфхцчшщ", vowels: "аеиоуыэюя" },
    Script { onsets: "βγδζθκλμνξπρστφχψ", vowels: "αεηιουω" },
    Script {
        onsets: "人大中国上学生会时来分地出就年作动行", vowels: "一不了是我有他这个们说到为子和你对"
    },
    Script { onsets: "بتثجحخدذرزسشصضطظعغفقكلمنه", vowels: "اوي" },
];

/// The number of scripts to choose from.
pub const SCRIPT_COUNT: usize = SCRIPTS.len();

/// All words, and the tables to draw them.
pub struct Vocabulary {
    letters: Vec<u8>,
    ends: Vec<u32>,
    zipf: Alias,
}

impl Vocabulary {
    /// Makes the words, always the same.
    pub fn new() -> Vocabulary {
        let (mut letters, mut ends) = (vec![], vec![0]);
        for (number, script) in SCRIPTS.iter().enumerate() {
            for rank in 0..WORDS_PER_SCRIPT {
                let mut random = Random::new(derive(VOCABULARY_SEED, number as u64, rank as u64));
                letters.extend_from_slice(word(script, rank, &mut random).as_bytes());
                ends.push(letters.len() as u32);
            }
        }
        // The offset flattens the top of the distribution, as in real text: the most frequent word is about one in
        // fifteen.
        let weights: Vec<f64> = (0..WORDS_PER_SCRIPT).map(|rank| 1.0 / (rank as f64 + 1.7)).collect();
        Vocabulary { letters, ends, zipf: Alias::new(&weights) }
    }

    /// Draws a word of `script`.
    pub fn draw(&self, script: usize, random: &mut Random) -> u32 {
        (script * WORDS_PER_SCRIPT) as u32 + self.zipf.draw(random)
    }

    /// The letters of a word, in UTF-8.
    pub fn letters(&self, word: u32) -> &[u8] {
        let word = word as usize;
        &self.letters[self.ends[word] as usize..self.ends[word + 1] as usize]
    }
}

/// Frequent words are short. One in fifty is a number.
fn word(script: &Script, rank: usize, random: &mut Random) -> String {
    if rank % 50 == 49 {
        return random.below(3000).to_string();
    }
    let pick = |letters: &str, random: &mut Random| {
        let place = random.below(letters.chars().count() as u64) as usize;
        letters.chars().nth(place).expect("place is below the number of letters")
    };
    let syllables = 1 + usize::from(rank >= 20) + usize::from(rank >= 400) + usize::from(rank >= 8000);
    let mut word = String::new();
    for _ in 0..syllables {
        word.push(pick(script.onsets, random));
        word.push(pick(script.vowels, random));
    }
    if random.once_in(2) {
        word.push(pick(script.onsets, random));
    }
    word
}

/// Draws from a fixed distribution in constant time (Walker 1977, tables by Vose 1991).
struct Alias {
    /// How often, out of 2³², a column stands for itself rather than for `other`.
    own: Vec<u32>,
    other: Vec<u32>,
}

impl Alias {
    fn new(weights: &[f64]) -> Alias {
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        let mut share: Vec<f64> = weights.iter().map(|weight| weight / mean).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..share.len()).partition(|&i| share[i] < 1.0);
        let mut own = vec![u32::MAX; share.len()];
        let mut other: Vec<u32> = (0..share.len() as u32).collect();
        while let (Some(low), Some(high)) = (small.pop(), large.pop()) {
            own[low] = (share[low] * u32::MAX as f64) as u32;
            other[low] = high as u32;
            share[high] -= 1.0 - share[low];
            if share[high] < 1.0 { small.push(high) } else { large.push(high) }
        }
        Alias { own, other }
    }

    fn draw(&self, random: &mut Random) -> u32 {
        let bits = random.next();
        let column = ((bits >> 32) * self.own.len() as u64) >> 32;
        if (bits as u32) <= self.own[column as usize] { column as u32 } else { self.other[column as usize] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_follow_the_weights() {
        let alias = Alias::new(&[4.0, 2.0, 1.0, 1.0]);
        let mut random = Random::new(3);
        let mut counts = [0u32; 4];
        for _ in 0..80_000 {
            counts[alias.draw(&mut random) as usize] += 1;
        }
        let near = |count: u32, wanted: u32| count.abs_diff(wanted) < wanted / 10;
        assert!(near(counts[0], 40_000) && near(counts[1], 20_000) && near(counts[3], 10_000), "{counts:?}");
    }

    #[test]
    fn words_are_letters_or_digits_of_their_script() {
        let vocabulary = Vocabulary::new();
        let mut random = Random::new(1);
        for script in 0..SCRIPT_COUNT {
            let word = vocabulary.draw(script, &mut random);
            let letters = std::str::from_utf8(vocabulary.letters(word)).unwrap();
            assert!(letters.chars().all(char::is_alphanumeric), "{letters}");
            assert_eq!(letters.is_ascii(), script == 0 || letters.bytes().all(|b| b.is_ascii_digit()));
        }
    }
}
