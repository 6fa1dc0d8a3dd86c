//! Bits that flip while nothing runs: the service repairs the file, names it, or names the page. It never answers wrong.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::world::{ARGS, World, follow_for};
use crate::client::{Server, serve_in, try_serve};
use crate::clients::{assert_remembered, assert_right, in_address};
use crate::collection::{on, statuses};
use crate::pages::Random;
use crate::results::files_below;

/// The files that have data, by how their names begin.
const KINDS: [&str; 5] = ["log-", "tables.redb", "postings", "order-", "counts"];

/// Damages a file of a stopped collection. Then the collection is repaired, or restored from a backup.
pub fn happen(world: &mut World, folder: TempDir, time: Duration) -> TempDir {
    let server = serve_in(folder, ARGS);
    world.load(&server, |follower, _| follow_for(follower, &server, time));
    server.settle();
    let folder = world.finish(server, "TERM");
    let before = statuses(folder.path());
    on("backup", folder.path()).args("--quiet --keep 2 --to").arg(folder.path().join("backups")).succeed();
    let Some(file) = flip(&folder.path().join("pages"), &mut world.random) else { return folder };
    let end = match try_serve(folder, ARGS, |call, _| call) {
        Err((refused, folder)) => {
            assert!(refused.code().is_some_and(|code| code == 1 || code == 2), "{:?}", refused.status);
            refused.says(&[&file]);
            ("refused", restored(world, &folder))
        }
        Ok(server) => {
            let folder = served(world, server, &before);
            let checked = on("check", folder.path()).run();
            match checked.code() {
                Some(0) => ("repaired", folder),
                Some(1) => (healed(world, folder.path(), &checked.stdout, &file), restored(world, &folder)),
                code => panic!("check ended with {code:?}: {}", checked.stderr),
            }
        }
    };
    let kind = KINDS.iter().find(|kind| file.starts_with(*kind)).expect("a kind");
    *world.tally.incidents.entry(format!("Damage of {kind}: {}", end.0)).or_default() += 1;
    end.1
}

/// Flips a bit in a few bytes of a file. Returns its name.
fn flip(data: &Path, random: &mut Random) -> Option<String> {
    let kind = KINDS[random.below(KINDS.len() as u64) as usize];
    let names: Vec<String> = files_below(data).into_iter().filter(|name| name.starts_with(kind)).collect();
    let name = names.get(random.below(names.len().max(1) as u64) as usize)?.clone();
    let mut bytes = fs::read(data.join(&name)).expect("a file");
    let used: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] != 0).collect();
    for _ in 0..1 + random.below(3) {
        let at = *used.get(random.below(used.len().max(1) as u64) as usize)?;
        bytes[at] ^= 1 << random.below(8);
    }
    fs::write(data.join(&name), bytes).expect("a file");
    Some(name)
}

/// A server on damaged files answers as before.
fn served(world: &mut World, server: Server, before: &BTreeMap<String, Value>) -> TempDir {
    server.settle();
    let data = server.data();
    assert_eq!(&statuses(data.parent().expect("the folder around it")), before);
    world.finish(server, "TERM")
}

/// Deletes the pages that a check names, and puts them again, as it says. The answers are then right again.
fn healed(world: &World, folder: &Path, findings: &str, file: &str) -> &'static str {
    assert!(findings.contains(file), "{file} is damaged, and only this is said: {findings}");
    let named: Vec<String> = findings
        .lines()
        .filter(|line| line.contains("deleted and put again"))
        .filter_map(|line| line.strip_prefix("page "))
        .filter_map(|rest| serde_json::Deserializer::from_str(rest).into_iter::<String>().next()?.ok())
        .collect();
    if named.is_empty() {
        return "named";
    }
    let copy = world.folder();
    let data = copy.path().join("pages");
    fs::create_dir(&data).expect("a folder");
    for name in files_below(&folder.join("pages")) {
        fs::copy(folder.join("pages").join(&name), data.join(name)).expect("a copy");
    }
    let server = serve_in(copy, ARGS);
    for name in &named {
        let record = world.clients.iter().find_map(|client| client.known(name));
        let record = record.unwrap_or_else(|| panic!("{name} is damaged, and nobody put it"));
        server.ask("DELETE", &format!("/pages?page={}", in_address(name)), &[], "").with(202);
        server.post("/pages", &record.to_string()).with(202);
    }
    server.settle();
    let (_, copy) = server.end();
    assert_remembered(copy.path(), &world.clients);
    assert_right(copy.path());
    "healed"
}

/// The collection from the last backup, in a new folder.
fn restored(world: &World, folder: &TempDir) -> TempDir {
    let copy = world.folder();
    on("restore", copy.path()).args("--quiet --from").arg(folder.path().join("backups")).succeed();
    copy
}
