//! Tests the program as users run it: the real binary, in temporary folders, with a limit on every wait.

// Helpers.
mod client; //    the program as a server, and a small HTTP client
mod clients; //   clients that change pages, and remember what was acknowledged
mod pages; //     texts with known similarity, and corpora made from a seed
mod program; //   starting the program, following its output, stopping it
mod python; //    third-party packages to check with
mod results; //   reading an output folder
mod small_disk; // a file system that tests can fill
mod warc; //      archives made of records, packed in every way, and a strict reader of them

// Tests.
mod against; //   `dedup --against` and `sketch`: a base stays as it is, and what repeats it goes
mod archives; //  WARC, WET and ARC: pages are found in any record, and kept archives are unchanged
mod backup; //    snapshots of a collection, and collections restored from them
mod choices; //   flags decide which page wins, which fields are read and which text is compared
mod collection; // `import`, `export`, `status`, `groups` and `check`: a collection on disk, without a server
mod compare; //   `compare` measures two pages and shows what matched
mod contract; //  the result files: their fields and counts, and that no record is lost
mod cost; //      `cost` compares the machines of schemes, by given and measured numbers
mod crash; //     a service that is killed or stopped keeps every acknowledged change
mod damage; //    damaged and overlong records of archives cost only themselves
mod eval; //      `eval` counts right and wrong pairs of labelled sets as computed by hand
mod examples; //  the READMEs describe what the main job does with the examples
mod explain; //   `explain` says why two pages were or were not joined
mod formats; //   kept records have the input's bytes and format, from files, folders and pipes
mod guides; //    every command of docs/guides works
mod help; //      help names every default, completions exist, wrong calls exit with 2
mod inputs; //    containers, tables and files of other programs, through every command
mod killed; //    a run that is killed or stopped in any stage resumes, and gives the same bytes
mod layout; //    `layout` places files of an index on servers, and simulates requests
mod limits; //    bad input and invalid parameters are reported, and cost nothing else
mod links; //     redirects, canonical links, equivalent forms of an address, and markets
mod listing; //   lists of pages, records, deleting many pages, and large groups in parts
mod long; //      mixed load on an aged collection, with kills, power losses, full disks and damaged files
mod losses; //    unreadable inputs, reasons for rejections, and options that match nothing
mod machine; //   a full disk, folders that cannot be written, huge lines, decompression bombs
mod memory; //    memory, threads and input order change no answer, and the memory limit holds
mod methods; //   every method through the program: its results, its reported recall, its errors
mod mirrors; //   `mirrors` finds hosts and folders that mirror each other
mod openapi; //   random requests from the served openapi.json: every answer conforms to it
mod operate; //   signals, tokens and full disks: what operators do, and what the log says about it
mod oracle; //    on real pages, the answer equals that of comparing all pairs
mod outputs; //   lists only, kept pages to standard output, names as text, lists as Parquet
mod package; //   the Python package: its wheel, its tests, and that its dependencies are those of the program
mod partitions; // `partitions` divides pages among machines, and applies plans to other pages
mod peaks; //     inputs of unusual shape keep the memory limit, or are refused with a number that works
mod places; //    places identify pages whose names repeat, in the lists, in `explain` and in `compare`
mod printing; //  a result that standard output does not take is an error
mod proxies; //   nginx and haproxy in front of the service pass all lines on
mod proxy; //     `proxy`: answers of search engines without repeats, and all else unchanged
mod rank; //      `rank` scores pages by their links, and `dedup` uses the scores
mod rates; //     clients that ask too often or send too slowly
mod readers; //   third-party readers of WARC and Parquet read kept files correctly
mod refine; //    `refine`, `POST /refine` and `tag`: each content of search results once
mod repeat; //    an output folder is never repeated, mixed or overwritten by accident
mod replay; //    pywb replays kept archives as it replays the given ones
mod revisits; //  payloads of any type are stored once, and records refer to no record that is left out
mod serve; //     `serve`: every route, its errors, and how it stops
mod simd; //      every SIMD level gives the same answer
mod starvation; // idle, slow and greedy clients do not keep the service from others
mod stores; //    object stores and web servers give the same answer as local files, or a clear error
mod sync; //      `sync` writes statuses to PostgreSQL and to search engines, and continues after a kill
mod tags; //      tags that a collection keeps, in answers, exports and backups
mod terminal; //  output fits the terminal; words for methods; pictures; which text was equal
mod tidy; //      the rules of style that a machine can check
