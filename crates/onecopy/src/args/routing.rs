//! The argument for routing pages to partitions.

use std::str::FromStr;

use onecopy_engine::Routing;

#[derive(Clone, Copy)]
pub struct RoutingArg(pub Routing);

impl FromStr for RoutingArg {
    type Err = String;

    fn from_str(text: &str) -> Result<RoutingArg, String> {
        let (name, rho) = text.split_once(':').map_or((text, None), |(name, rho)| (name, Some(rho)));
        let rho = rho.map(|rho| rho.parse().ok().filter(|rho: &f64| rho.is_finite() && *rho > 0.0));
        match (name, rho) {
            ("lossless", None) => Ok(RoutingArg(Routing::Lossless)),
            ("approximate", None) => Ok(RoutingArg(Routing::Approximate { rho: None })),
            ("approximate", Some(Some(rho))) => Ok(RoutingArg(Routing::Approximate { rho: Some(rho) })),
            _ => Err(format!("`{text}` is not a routing: write lossless, approximate, or approximate:1.5")),
        }
    }
}
