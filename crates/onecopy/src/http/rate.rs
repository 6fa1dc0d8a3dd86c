//! Limits how much a client asks for: a token bucket each.
//!
//! A client is a token, or an address if the service has no tokens. A request with a wrong token counts for its address.
//! A request that finds its bucket empty is refused. The lines of a stream also count; they are delayed, not refused.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The most clients whose buckets are known. All others share one.
const CLIENTS: usize = 16_384;
/// How often full buckets are removed at most, because it takes a look at all.
const TIDYING: Duration = Duration::from_secs(1);

/// How much each client may ask for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateLimit {
    /// Requests and lines per second, in the long run.
    pub per_second: f64,
    /// How many may come at once.
    pub burst: f64,
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// Those with the token for everything.
    Writer,
    /// Those with the token for reading.
    Reader,
    /// Those at an address.
    Address(IpAddr),
    /// All for whom there is no room.
    Others,
}

/// The buckets of all clients.
pub struct Rates {
    limit: Option<RateLimit>,
    buckets: Mutex<Buckets>,
}

struct Buckets {
    by_client: HashMap<Client, Bucket>,
    tidied: Instant,
}

/// The number of requests that a client may send at once. Below zero it waits.
#[derive(Clone, Copy)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Client {
    /// The client at an address. A network of IPv6 is one client: it has more addresses than anybody can count.
    pub fn at(address: IpAddr) -> Client {
        Client::Address(match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                [a, b, c, d, 0, 0, 0, 0].into()
            }
            address => address,
        })
    }
}

impl Rates {
    /// Full buckets. Without a limit everything is allowed.
    pub fn new(limit: Option<RateLimit>) -> Rates {
        let buckets = Buckets { by_client: HashMap::new(), tidied: Instant::now() };
        Rates { limit, buckets: Mutex::new(buckets) }
    }

    /// Allows a request. Otherwise says in how many seconds to try again.
    pub fn take(&self, client: Client) -> Result<(), u64> {
        self.take_at(client, Instant::now())
    }

    /// Counts lines that have come. Returns how long the client has to wait before it sends more.
    pub fn charge(&self, client: Client, lines: usize) -> Duration {
        let Some(limit) = self.limit else { return Duration::ZERO };
        self.with(client, limit, Instant::now(), |bucket| {
            bucket.left -= lines as f64;
            Duration::try_from_secs_f64(-bucket.left / limit.per_second).unwrap_or_default()
        })
    }

    fn take_at(&self, client: Client, now: Instant) -> Result<(), u64> {
        let Some(limit) = self.limit else { return Ok(()) };
        self.with(client, limit, now, |bucket| {
            if bucket.left < 1.0 {
                return Err(((1.0 - bucket.left) / limit.per_second).ceil().max(1.0) as u64);
            }
            bucket.left -= 1.0;
            Ok(())
        })
    }

    fn with<T>(
        &self,
        client: Client,
        limit: RateLimit,
        now: Instant,
        change: impl FnOnce(&mut Bucket) -> T,
    ) -> T {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let client = buckets.place(client, limit, now);
        let full = Bucket { left: limit.burst, at: now };
        let bucket = buckets.by_client.entry(client).or_insert(full);
        bucket.fill(limit, now);
        change(bucket)
    }
}

impl Buckets {
    /// The client, if it has a bucket or there is room for one.
    fn place(&mut self, client: Client, limit: RateLimit, now: Instant) -> Client {
        if self.by_client.len() < CLIENTS || self.by_client.contains_key(&client) {
            return client;
        }
        if now.saturating_duration_since(self.tidied) >= TIDYING {
            self.tidied = now;
            // A full bucket is the same as none.
            self.by_client.retain(|_, bucket| bucket.fill(limit, now) < limit.burst);
        }
        if self.by_client.len() < CLIENTS { client } else { Client::Others }
    }
}

impl Bucket {
    /// Adds what has come since the last time. Returns what there is.
    fn fill(&mut self, limit: RateLimit, now: Instant) -> f64 {
        let since = now.saturating_duration_since(self.at).as_secs_f64();
        self.left = limit.burst.min(self.left + since * limit.per_second);
        self.at = now;
        self.left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(per_second: f64, burst: f64) -> Rates {
        Rates::new(Some(RateLimit { per_second, burst }))
    }

    #[test]
    fn a_bucket_empties_and_fills() {
        let (rates, begun) = (rates(0.5, 3.0), Instant::now());
        let at = |seconds| begun + Duration::from_secs(seconds);
        for _ in 0..3 {
            assert_eq!(rates.take_at(Client::Writer, at(0)), Ok(()));
        }
        assert_eq!(rates.take_at(Client::Writer, at(0)), Err(2));
        assert_eq!(rates.take_at(Client::Reader, at(0)), Ok(()));
        assert_eq!(rates.take_at(Client::Writer, at(1)), Err(1));
        assert_eq!(rates.take_at(Client::Writer, at(2)), Ok(()));
        let after_long: Vec<_> = (0..4).map(|_| rates.take_at(Client::Writer, at(999))).collect();
        assert_eq!(after_long, [Ok(()), Ok(()), Ok(()), Err(2)]);
    }

    #[test]
    fn lines_are_delayed() {
        let rates = rates(10.0, 5.0);
        assert_eq!(rates.charge(Client::Writer, 5), Duration::ZERO);
        let delay = rates.charge(Client::Writer, 20);
        assert!(delay > Duration::from_millis(1_800) && delay <= Duration::from_secs(2), "{delay:?}");
        assert!(rates.take(Client::Writer).is_err());
        assert_eq!(Rates::new(None).charge(Client::Writer, 1_000_000), Duration::ZERO);
    }

    #[test]
    fn many_addresses_take_bounded_memory() {
        let (rates, begun) = (rates(1.0, 1.0), Instant::now());
        let client = |number: u32| Client::at(IpAddr::from(number.to_be_bytes()));
        for number in 0..2 * CLIENTS as u32 {
            let _ = rates.take_at(client(number), begun);
        }
        let known = |rates: &Rates| rates.buckets.lock().expect("a lock").by_client.len();
        assert!(known(&rates) <= CLIENTS + 1, "{}", known(&rates));
        assert!(rates.take_at(client(u32::MAX), begun).is_err(), "the others share a bucket");
        assert_eq!(rates.take_at(client(u32::MAX), begun + Duration::from_secs(5)), Ok(()));
        assert!(known(&rates) < 10, "full buckets are forgotten: {}", known(&rates));
        let [a, b] = ["2001:db8::1", "2001:db8::ffff:1"].map(|text| text.parse().expect("an address"));
        assert_eq!(Client::at(a), Client::at(b));
        let mapped = "::ffff:10.0.0.1".parse().expect("an address");
        assert_eq!(Client::at(mapped), Client::at("10.0.0.1".parse().expect("an address")));
    }
}
