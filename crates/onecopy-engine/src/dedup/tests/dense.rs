//! Pages of one template, none of whose shingles is rare: the answer is that of comparing by keys.

use super::*;

/// Forms of 40 questions, of which 12 have different answers.
fn forms(pages: u64) -> Vec<Made> {
    let form = |number: u64| {
        let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let items = (0..40).map(|item| {
            let answer = if item < 12 && mixed >> item & 1 == 1 { "yes" } else { "no" };
            format!("question {item} of this form asks {answer} ")
        });
        Made { name: format!("form-{number:04}"), text: items.collect(), menu: None, popularity: None }
    };
    (0..pages).map(form).collect()
}

#[test]
fn pages_without_a_rare_key_get_the_same_answer() {
    let (pages, folder) = (forms(900), tempfile::tempdir().unwrap());
    let config = Config { threshold: Some(0.85), ..Config::default() };
    let lines: Vec<String> = pages.iter().map(line).collect();
    fs::write(folder.path().join("pages.jsonl"), lines.concat()).unwrap();
    let squeeze = Squeeze { threads: 2, chunk: 30_000, tight: None };
    let job = job(folder.path(), &config, squeeze);
    run(squeezed(&job, squeeze), attempt(&job, &Silent, &mut io::sink())).unwrap();
    let removed: BTreeMap<String, String> = records(&job.out.join("removed.jsonl"))
        .iter()
        .map(|gone| (text(&gone["page"]), text(&gone["winner"])))
        .collect();
    let (names, method) = (FieldNames::new(&Fields::default()), method(&config).unwrap());
    let needs = Needs::of(&config, &*method);
    let read: Vec<Record> =
        lines.iter().map(|line| read_line(line.as_bytes(), &names, &needs).unwrap()).collect();
    // The engine in memory has no outlines.
    let Decisions { of_page, .. } = onecopy_core::dedup(&read, &config).unwrap();
    let expected = of_page.iter().enumerate().filter_map(|(page, decision)| match decision {
        Decision::Removed { winner, .. } => {
            Some((pages[page].name.clone(), pages[*winner as usize].name.clone()))
        }
        _ => None,
    });
    let expected: BTreeMap<String, String> = expected.collect();
    assert!((100..900).contains(&expected.len()), "{}", expected.len());
    assert_eq!(removed, expected);
}
