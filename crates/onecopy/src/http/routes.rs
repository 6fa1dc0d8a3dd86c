//! The routes: one table that routes requests, names metrics, and is tested against `openapi.json`.

pub mod about;
pub mod feed;
pub mod groups;
mod lines;
mod listing;
pub mod names;
pub mod pages;
pub mod refine;
pub mod snapshots;

use hyper::Method;

use super::guard::Access;

/// The action of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    Index,
    PutPages,
    PageStatus,
    DeletePage,
    DeadPage,
    Statuses,
    Groups,
    Group,
    Repair,
    Feed,
    Query,
    Refine,
    MakeSnapshot,
    Snapshots,
    Stats,
    Health,
    Ready,
    Metrics,
    OpenApi,
}

/// A route.
pub struct Route {
    pub method: &'static str,
    /// A part in braces matches anything.
    pub path: &'static str,
    pub endpoint: Endpoint,
    /// Its description in the list of routes.
    pub about: &'static str,
}

impl Route {
    /// The access that a client needs.
    pub fn access(&self) -> Access {
        match self.endpoint {
            Endpoint::PutPages
            | Endpoint::DeletePage
            | Endpoint::DeadPage
            | Endpoint::Repair
            | Endpoint::MakeSnapshot => Access::Write,
            _ => Access::Read,
        }
    }
}

/// All routes.
pub const ROUTES: &[Route] = &[
    route("GET", "/", Endpoint::Index, "list the routes"),
    route(
        "POST",
        "/pages",
        Endpoint::PutPages,
        "put a page (application/json) or many (application/x-ndjson)",
    ),
    route(
        "GET",
        "/pages",
        Endpoint::PageStatus,
        "get the status of a page: ?page=NAME[&json=true][&verify=true][&record=true], or list pages: \
         ?limit=&cursor=&prefix=&host=&status=&group=&language=&changed_since=",
    ),
    route(
        "DELETE",
        "/pages",
        Endpoint::DeletePage,
        "delete a page: ?page=NAME[&json=true], or many: ?prefix=&host=&limit=&cursor=",
    ),
    route("POST", "/pages/dead", Endpoint::DeadPage, "mark a page as dead: {\"page\": NAME}"),
    route(
        "POST",
        "/status",
        Endpoint::Statuses,
        "get the status of many pages: {\"pages\": [NAME, ...], \"verify\": false}",
    ),
    route("GET", "/groups", Endpoint::Groups, "list groups by number: ?after=&limit=&least=&search="),
    route("GET", "/groups/{group}", Endpoint::Group, "get a group and its pages: ?limit=&cursor="),
    route("POST", "/groups/{group}/repair", Endpoint::Repair, "compare the pages of a group again"),
    route(
        "GET",
        "/feed",
        Endpoint::Feed,
        "get changes of status: ?after=&limit=&wait=, or as server-sent events",
    ),
    route("POST", "/query", Endpoint::Query, "get the status that a page would have if it were put"),
    route("POST", "/refine", Endpoint::Refine, "group ranked search results: {\"results\": [RESULT, ...]}"),
    route("POST", "/snapshots", Endpoint::MakeSnapshot, "begin a snapshot of the collection, for a backup"),
    route("GET", "/snapshots", Endpoint::Snapshots, "list the snapshots"),
    route("GET", "/stats", Endpoint::Stats, "get numbers about the collection"),
    route("GET", "/health", Endpoint::Health, "check that the process is alive"),
    route("GET", "/ready", Endpoint::Ready, "check that the service accepts changes"),
    route("GET", "/metrics", Endpoint::Metrics, "get the numbers for Prometheus"),
    route("GET", "/openapi.json", Endpoint::OpenApi, "describe all routes for programs (OpenAPI)"),
];

const fn route(method: &'static str, path: &'static str, endpoint: Endpoint, about: &'static str) -> Route {
    Route { method, path, endpoint, about }
}

/// The route of a method and a path.
#[derive(Debug, PartialEq, Eq)]
pub enum RouteMatch<'a> {
    /// A route, by its index in the table, and the part of the path in braces.
    Route(usize, Option<&'a str>),
    /// The path exists for these other methods.
    OtherMethods(String),
    /// The path does not exist.
    Nothing,
}

/// Finds the route of a request. HEAD is GET without a body.
pub fn find<'a>(method: &Method, path: &'a str) -> RouteMatch<'a> {
    let method = if method == Method::HEAD { "GET" } else { method.as_str() };
    let mut allowed: Vec<&str> = Vec::new();
    for (at, route) in ROUTES.iter().enumerate() {
        let Some(open) = matched(route.path, path) else { continue };
        if route.method == method {
            return RouteMatch::Route(at, open);
        }
        allowed.push(route.method);
        allowed.extend((route.method == "GET").then_some("HEAD"));
    }
    if allowed.is_empty() { RouteMatch::Nothing } else { RouteMatch::OtherMethods(allowed.join(", ")) }
}

/// Matches a path with a route; returns the part in braces.
fn matched<'a>(pattern: &str, path: &'a str) -> Option<Option<&'a str>> {
    let Some((start, end)) = pattern.split_once("{group}") else {
        return (pattern == path).then_some(None);
    };
    let open = path.strip_prefix(start)?.strip_suffix(end)?;
    (!open.is_empty() && !open.contains('/')).then_some(Some(open))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(method: Method, path: &str) -> Option<(Endpoint, Option<&str>)> {
        match find(&method, path) {
            RouteMatch::Route(at, open) => Some((ROUTES[at].endpoint, open)),
            _ => None,
        }
    }

    #[test]
    fn paths_are_found() {
        assert_eq!(endpoint(Method::POST, "/pages"), Some((Endpoint::PutPages, None)));
        assert_eq!(endpoint(Method::HEAD, "/pages"), Some((Endpoint::PageStatus, None)));
        assert_eq!(endpoint(Method::GET, "/groups/17"), Some((Endpoint::Group, Some("17"))));
        assert_eq!(endpoint(Method::POST, "/groups/17/repair"), Some((Endpoint::Repair, Some("17"))));
        for nothing in
            ["/page", "/pages/", "/groups/", "/groups/1/2", "/groups//repair", "/groups/1/repair/", ""]
        {
            assert_eq!(find(&Method::GET, nothing), RouteMatch::Nothing, "{nothing}");
        }
        let others = RouteMatch::OtherMethods("POST, GET, HEAD, DELETE".into());
        assert_eq!(find(&Method::PATCH, "/pages"), others);
        assert_eq!(find(&Method::GET, "/groups/1/repair"), RouteMatch::OtherMethods("POST".into()));
    }

    #[test]
    fn the_document_has_every_route_and_no_other() {
        let text = include_str!("openapi.json");
        let document: serde_json::Value = serde_json::from_str(text).expect("openapi.json is JSON");
        let paths = document["paths"].as_object().expect("paths");
        let mut described: Vec<(String, String)> = Vec::new();
        for (path, operations) in paths {
            for method in operations.as_object().expect("operations").keys() {
                described.push((path.clone(), method.to_uppercase()));
            }
        }
        let mut routed: Vec<(String, String)> =
            ROUTES.iter().map(|route| (route.path.to_owned(), route.method.to_owned())).collect();
        described.sort();
        routed.sort();
        assert_eq!(described, routed);
    }
}
