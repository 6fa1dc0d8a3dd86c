//! Encodes the links in a segment, and collects those of all segments.

use onecopy_core::{Claim, Claims, LinkKind};

use crate::batch::budget::Budget;
use crate::batch::read::segments::Segments;
use crate::error::Result;

/// The address that a page of a segment names as its own. Addresses are hashes, for look-ups.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Link {
    pub row: u32,
    pub kind: LinkKind,
    /// The page's own address; zero if it has none.
    pub from: u64,
    /// The hash of the named address, and that of its identity by the rules.
    pub address: u64,
    pub identity: u64,
    /// The address that it names.
    pub to: String,
}

/// Bytes of a link before its text.
const HEAD: usize = 33;

impl Link {
    pub(crate) fn encode(links: &[Link]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for link in links {
            bytes.extend(link.row.to_ne_bytes());
            bytes.push(link.kind as u8);
            for number in [link.from, link.address, link.identity] {
                bytes.extend(number.to_ne_bytes());
            }
            bytes.extend((link.to.len() as u32).to_ne_bytes());
            bytes.extend(link.to.as_bytes());
        }
        bytes
    }

    pub(crate) fn decode(mut bytes: &[u8]) -> Vec<Link> {
        let mut links = Vec::new();
        while let Some((head, rest)) = bytes.split_first_chunk::<HEAD>() {
            let short = |at: usize| u32::from_ne_bytes(head[at..at + 4].try_into().expect("four bytes"));
            let long = |at: usize| u64::from_ne_bytes(head[at..at + 8].try_into().expect("eight bytes"));
            let (to, rest) = rest.split_at((short(29) as usize).min(rest.len()));
            let kind = match head[4] {
                0 => LinkKind::Redirect,
                1 => LinkKind::Revisit,
                _ => LinkKind::Canonical,
            };
            let to = String::from_utf8_lossy(to).into_owned();
            links.push(Link {
                row: short(0),
                kind,
                from: long(5),
                address: long(13),
                identity: long(21),
                to,
            });
            bytes = rest;
        }
        links
    }
}

/// The links of all segments; `None` if there are none. Fails if they do not fit into memory.
pub(super) fn claims(segments: &Segments, budget: &Budget) -> Result<Option<Claims>> {
    let (mut pointing, mut hints) = (0, 0);
    let linking = || (0..segments.len()).filter(|&number| segments.has_links_or_rejections(number));
    for number in linking() {
        let segment = segments.load(number)?;
        let canonical = segment.links.iter().filter(|link| link.kind == LinkKind::Canonical).count();
        (pointing, hints) = (pointing + segment.links.len() - canonical, hints + canonical);
    }
    if pointing + hints == 0 {
        return Ok(None);
    }
    let bytes = pointing as u64 * Claims::BYTES_A_REDIRECT + hints as u64 * Claims::BYTES_A_HINT;
    budget.check_links(bytes, segments)?;
    let mut claims = Claims::default();
    claims.reserve(pointing, hints);
    for number in linking() {
        let (segment, first) = (segments.load(number)?, segments.first_page(number));
        for link in &segment.links {
            let row = &segment.rows[link.row as usize];
            claims.push(Claim {
                page: first + link.row,
                kind: link.kind,
                from: link.from,
                own_identity: row.identity,
                address: link.address,
                identity: link.identity,
                silent: row.silent,
            });
        }
    }
    Ok(Some(claims))
}
