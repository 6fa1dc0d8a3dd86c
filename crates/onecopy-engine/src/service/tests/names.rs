//! An id names one page, however JSON writes it.

use super::*;

fn put(service: &Service, id: &str, word: &str) {
    let line = format!(r#"{{"id": {id}, "text": "some words of the page {word} alone"}}"#);
    service.accept(&[Action::Put(line.as_bytes())]).swap_remove(0).unwrap();
}

fn statuses(service: &Service, names: &[PageName]) -> Vec<Option<StatusKind>> {
    let found = service.status(names, false).unwrap();
    found.into_iter().map(|status| status.map(|status| status.status)).collect()
}

#[test]
fn one_id_in_two_forms_is_one_page() {
    let service = open(&Volatile::new(), &Config::default());
    for (round, ids) in
        [[r#""\u65e5""#, "\"日\""], [r#""a\/b""#, "\"a/b\""], ["17.0", "1.7e1"]].iter().enumerate()
    {
        put(&service, ids[0], &format!("first{round}"));
        put(&service, ids[1], &format!("second{round}"));
    }
    assert!(service.drain(WAIT));
    assert_eq!(service.stats().pages, 3);
    use PageName::{Json, Text};
    let both =
        [Text("日"), Json(r#""\u65e5""#), Text("a/b"), Json(r#""\u0061\/b""#), Text("17"), Json("17.00")];
    assert_eq!(statuses(&service, &both), [Some(StatusKind::Unique); 6]);
    for name in [Text("日"), Json(r#""a\/b""#), Text("17")] {
        service.accept(&[Action::Dead(name)]).swap_remove(0).unwrap();
    }
    assert!(service.drain(WAIT));
    assert_eq!(statuses(&service, &both), [Some(StatusKind::Dead); 6]);
}

#[test]
fn a_number_and_a_string_are_two_pages() {
    let service = open(&Volatile::new(), &Config::default());
    put(&service, "17", "number");
    put(&service, "\"17\"", "string");
    assert!(service.drain(WAIT));
    assert_eq!(service.stats().pages, 2);
    service.accept(&[Action::Dead(PageName::Json("17"))]).swap_remove(0).unwrap();
    assert!(service.drain(WAIT));
    let names = [PageName::Json("17"), PageName::Json("\"17\""), PageName::Text("17")];
    let kinds = [StatusKind::Dead, StatusKind::Unique, StatusKind::Unique].map(Some);
    assert_eq!(statuses(&service, &names), kinds);
    service.accept(&[Action::Delete(PageName::Text("17"))]).swap_remove(0).unwrap();
    assert!(service.drain(WAIT));
    assert_eq!(statuses(&service, &names), [Some(StatusKind::Dead), None, Some(StatusKind::Dead)]);
    let refusal = service.accept(&[Action::Dead(PageName::Json("\"17\""))]).swap_remove(0).unwrap_err();
    assert_eq!(refusal, Refusal::Unknown("17".into()));
}
