//! Upgrades a collection of an earlier format, or with earlier answers, in place.
//!
//! Formats differ in tables and postings; the log has the same records in all. So a new collection is built beside the old
//! one, from the last version of each page, and then takes its place. The old files go to a folder of their own. Whenever
//! the process is killed, the next call continues: `switch` knows how far it was.

mod earlier;
mod switch;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use onecopy_core::{ANSWER_VERSION, SKETCHES_SINCE, canonical_id};
use onecopy_store::{Deed, Disk, Folder, Open, Overlay, Version};

use super::accept::accept_versions;
use super::collection::facts::{FORMAT, Facts, RESTORING, TABLES, TAGGED_FORMAT};
use super::import::wait_for_room;
use super::prepare::Preparation;
use super::tier2::reject_again;
use super::{Opening, Service, ServiceOptions, settle};
use crate::error::{Error, Result};
use crate::progress::{Note, Progress, Stage};
use earlier::{Earlier, with_name_of_today};
use switch::Switch;

/// The number of pages per call, with one sync for all.
const GROUP: usize = 256;

/// A finished upgrade.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Upgraded {
    /// The format that the collection had.
    pub format: u32,
    /// The number of pages.
    pub pages: u64,
    /// Where the files of the old collection are.
    pub before: PathBuf,
}

/// Finishes an upgrade of the collection in a folder that was killed while it moved files. Nothing else is upgraded.
pub fn resume_upgrade(data: &Path) -> Result<()> {
    let switch = Switch::new(data);
    if !switch.is_built() {
        return Ok(());
    }
    match Disk::open(data).and_then(|disk| disk.lock()) {
        Ok(_lock) => switch.resume(),
        Err(_) => Ok(()),
    }
}

/// Upgrades the collection in the options' folder, if it is of an earlier version and nobody uses it. Anything else is left
/// as it is: opening it will tell. The collection gets a new name, so readers of its feed begin again.
pub fn upgrade(options: &ServiceOptions, progress: &dyn Progress) -> Result<Option<Upgraded>> {
    upgrade_since(options, progress, SKETCHES_SINCE)
}

/// The same, if names, sketches and ranks are those of answer version `since`.
pub(super) fn upgrade_since(
    options: &ServiceOptions,
    progress: &dyn Progress,
    since: u32,
) -> Result<Option<Upgraded>> {
    let Ok(disk) = Disk::open(&options.data) else { return Ok(None) };
    let switch = Switch::new(&options.data);
    let is_collection = disk.open(TABLES, Open::Read).is_ok() || switch.is_begun();
    let is_restored = disk.open(RESTORING, Open::Read).is_ok();
    if options.opening == Opening::Read || is_restored || !is_collection {
        return Ok(None);
    }
    let Ok(_lock) = disk.lock() else { return Ok(None) };
    switch.resume()?;
    // Nothing is written to the old files.
    let folder: Arc<dyn Folder> = Arc::new(Overlay::new(Arc::new(disk)));
    let Some(facts) = earlier::facts(&*folder).filter(is_earlier) else { return Ok(None) };
    let format = facts.format.unwrap_or(0);
    progress.note(&Note::Upgrading { folder: options.data.clone(), from: format, to: format.max(FORMAT) });
    let earlier = Earlier::open(&folder, facts, &options.data)?;
    let building = Building { earlier: &earlier, is_sketched_again: earlier.facts.answers < since };
    let pages = building.run(options, switch.begin()?, progress)?;
    drop(earlier);
    let before = switch.run(format)?;
    progress.note(&Note::Upgraded { folder: options.data.clone(), before: before.clone() });
    Ok(Some(Upgraded { format, pages, before }))
}

/// Whether a collection can be upgraded: it was begun by an earlier version.
fn is_earlier(facts: &Facts) -> bool {
    let Facts { format: Some(format), answers, .. } = *facts else { return false };
    let is_known = (1..=TAGGED_FORMAT).contains(&format) && (1..=ANSWER_VERSION).contains(&answers);
    is_known && !(facts.is_of_today() && answers == ANSWER_VERSION)
}

/// A new collection of an earlier one.
struct Building<'a> {
    earlier: &'a Earlier,
    /// Whether sketches have changed since, so that they are made again from the pages.
    is_sketched_again: bool,
}

impl Building<'_> {
    /// Builds the new collection in `data`. Returns the number of pages.
    fn run(&self, options: &ServiceOptions, data: PathBuf, progress: &dyn Progress) -> Result<u64> {
        let (config, tags) = (Some(self.earlier.config.clone()), self.earlier.tags);
        let options = ServiceOptions { data, config, tags, opening: Opening::Begin, ..options.clone() };
        let service = Service::open(options)?;
        let (mut group, mut bytes) = (Vec::new(), 0);
        progress.begin(Stage::Read, self.earlier.bytes());
        self.earlier.versions(&mut |version, length| {
            bytes += length;
            group.push(self.renewed(version, &service.collection.preparation)?);
            if group.len() < GROUP {
                return Ok(());
            }
            progress.advance(std::mem::take(&mut bytes));
            hand_over(&service, std::mem::take(&mut group), progress)
        })?;
        progress.advance(bytes);
        hand_over(&service, group, progress)?;
        settle(&service, progress)?;
        reject_again(&service.collection, self.earlier.rejected()?)?;
        let pages = service.stats().pages;
        service.close()?;
        Ok(pages)
    }

    /// Today's version of an earlier one.
    fn renewed(&self, version: Version, preparation: &Preparation) -> Result<Version> {
        let is_bare = version.silent && version.page.is_empty();
        if !self.is_sketched_again || version.deed != Deed::Put || is_bare {
            return Ok(with_name_of_today(version));
        }
        let broken = |reason: String| Error::Broken { reason };
        let Some(page) = preparation.whole(&version).map_err(broken)? else {
            let (folder, found) = (self.earlier.data.clone(), self.earlier.facts.answers);
            return Err(Error::CollectionWithoutPages { folder, found, page: version.name });
        };
        let again = preparation.buffers().and_then(|mut buffers| preparation.put(&page, &mut buffers));
        let unlike = |why: String| {
            let name = &version.name;
            broken(format!("page {name} cannot be read as before: {why}; name the fields of pages as before"))
        };
        let again = again.map_err(|refusal| unlike(refusal.to_string()))?;
        if again.name != canonical_id(&version.name) || again.url != version.url {
            return Err(unlike("it has another name or address now".into()));
        }
        Ok(again)
    }
}

fn hand_over(service: &Service, versions: Vec<Version>, progress: &dyn Progress) -> Result<()> {
    wait_for_room(service, progress)?;
    for accepted in accept_versions(&service.collection, versions.into_iter().map(Ok).collect()) {
        accepted.map_err(|refusal| Error::Broken { reason: refusal.to_string() })?;
    }
    Ok(())
}
