//! Ids of sessions in addresses, which keys do not have.

/// Drops the ids of sessions that servers put into queries.
pub(super) fn without_query_sessions(query: String) -> String {
    let exactly = |text: &str, count: usize, is: fn(&u8) -> bool| {
        let bytes = text.as_bytes();
        (bytes.len() >= count && bytes[..count].iter().all(is)).then_some(count)
    };
    let named = |text: &str, name: &str| {
        let start = text.get(..name.len())?;
        start.eq_ignore_ascii_case(name).then_some(name.len())
    };
    let plain = |text: &str, name: &str| {
        let at = named(text, name)?;
        Some(at + exactly(&text[at..], 32, u8::is_ascii_alphanumeric)?)
    };
    let asp = |text: &str| {
        let at = named(text, "aspsessionid")?;
        let at = at + exactly(&text[at..], 8, u8::is_ascii_alphabetic)?;
        let at = at + named(&text[at..], "=")?;
        Some(at + exactly(&text[at..], 24, u8::is_ascii_alphabetic)?)
    };
    let cold_fusion = |text: &str| {
        let value = |from: usize| text[from..].find('&').map_or(text.len(), |end| from + end);
        let id = named(text, "cfid=")?;
        let token = value(id) + named(&text[value(id)..], "&cftoken=")?;
        (value(id) > id && value(token) > token).then(|| value(token))
    };
    let sessions: [&dyn Fn(&str) -> Option<usize>; 5] = [
        &|text| plain(text, "jsessionid="),
        &|text| plain(text, "phpsessid="),
        &|text| plain(text, "sid="),
        &asp,
        &cold_fusion,
    ];
    sessions.iter().fold(query, |query, session| without_last(&query, session))
}

/// Drops the last match that ends at a `&` or at the end, with this `&`.
fn without_last(query: &str, length: &dyn Fn(&str) -> Option<usize>) -> String {
    for at in (0..query.len()).rev() {
        let Some(end) = length(&query[at..]).map(|length| at + length) else { continue };
        match query[end..].strip_prefix('&') {
            Some(rest) => return format!("{}{rest}", &query[..at]),
            None if end == query.len() => return query[..at].to_owned(),
            None => {}
        }
    }
    query.to_owned()
}

/// Drops the folder that ASP.NET puts the id of a session into, such as `/(s(24 letters))/page.aspx`.
pub(super) fn without_path_session(path: String) -> String {
    let is_id = |text: &str| text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_session = |folder: &str| {
        let Some(inside) = folder.strip_prefix('(').and_then(|folder| folder.strip_suffix(')')) else {
            return false;
        };
        let several = || {
            let mut parts = inside.split_inclusive(')');
            !inside.is_empty()
                && parts.all(|part| {
                    let id = part.get(2..).and_then(|id| id.strip_suffix(')')).unwrap_or_default();
                    part.starts_with(|c: char| c.is_ascii_lowercase())
                        && part[1..].starts_with('(')
                        && is_id(id)
                })
        };
        is_id(inside) || several()
    };
    let folders: Vec<&str> = path.split('/').collect();
    let Some(at) = folders.iter().rposition(|folder| is_session(folder)) else { return path };
    let rest = folders[at + 1..].join("/");
    let is_page = rest.find(".aspx").is_some_and(|dot| dot > 0);
    if at == 0 || !is_page { path } else { format!("{}/{rest}", folders[..at].join("/")) }
}
