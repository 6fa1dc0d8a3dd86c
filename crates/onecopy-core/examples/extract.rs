use std::io::{BufRead, Write};
fn main() {
    let mode = std::env::args().nth(1).unwrap();
    let path = std::env::args().nth(2).unwrap();
    let mut pages = vec![];
    for line in std::io::BufReader::new(std::fs::File::open(path).unwrap()).lines() {
        let v: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        pages.push((v["id"].as_str().unwrap().to_owned(), v["html"].as_str().unwrap().to_owned()));
    }
    let total: usize = pages.iter().map(|p| p.1.len()).sum();
    let started = std::time::Instant::now();
    if mode == "dump" {
        let mut out = std::io::BufWriter::new(std::fs::File::create(std::env::args().nth(3).unwrap()).unwrap());
        for (id, html) in &pages {
            onecopy_core::html::dump(html, |text, features| {
                serde_json::to_writer(&mut out, &(id, text, features)).unwrap();
                out.write_all(b"\n").unwrap();
            });
        }
        return;
    }
    let mut n = 0;
    let mut rounds = 0;
    while rounds < 3 {
        for (_, html) in &pages {
            match mode.as_str() {
                "all" => { let mut s = String::new(); onecopy_core::html::all_text(html, &mut s); n += s.len() }
                "old" => { let mut s = String::new(); onecopy_core::html_to_text(html, &mut s); n += s.len() }
                "grow" => n += onecopy_core::html::grow_only(html),
                _ => onecopy_core::html::dump(html, |t, f| n += t.len() + f[0] as usize),
            }
        }
        rounds += 1;
    }
    println!("{mode} {n} {:.1} MB/s", rounds as f64 * total as f64 / 1e6 / started.elapsed().as_secs_f64());
}
