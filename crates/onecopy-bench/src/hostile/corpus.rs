//! Pages that share much and are not alike, each made from its number alone.

use clap::ValueEnum;

use crate::generate::random::{Random, derive};

/// A kind of corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Forecasts: fixed sentences with varying values
    Weather,
    /// The same as HTML pages
    WeatherHtml,
    /// Forms: 150 fixed words and 40 items with yes or no
    Forms,
    /// 40 slots, each with one of 3 sentences
    Slots,
    /// 79 % shared text, and the rest of 300 phrases
    Phrases,
    /// 20 of 40 paragraphs
    Segments,
    /// Shared text and own text, so that each pair is just under 0.8 alike
    Almost,
    /// Random numbers of three digits
    Digits,
}

impl Kind {
    pub const ALL: [Kind; 8] = [
        Kind::Weather,
        Kind::WeatherHtml,
        Kind::Forms,
        Kind::Slots,
        Kind::Phrases,
        Kind::Segments,
        Kind::Almost,
        Kind::Digits,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Weather => "weather",
            Kind::WeatherHtml => "weather-html",
            Kind::Forms => "forms",
            Kind::Slots => "slots",
            Kind::Phrases => "phrases",
            Kind::Segments => "segments",
            Kind::Almost => "almost",
            Kind::Digits => "digits",
        }
    }

    /// The field of a record that has the page.
    pub fn field(self) -> &'static str {
        if self == Kind::WeatherHtml { "html" } else { "text" }
    }

    /// The page with this number.
    pub fn page(self, seed: u64, number: u64) -> String {
        let mut random = Random::new(derive(seed, self as u64, number));
        let random = &mut random;
        match self {
            Kind::Weather => weather(random).join(" "),
            Kind::WeatherHtml => html(&weather(random)),
            Kind::Forms => forms(random),
            Kind::Slots => (0..40).map(|slot| prose(slot * 3 + random.below(3), 12)).collect(),
            Kind::Phrases => {
                prose(0, 158) + &(0..6).map(|_| prose(1 + random.below(300), 7)).collect::<String>()
            }
            Kind::Segments => segments(random),
            Kind::Almost => prose(0, 180) + &prose(1 + number, 21),
            Kind::Digits => (0..300).map(|_| format!("{:03} ", random.below(1_000))).collect(),
        }
    }
}

/// `words` made-up words, always the same for one number.
fn prose(number: u64, words: u64) -> String {
    let mut random = Random::new(derive(11, 7, number));
    (0..words).map(|_| word(random.below(4_000))).collect()
}

/// A made-up word, with a space.
fn word(number: u64) -> String {
    const PARTS: [&str; 16] = [
        "ba", "den", "fi", "gor", "hal", "ki", "lum", "mes", "nor", "pa", "rit", "sol", "tam", "ve", "wex",
        "zun",
    ];
    let mut text = String::new();
    for shift in [0, 4, 8] {
        text.push_str(PARTS[(number >> shift) as usize % PARTS.len()]);
    }
    text + " "
}

/// Seven days of a forecast.
fn weather(random: &mut Random) -> Vec<String> {
    const SKIES: [&str; 6] = ["clear", "cloudy", "rainy", "stormy", "hazy", "bright"];
    const WINDS: [&str; 8] =
        ["north", "south", "east", "west", "northeast", "northwest", "southeast", "southwest"];
    let mut days =
        vec![format!("Weather for the district of {}in the coming week.", word(random.below(4_000)))];
    for day in ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"] {
        let (low, wind, rain) = (random.below(20), random.below(60), random.below(100));
        let high = low + 3 + random.below(8);
        days.push(format!(
            "On {day} the sky over the district will be {} from the early morning until late at night. \
             The temperature will rise from {low} to {high} degrees in the course of the day. \
             The wind will come from the {} with up to {wind} kilometres an hour, and the chance of rain is {rain} percent.",
            SKIES[random.below(6) as usize],
            WINDS[random.below(8) as usize],
        ));
    }
    days
}

fn html(days: &[String]) -> String {
    let menu: String =
        (0..12).map(|n| format!("<li><a href=\"/{n}\">{}</a></li>", prose(900 + n, 2))).collect();
    let body: String = days.iter().map(|day| format!("<p>{day}</p>")).collect();
    format!(
        "<!doctype html><html><head><title>Weather</title></head><body><nav><ul>{menu}</ul></nav>\
         <article>{body}</article><footer>{}</footer></body></html>",
        prose(990, 20)
    )
}

/// Forty questions, each with an answer, after words that all pages share.
fn forms(random: &mut Random) -> String {
    let items = (0..40).map(|item| {
        let answer = if random.once_in(2) { "yes" } else { "no" };
        format!("{}{answer} ", prose(100 + item, 4))
    });
    prose(0, 150) + &items.collect::<String>()
}

/// Half of forty paragraphs, in order.
fn segments(random: &mut Random) -> String {
    let mut numbers: Vec<u64> = (0..40).collect();
    for at in 0..20 {
        numbers.swap(at, at + random.below(40 - at as u64) as usize);
    }
    numbers.truncate(20);
    numbers.sort_unstable();
    numbers.into_iter().map(|number| prose(number, 20)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_a_kind_differ_and_are_the_same_each_time() {
        for kind in Kind::ALL {
            assert_eq!(kind.page(1, 5), kind.page(1, 5), "{kind:?}");
            assert_ne!(kind.page(1, 5), kind.page(1, 6), "{kind:?}");
            assert!(kind.page(1, 5).len() > 500, "{kind:?}");
        }
    }
}
