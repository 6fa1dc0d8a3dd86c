//! From pages to decisions: runs the stages between reading and writing in order.

use std::sync::Mutex;

use onecopy_core::settle::{Comparer, KeyLists, Settled, settle};
use onecopy_core::{
    Elsewhere, Groups, Links, Method, Rarity, Scratch, Search, connect, near_by_rotation, ranks,
};

use crate::batch::budget::Budget;
use crate::batch::candidates::contents::{ContentFinder, Contents, contents};
use crate::batch::candidates::key_lists::StoredLists;
use crate::batch::candidates::keys::KeyFinder;
use crate::batch::candidates::neighbours::neighbours;
use crate::batch::candidates::outlines::{Outlines, Usual};
use crate::batch::candidates::sets::sets;
use crate::batch::order::links::links;
use crate::batch::order::preferences::{Preferences, check_markets};
use crate::batch::order::rank::Ranker;
use crate::batch::read;
use crate::batch::read::counters::Counters;
use crate::batch::read::segments::{Collector, Segments};
use crate::batch::settle::comparer::SketchComparer;
use crate::batch::settle::components::{PASSES, Room, Section, Sections, divide};
use crate::batch::settle::decisions::Decisions;
use crate::batch::settle::gather::{Gathered, Gatherer};
use crate::batch::sketches;
use crate::batch::work::Work;
use crate::error::{Error, Result};
use crate::ingest::Format;
use crate::io::Aligned;
use crate::job::Job;
use crate::progress::{Leg, Note, Progress, Silent, Stage};

/// Receives the decisions of each market as they are made.
pub(crate) type OnMarket<'a> = dyn FnMut(&str, &Segments, &Decisions) -> Result<()> + 'a;

/// Reads all pages and decides which stay. Continues the work of an earlier run.
pub(crate) fn decide(
    job: &Job,
    work: &Work,
    progress: &dyn Progress,
    on_market: &mut OnMarket,
) -> Result<(Segments, Decisions)> {
    let mut collector = Collector::open(work.folder(), work.budget.segments)?;
    note_continued(work, &collector, progress);
    sketches::load(&work.run.inputs, &mut collector)?;
    let (segments, counters) = read::read(job, work, &*work.method, collector, progress)?;
    let deciding = Deciding { job, work, segments: &segments, progress };
    match deciding.decisions(counters, on_market) {
        Ok(decisions) => Ok((segments, decisions)),
        Err(error) => Err(segments.reopen().save_after(job, error, progress)),
    }
}

/// Says what a run need not read again, if it continues an earlier one.
pub(crate) fn note_continued(work: &Work, collector: &Collector, progress: &dyn Progress) {
    if work.continued {
        let pages = collector.pages();
        progress.note(&if pages > 0 { Note::Continued { pages } } else { Note::NothingSaved });
    }
}

/// Refuses a method that would take too long.
fn check_method(job: &Job, method: &dyn Method, pages: usize) -> Result<()> {
    let most = method.most_pages();
    if pages <= most {
        return Ok(());
    }
    Err(Error::SlowMethod { method: job.config.method.clone(), pages, most })
}

/// Decides about pages that have been read.
struct Deciding<'a> {
    job: &'a Job,
    work: &'a Work,
    segments: &'a Segments,
    progress: &'a dyn Progress,
}

impl Deciding<'_> {
    /// Decides which pages stay, or loads what an earlier run decided.
    fn decisions(&self, counters: Counters, on_market: &mut OnMarket) -> Result<Decisions> {
        let &Deciding { job, work, segments, progress } = self;
        let budget = &work.budget;
        check_any(job, work, segments)?;
        budget.check_pages(segments.pages())?;
        check_method(job, &*work.method, segments.pages())?;
        check_markets(segments, &job.config.markets)?;
        let saved = work.folder().join("decisions");
        if let Some(decisions) = Decisions::load(&saved)?.filter(|saved| saved.pages() == segments.pages()) {
            return Ok(decisions);
        }
        let (threads, memory, folder) = (job.threads, budget.sort, work.folder());
        let by_rules = Ranker { segments, threads, memory, folder, progress }.rank()?;
        let links = links(segments, &ranks(&by_rules, segments.pages()), budget)?;
        let (rarity, method) = (&counters.finish(), &*work.method);
        let budget = if segments.on_disk() { budget.without_segments() } else { *budget };
        let base = segments.pages_of_first(work.base_lots());
        let settling = Settling { job, work, budget, method, segments, base, rarity, links: &links };
        let decisions = settling.markets(by_rules, progress, on_market)?;
        decisions.save(&saved)?;
        Ok(decisions)
    }
}

