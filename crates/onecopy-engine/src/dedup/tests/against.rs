//! A run against a base equals the obvious answer, for any memory and any share of base pages.

use super::*;

/// The answer of the reference for the pages after the first `base`.
fn expected_against(base: usize, pages: &[Made], config: &Config) -> BTreeMap<String, ReportedPage> {
    let is_judged = |page: &&Made| !page.text.is_empty();
    let judged: Vec<&Made> = pages.iter().filter(is_judged).collect();
    let base = pages[..base].iter().filter(is_judged).count();
    let lines: Vec<String> = judged.iter().map(|page| line(page)).collect();
    let (names, method) = (FieldNames::new(&Fields::default()), method(config).unwrap());
    let needs = Needs::of(config, &*method);
    let records: Vec<Record> =
        lines.iter().map(|line| read_line(line.as_bytes(), &names, &needs).unwrap()).collect();
    let Decisions { of_page, group_of } = reference::dedup_against(base as PageId, &records, config);
    let name = |page: PageId| judged[page as usize].name.clone();
    let fate = |page: usize| {
        let removed = match of_page[page] {
            Decision::Kept | Decision::Rejected => None,
            Decision::Removed { winner, similarity, kind } => {
                let shown = (similarity * 1e5).round() / 1e5;
                Some((name(winner), format!("{shown:.5}"), kind.as_str().to_owned()))
            }
        };
        (removed, name(group_of[page]))
    };
    (base..judged.len()).map(|page| (judged[page].name.clone(), fate(page))).collect()
}

/// How the base is given.
#[derive(Clone, Copy, Debug)]
enum Base {
    File,
    Sketches,
}

impl Base {
    /// The base of a job, from a file.
    fn of(self, file: &Path, job: &Job, squeeze: Squeeze) -> String {
        let mut path = file.to_owned();
        if let Base::Sketches = self {
            path = file.with_extension("sketches");
            let mut making =
                Job { inputs: vec![file.display().to_string()], out: path.clone(), ..job.clone() };
            making.outputs.kept = KeptPages::Sketches;
            run(squeezed(&making, squeeze), attempt(&making, &Silent, &mut io::sink())).unwrap();
            fs::remove_file(file).unwrap();
        }
        path.display().to_string()
    }
}

/// The answer of a run. Pages of the base are in groups only.
fn answer_against(
    base: usize,
    pages: &[Made],
    config: &Config,
    squeeze: Squeeze,
    form: Base,
) -> BTreeMap<String, ReportedPage> {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, pages: &[Made]| {
        fs::write(folder.path().join(name), pages.iter().map(line).collect::<String>()).unwrap();
    };
    write("base.jsonl", &pages[..base]);
    write("pages.jsonl", &pages[base..]);
    let mut job = job(folder.path(), config, squeeze);
    job.against = vec![form.of(&folder.path().join("base.jsonl"), &job, squeeze)];
    let report = run(squeezed(&job, squeeze), attempt(&job, &Silent, &mut io::sink())).unwrap();
    assert_eq!(report.read, (pages.len() - base) as u64);
    assert!(!job.out.join("kept/base").exists(), "the base is in no result");
    let mut fates: BTreeMap<String, ReportedPage> = BTreeMap::new();
    for kept in records(&job.out.join("kept/pages.jsonl")) {
        fates.insert(text(&kept["id"]), (None, text(&kept["id"])));
    }
    for gone in records(&job.out.join("removed.jsonl")) {
        let similarity = format!("{:.5}", gone["similarity"].as_f64().unwrap());
        let fate = (Some((text(&gone["winner"]), similarity, text(&gone["kind"]))), text(&gone["page"]));
        assert!(fates.insert(text(&gone["page"]), fate).is_none(), "kept and removed");
    }
    let is_base = |name: &str| pages[..base].iter().any(|page| page.name == name);
    for group in records(&job.out.join("groups.jsonl")) {
        for (member, place) in
            group["members"].as_array().unwrap().iter().zip(group["places"].as_array().unwrap())
        {
            let member = text(member);
            assert_eq!(place["status"] == "base", is_base(&member), "{member}");
            match fates.get_mut(&member) {
                Some(fate) => fate.1 = text(&group["winner"]),
                None => assert!(is_base(&member), "{member}"),
            }
        }
    }
    fates
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_run_against_a_base_equals_the_obvious(
        pages in corpus(), config in methods(), squeeze in squeezes(), share in 0.0f64..1.0,
        form in prop_oneof![Just(Base::File), Just(Base::Sketches)],
    ) {
        let base = (share * pages.len() as f64) as usize;
        prop_assume!(base < pages.len());
        // Sketches of nothing are refused.
        let form = if pages[..base].iter().all(|page| page.text.is_empty()) { Base::File } else { form };
        let expected = expected_against(base, &pages, &config);
        prop_assert_eq!(answer_against(base, &pages, &config, squeeze, form), expected);
    }
}
