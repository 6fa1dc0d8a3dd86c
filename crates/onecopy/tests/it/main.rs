//! The program as its users meet it: the real binary, in temporary folders, every wait with a limit.

// What the tests are written with.
mod client; //    the program as a server, and a small HTTP client
mod pages; //     texts whose similarity is known, and corpora made from a seed
mod program; //   starting the program, following what it says, stopping it
mod python; //    other people's packages, to check with
mod results; //   reading an output folder
mod warc; //      archives made of records, packed in every way, and a strict reader of them

// What they prove.
mod archives; //  WARC, WET and ARC: pages are found in any record, and what is kept is an archive as it was
mod choices; //   flags decide who wins, which fields are read and what counts as text
mod collection; // `import`, `export`, `status`, `groups` and `check`: a collection on disk, without a server
mod compare; //   `compare` measures two pages and shows what matched
mod contract; //  the result files: their fields, their counts, and that nothing disappears
mod crash; //     a service that is killed or told to end: what it acknowledged is there, and nothing is wrong
mod damage; //    damaged and overlong records of archives cost nothing but themselves
mod eval; //      `eval` counts right and wrong pairs of labelled sets, as they come out by hand
mod examples; //  the READMEs tell what the main job does with the examples
mod explain; //   `explain` says why two pages were or were not joined
mod formats; //   kept records are the input's own bytes in the input's own format, from files, folders and pipes
mod help; //      help names every default, completions exist, wrong calls end with 2
mod killed; //    a run that is killed or stopped in any stage continues, to the same bytes
mod limits; //    bad input and nonsense parameters are named, and cost nothing else
mod links; //     redirects, canonical links, other ways to write an address, and markets
mod machine; //   a full disk, folders that cannot be written, huge lines, decompression bombs
mod memory; //    memory, threads and the order of the input change no answer, and the limit is kept
mod methods; //   every method through the program: what it finds, says of its recall, and refuses
mod mirrors; //   `mirrors` finds hosts and folders that mirror each other
mod openapi; //   made-up requests after the served openapi.json: no answer is other than it says
mod oracle; //    on real pages, the answer is the one that comparing all pairs gives
mod readers; //   other people's readers of WARC and Parquet find in kept files what they should
mod repeat; //    an output folder is never repeated, mixed or overwritten by accident
mod serve; //     `serve`: every route, what it refuses, and how it ends
mod simd; //      every level of instructions gives the same answer
mod stores; //    object stores and web servers give the answer that local files give, or a clear error
mod tidy; //      the rules of style that a machine can check