/// Fails if a job has neither a page nor a reason why.
pub(crate) fn check_any(job: &Job, work: &Work, segments: &Segments) -> Result<()> {
    let all_read = work.run.inputs.unread().next().is_none();
    if segments.pages() == 0 && all_read && no_rejections(segments)? {
        return Err(Error::Input { input: job.inputs.join(" "), reason: why_nothing(work, segments) });
    }
    Ok(())
}

/// Why there is no page to judge. An archive may have thousands of records and no page.
fn why_nothing(work: &Work, segments: &Segments) -> String {
    let mut sources = work.run.inputs.sources.iter();
    match (0..segments.len()).map(|segment| u64::from(segments.place(segment).2)).sum::<u64>() {
        count if count > 0 && sources.any(|source| matches!(source.format, Format::Records(_))) => format!(
            "nothing to judge: {count} records of other kinds, such as metadata and requests, and no page; give the WARC or WET files, not WAT"
        ),
        _ => "nothing was read: there is no record in it".into(),
    }
}

fn no_rejections(segments: &Segments) -> Result<bool> {
    for number in 0..segments.len() {
        if !segments.load(number)?.rejected.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Settles pages in a given order.
struct Settling<'a> {
    job: &'a Job,
    work: &'a Work,
    budget: Budget,
    method: &'a dyn Method,
    segments: &'a Segments,
    /// How many pages are the base; they have the first numbers.
    base: u32,
    rarity: &'a Rarity,
    links: &'a Links,
}

impl Settling<'_> {
    /// Decides for each market. The first market comes last: its decisions are those of the run.
    fn markets(
        &self,
        by_rules: Vec<u32>,
        progress: &dyn Progress,
        on_market: &mut OnMarket,
    ) -> Result<Decisions> {
        let lesser = self.believed(&by_rules, progress)?;
        let preferences =
            Preferences { base: self.base, segments: self.segments, links: self.links, lesser: &lesser };
        let markets = &self.job.config.markets;
        for market in (1..markets.len()).rev() {
            let decisions = self.settle(preferences.order(&by_rules, Some(market))?, progress)?;
            on_market(&markets[market], self.segments, &decisions)?;
        }
        let order = preferences.order(&by_rules, (!markets.is_empty()).then_some(0))?;
        drop(by_rules);
        let decisions = self.settle(order, progress)?;
        if let Some(market) = markets.first() {
            on_market(market, self.segments, &decisions)?;
        }
        Ok(decisions)
    }

    /// The pages whose canonical link names a similar page, ascending.
    fn believed(&self, by_rules: &[u32], progress: &dyn Progress) -> Result<Vec<u32>> {
        let claimed = &self.links.canonical;
        if claimed.is_empty() {
            return Ok(Vec::new());
        }
        let preferences =
            Preferences { base: self.base, segments: self.segments, links: self.links, lesser: &[] };
        let contents = self.contents(preferences.order(by_rules, None)?, &Silent)?;
        let of = |page: u32| contents.of_page[page as usize];
        let pair = |&(page, target): &(u32, u32)| (of(page), of(target));
        let mut pairs: Vec<_> = claimed.iter().map(pair).collect();
        // A million copies may name one page.
        pairs.sort_unstable();
        pairs.dedup();
        pairs.shrink_to_fit();
        let (outlines, elsewhere) = (Outlines::default(), Elsewhere::default());
        let comparer = self.comparer(&contents, (&outlines, &elsewhere), progress);
        let alike = comparer.map(&pairs, |&(a, b), buffers| comparer.compare(a, b, buffers))?;
        let is_alike = |claim: &_| pairs.binary_search(&pair(claim)).is_ok_and(|at| alike[at].is_some());
        let believed = claimed.iter().filter(|claim| is_alike(*claim));
        let mut pages: Vec<u32> = believed.map(|&(page, _)| page).collect();
        pages.dedup();
        Ok(pages)
    }

    fn contents(&self, order: Vec<u32>, progress: &dyn Progress) -> Result<Contents> {
        let (segments, memory, folder) = (self.segments, self.budget.sort, self.work.folder());
        contents(&ContentFinder { segments, threads: self.readers(), memory, folder, progress }, order)
    }

    fn threads(&self) -> usize {
        self.segments.threads(self.job.threads, self.budget.limit / 4)
    }

    /// The number of threads that read segments. From disk there are more than cores, because some always wait.
    fn readers(&self) -> usize {
        let more = if self.segments.on_disk() { 2 } else { 1 };
        self.segments.threads(more * self.job.threads, self.budget.limit / 6)
    }

    fn comparer<'a>(
        &'a self,
        contents: &'a Contents,
        (outlines, elsewhere): (&'a Outlines, &'a Elsewhere),
        progress: &'a dyn Progress,
    ) -> SketchComparer<'a> {
        SketchComparer {
            segments: self.segments,
            sketches: None,
            contents,
            base: contents.best_page.partition_point(|&page| page < self.base) as u32,
            outlines,
            crowd_words: self.budget.crowd_words(contents.len()),
            elsewhere,
            method: self.method,
            threads: self.threads(),
            progress,
        }
    }

    /// Memory for outlines, if the method has any.
    fn outlines(&self, contents: &Contents) -> Result<Outlines> {
        if !self.method.has_outlines() {
            return Ok(Outlines::default());
        }
        Ok(Outlines::new(contents.len(), self.budget.outlines, self.usual(contents)?))
    }

    /// The sum of the sizes of some contents, and in how many bits their outlines may differ.
    fn usual(&self, contents: &Contents) -> Result<Usual> {
        /// Enough to know whether pages are long, and whether they are HTML.
        const SOME: usize = 64;
        let (outlines, elsewhere) = (Outlines::default(), Elsewhere::default());
        let comparer = self.comparer(contents, (&outlines, &elsewhere), &Silent);
        let (mut usual, mut buffer, mut scratch) = (Usual::default(), Vec::new(), Scratch::default());
        for content in (0..contents.len()).step_by(contents.len().div_ceil(SOME).max(1)) {
            let (sketch, mut outline) = (comparer.sketch(content as u32, &mut buffer)?, [0; 2]);
            self.method.outline(sketch, &mut scratch, &mut outline);
            let slack = if outline[1] == 0 { None } else { self.method.slack(&outline) };
            usual.contents += 1;
            usual.words += sketch.len();
            usual.slack += slack.unwrap_or(0) as usize;
        }
        Ok(usual)
    }

    /// Decides about pages, which are given best first.
    fn settle(&self, order: Vec<u32>, progress: &dyn Progress) -> Result<Decisions> {
        let (folder, budget, pages) = (self.work.folder(), &self.budget, self.segments.pages() as u64);
        progress.begin(Stage::Index, pages);
        let equal = pages / 8;
        let contents = self.contents(order, &Leg::new(progress, equal, 2 * self.segments.len() as u64))?;
        let finding = Leg::new(progress, pages - equal, pages);
        let elsewhere = Elsewhere::new(contents.len(), (budget.limit / 32) as usize);
        let finder = KeyFinder {
            outlines: Mutex::new(self.outlines(&contents)?),
            elsewhere: &elsewhere,
            segments: self.segments,
            contents: &contents,
            rarity: self.rarity,
            method: self.method,
            threads: self.threads(),
            readers: self.readers(),
            folder,
        };
        let lists = match self.method.search() {
            Search::Keys => finder.lists(budget, &finding)?,
            Search::Sets { limit } => sets(finder.lists(budget, &finding)?, contents.len(), limit)?,
            Search::Neighbours { most, step, window } => neighbours(
                &finder,
                |words| near_by_rotation(words, most, step, window as usize),
                budget,
                &finding,
            )?,
        };
        drop(finding);
        let outlines = finder.outlines.into_inner().expect("no thread panics with this lock");
        let comparer = self.comparer(&contents, (&outlines, &elsewhere), progress);
        let (settled, groups) = self.in_sections(&comparer, lists)?;
        Ok(Decisions::new(contents, settled, groups, &self.links.ends, self.method).against(self.base))
    }

    /// Settles contents that share a key of `lists`, and groups them.
    fn in_sections(&self, comparer: &SketchComparer, lists: StoredLists) -> Result<(Settled, Groups)> {
        let (contents, entries, progress) = (comparer.contents.len(), self.budget.entries, comparer.progress);
        let pages = self.segments.pages() as u64;
        self.note_cost(comparer, &lists);
        progress.begin(Stage::Compare, pages);
        // Most of the time goes to sketches on disk.
        let gathering = if self.segments.on_disk() { pages * 3 / 4 } else { 0 };
        let (Sections { apart, in_place }, gathered) = self.sections(comparer, lists, gathering)?;
        let members = apart.iter().chain(&in_place).map(|section| section.members.len());
        let steps = members.chain(apart.iter().map(|section| section.lists.len())).sum::<usize>();
        let settling = Leg::new(progress, pages - gathering, steps as u64);
        let comparing = SketchComparer { progress: &settling, ..*comparer };
        let (mut settled, mut groups) = (Settled::new(contents), Groups::new(contents));
        let mut buffer = Aligned::default();
        for (number, section) in apart.into_iter().enumerate() {
            let comparer =
                SketchComparer { sketches: Some(gathered.section(number, &mut buffer)?), ..comparing };
            // Sketches take half of the memory.
            settle(&comparer, &section.members, &section.lists, entries / 2, &mut settled)?;
            connect(&comparer, &section.members, &section.lists, &settled, &mut groups)?;
        }
        gathered.delete()?;
        drop(buffer);
        if let Some(Section { members, lists, .. }) = &in_place {
            settle(&comparing, members, lists, entries, &mut settled)?;
        }
        drop(settling);
        progress.begin(Stage::Group, in_place.as_ref().map_or(0, |section| section.lists.len()) as u64);
        if let Some(Section { members, lists, .. }) = &in_place {
            connect(comparer, members, lists, &settled, &mut groups)?;
        }
        if progress.stopped() { Err(Error::Stopped) } else { Ok((settled, groups)) }
    }

    /// Says early if comparing will take long.
    fn note_cost(&self, comparer: &SketchComparer, lists: &StoredLists) {
        /// A pair takes about so many nanoseconds in a crowd, for each word of its outlines.
        const CROWD: f64 = 0.05;
        /// A pair in a key list.
        const LISTED: f64 = 20.0;
        /// Less is no surprise.
        const LONG_SECONDS: f64 = 20.0;
        let contents = comparer.contents.len() as u64;
        let all = contents * contents.saturating_sub(1) / 2;
        if lists.pairs() == 0 {
            return;
        }
        let crowd = if self.method.slack(&[1, 1]).is_some() { comparer.outline(0) } else { None };
        let crowded = crowd.map_or(f64::MAX, |outline| all as f64 * CROWD * outline.len() as f64);
        let nanoseconds = crowded.min(lists.pairs().min(all) as f64 * LISTED);
        let seconds = nanoseconds / 1e9 / self.threads() as f64;
        if seconds > LONG_SECONDS {
            let pairs = lists.pairs().min(all);
            comparer.progress.note(&Note::ManyPairs { pairs, seconds: seconds as u64 });
        }
    }

    /// Divides contents into sections and gathers the sketches of all sections that are not in place. This is `steps` of
    /// the stage.
    fn sections(
        &self,
        comparer: &SketchComparer,
        lists: StoredLists,
        steps: u64,
    ) -> Result<(Sections, Gathered)> {
        let (segments, contents) = (self.segments, comparer.contents);
        if !segments.on_disk() {
            return Ok((Sections::whole(contents, lists), Gathered::default()));
        }
        let (memory, holders, folder) = (self.budget.sketches, self.budget.holders, self.work.folder());
        let words = u32::try_from(memory / 8).unwrap_or(u32::MAX - 1);
        let dividing = Leg::new(comparer.progress, steps / 2, PASSES * lists.entries() as u64);
        let dealer = SketchComparer { progress: &dividing, ..*comparer };
        let room = Room { words, holders, threads: comparer.threads, folder };
        let sections = divide(&dealer, &lists, &room)?;
        drop((dividing, lists));
        let gathering = Leg::new(comparer.progress, steps - steps / 2, segments.pages() as u64);
        let gatherer = Gatherer { segments, contents, readers: self.readers(), memory, folder };
        let gathered = gatherer.gather(&sections, &gathering)?;
        Ok((sections, gathered))
    }
}
