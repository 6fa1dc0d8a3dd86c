//! Which text a page becomes, under each choice of content.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

fn text(html: &str, content: Content) -> String {
    let mut out = String::new();
    html_to_text(html, content, &mut out);
    out
}

fn check(html: &str, expected: &str) {
    assert_eq!(text(html, Content::All).replace('\n', " ").trim_end(), expected, "{html}");
    assert_eq!(tree::grow(html).text, text(html, Content::All), "{html}");
}

#[test]
fn text_is_what_a_reader_sees() {
    check("<title>T</title><p>one <b>bo</b>ld</p><p>two</p>", "T one bold two");
    check("a<script>var x = '<p>';</script><style>p{}</style>b", "a b");
    check("<td>a</td><td>b</td>&amp;&eacute;&#x4e2d;", "a b &é中");
    check("<!-- no --><template><p>hidden</p></template>seen", "seen");
    check("<svg><title>x</title><svg>y</svg>z</svg>seen<svg/>too", "seen too");
    // A slash at the end of a value without quotes closes nothing.
    check("<object data=/a/>hidden</object>seen<svg id='/'/>too<svg id=x />all", "seen too all");
    check("one\n\t two&#10;&nbsp;three", "one two \u{a0}three");
    check("<select><option>a<option>b</select>", "a b");
    assert_eq!(text("<p> a\n b </p>\n<p>c<br>d</p>", Content::All), "a b\nc\nd\n");
}

#[test]
fn text_is_appended_on_a_line_of_its_own() {
    let mut out = "before".to_owned();
    html_to_text("<p>after", Content::Auto, &mut out);
    assert_eq!(out, "before\nafter\n");
}

#[test]
fn broken_markup_is_read_to_its_end() {
    check("<p>open <b>all <i>the way", "open all the way");
    check("a < b <", "a < b <");
    check("a </> b </ c> d", "a </> b d");
    check("<script>never closed", "");
    check("a<!-- never closed", "a");
    check("a<!-->b<!--->c<!-- -- -->d<!--x--!>e", "abcde");
    check("a<!doctype x>b<?php y ?>c<![CDATA[z]]>d", "abcd");
    check("<a title=\"1 > 0\" x='>'>a</a><i \"q>b</i>", "ab");
    check("a<p class=\"never closed>b", "a");
    check("<p>a</div></section></b>b</p></body>c", "a b c");
    check("a\0b<p\0>c</p\0>d", "a\0b c d");
}

#[test]
fn depth_and_length_do_no_harm() {
    for piece in [
        "<div>",
        "<a href=x>",
        "<li><ul>",
        "<p><table><td>",
        "</div>",
        "<",
        "<!--",
        "&",
        "<td></section>",
        "\"",
    ] {
        let html = format!("<section>{}", piece.repeat(100_000));
        for content in [Content::All, Content::Main, Content::Auto] {
            text(&html, content);
        }
    }
    check(&format!("{}x{}y", "<div>".repeat(100_000), "</div>".repeat(100_000)), "x y");
}

/// A news page as sites build them, with `body` as the article.
fn news(body: &str) -> String {
    format!(
        "<html><head><title>Bridge opens after nine years - The Daily Lantern</title></head><body>
        <div class=header><a href=/>The Daily Lantern</a></div>
        <ul id=nav><li><a href=/n>News</a><li><a href=/s>Sport</a><li><a href=/w>Weather</a></ul>
        <div id=main><div class=article><h1>Bridge opens after nine years</h1>{body}</div>
        <div class=related><h3>More stories</h3><ul><li><a href=/1>Council argues about paint</a>
        <li><a href=/2>Ferry sold to a museum</a><li><a href=/3>Ten bridges to see this summer</a></ul></div></div>
        <div class=sidebar><h4>Most read</h4><a href=/4>Dog finds its way home</a></div>
        <div id=footer><p>Copyright 2026 The Daily Lantern. All rights reserved. <a href=/p>Privacy</a></p></div>"
    )
}

const PARAGRAPHS: [&str; 4] = [
    "The bridge over the river Ansel opened on Monday, nine years after the first stone was laid, and two thousand people walked across it in the rain.",
    "\"We had stopped believing in it,\" said Mara Olden, who has run the ferry since 1998, and who was the first to cross.",
    "The bridge cost four times what had been planned. The council says that the ground was softer than anyone had known, and that the work had to stop twice.",
    "From next week buses will use it, and the ferry will make its last trip on Sunday, at noon, with a band on board.",
];

#[test]
fn main_content_is_the_article() {
    let html = news(&PARAGRAPHS.map(|paragraph| format!("<p>{paragraph}</p>")).concat());
    let main = text(&html, Content::Main);
    assert!(PARAGRAPHS.iter().all(|paragraph| main.contains(paragraph)), "{main}");
    for template in ["Weather", "Ferry sold", "Most read", "All rights reserved", "Privacy"] {
        assert!(
            !main.contains(template) && text(&html, Content::All).contains(template),
            "{template}: {main}"
        );
    }
    assert_eq!(text(&html, Content::Auto), main);
}

#[test]
fn articles_of_old_pages_need_no_paragraphs() {
    let html = news(&PARAGRAPHS.join("<br><br>\n"));
    let main = text(&html, Content::Main);
    assert!(PARAGRAPHS.iter().all(|paragraph| main.contains(paragraph)), "{main}");
    assert!(!main.contains("Weather"), "{main}");
}

#[test]
fn a_page_with_too_little_main_content_is_taken_whole() {
    let list = "<ul><li><a href=/1>Council argues about paint</a><li><a href=/2>Ferry sold</a></ul>";
    for html in [list, "<p>Only a few words.</p>", "<form><label>Name<input></label></form>", ""] {
        assert_eq!(text(html, Content::Auto), text(html, Content::All));
    }
}

fn words(text: &str) -> HashMap<&str, i32> {
    let mut words = HashMap::new();
    text.split_whitespace().for_each(|word| *words.entry(word).or_default() += 1);
    words
}

/// Pages made of pieces that matter to the scanner and the tree.
fn pages() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "<p>",
        "</p>",
        "<div class=nav>",
        "<div id='main'>",
        "</div>",
        "<table>",
        "<tr>",
        "<td>",
        "</td>",
        "</table>",
        "<ul>",
        "<li>",
        "</ul>",
        "<a href=x>",
        "</a>",
        "<b>",
        "</b>",
        "<br>",
        "<hr>",
        "<script>",
        "</script>",
        "<svg>",
        "</svg>",
        "<title>",
        "</title>",
        "<body>",
        "</body>",
        "<h1>",
        "</h1>",
        "<!--",
        "-->",
        "<",
        ">",
        "\"",
        "'",
        "=",
        "/",
        " ",
        "&amp;",
        "&#32;",
        "&",
        ";",
        "\0",
        "word",
        " One sentence, with ten words and more, stands here. ",
        "中文",
        "é",
        "\u{a0}",
        "<x-y>",
        "<p hidden>",
        "<b hidden>",
        "<div style=display:none>",
        "</x-y>",
        "<img alt='>'>",
        "<p title=\"",
        "\n",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn main_content_is_part_of_all_text(html in prop_oneof![pages(), any::<String>()]) {
        let all = text(&html, Content::All);
        prop_assert_eq!(&tree::grow(&html).text, &all);
        let all = words(&all);
        for content in [Content::Main, Content::Auto] {
            for (word, count) in words(&text(&html, content)) {
                prop_assert!(count <= all.get(word).copied().unwrap_or(0), "{:?} in {:?}", word, content);
            }
        }
    }
}

#[test]
fn a_hidden_title_is_no_title() {
    let sentence = "One sentence, with ten words and more, stands here for all to read.";
    for behind in ["", "<p>Another block</p>"] {
        let html = format!("{sentence}<div style=display:none><title>word</title></div>{behind}");
        assert_eq!(tree::grow(&html).title, None, "{behind}");
        assert!(text(&html, Content::Main).starts_with(sentence));
    }
}

#[test]
fn parts_are_the_main_content_in_all_text() {
    let prose =
        "It rained all night on the hills, and in the morning the river stood over the road to the mill. ";
    let article = format!("<p>{}</p>", prose.repeat(8)).repeat(3);
    let html = format!(
        "<title>T</title><body><nav><a href=a>Home</a> <a href=b>News</a></nav><article><h1>Rain</h1>{article}\
         </article><footer class=footer><a href=c>About us</a></footer>"
    );
    let (mut text, mut main) = (String::from("before"), String::new());
    let main_content = html_to_parts(&html, &mut text);
    html_to_text(&html, Content::Main, &mut main);
    let joined: String = main_content.parts.iter().map(|part| &text[part.clone()]).collect();
    assert_eq!(joined, main);
    assert!(main.contains("river") && !main.contains("Home") && text.contains("Home"));
    assert!(main_content.is_enough);
    assert_eq!(html_to_parts("", &mut String::new()), MainContent::default());
}

/// A page with ten words of its own and a list of links to all pages, in `open` and `close`.
fn stub(open: &str, close: &str) -> String {
    let links: String = (0..300)
        .map(|n| format!("<li><a href=p{n}.html>module{n}.function_{n}.attribute</a></li>\n"))
        .collect();
    format!(
        "<title>Seconds of a clock</title><body>{open}<ul>{links}</ul>{close}<div class=body><h1>Seconds of a clock</h1>\
         <p>Returns how many seconds have passed on this clock.</p></div>"
    )
}

#[test]
fn a_list_of_all_pages_is_no_main_content_of_a_short_page() {
    for (open, close) in [("<div>", "</div>"), ("<nav>", "</nav>"), ("<div class=tocset>", "</div>")] {
        let found = text(&stub(open, close), Content::Main);
        assert!(found.contains("have passed") && !found.contains("function_7"), "{open}: {found}");
    }
    let list = stub("<div>", "</div>").replace("<div class=body><h1>Seconds of a clock</h1>", "<div>");
    assert!(text(&list, Content::Main).contains("function_7"), "a page that is a list");
}

#[test]
fn links_outside_an_article_lead_to_others() {
    let teaser =
        "The river stood over the road to the mill by noon, and nobody in the valley had expected that. ";
    let own = "<p>Returns how many seconds have passed on this clock since it was started.</p>";
    let links: String =
        (0..4).map(|n| format!("<a href=p{n}><div>{n} {}</div></a>", teaser.repeat(3))).collect();
    let page = |open: &str, close: &str| format!("<body>{open}<h1>Clock</h1>{own}{close}<div>{links}</div>");
    let found = text(&page("<article>", "</article>"), Content::Main);
    assert!(found.contains("have passed") && !found.contains("river"), "{found}");
}

#[test]
fn the_foot_of_a_page_is_no_main_content_and_that_of_an_article_may_be() {
    let foot = "<p>Report a fault, or suggest a change, to the people who write these pages. Use of these pages is \
                subject to the terms of the licence, which also covers the examples in them.</p>";
    let page = |html: &str| format!("<title>Clock</title><body>{html}");
    let outside =
        text(&page(&format!("<main><p>No use of it.</p></main><footer>{foot}</footer>")), Content::Main);
    assert_eq!(outside, "No use of it.\n");
    let all_foot = text(&page(&format!("<footer>{foot}</footer>")), Content::Main);
    assert!(all_foot.contains("Report"), "a page with nothing else: {all_foot}");
}

/// A page of an article and a box that may be hidden.
fn with_box(attribute: &str, repeats: usize) -> String {
    let prose = "It rained all night on the hills, and the river stood over the road to the mill by noon. ";
    let hidden = "The mill was sold in spring, which nobody in the valley had expected or wanted at all. ";
    let article = format!("<p>{}</p>", prose.repeat(8)).repeat(3);
    format!("<body><article>{article}<div {attribute}><p>{}</p></div></article>", hidden.repeat(repeats))
}

#[test]
fn hidden_text_is_no_text_unless_it_is_most_of_the_page() {
    let hiding = [
        "hidden",
        "style='color: red; display: none'",
        "style=visibility:hidden",
        "class='a sr-only'",
        "popover",
    ];
    for attribute in hiding {
        for content in [Content::Main, Content::Auto, Content::All] {
            let found = text(&with_box(attribute, 6), content);
            assert!(found.contains("river") && !found.contains("mill was sold"), "{attribute}: {found}");
            // A script shows the parts of an accordion when a reader asks for them.
            let found = text(&with_box(attribute, 60), content);
            assert!(found.contains("mill was sold"), "{attribute}: {found}");
        }
    }
    // Readers see this text; only screen readers skip it.
    for attribute in ["class=x", "class='hidden md:block'", "aria-hidden=true"] {
        assert!(text(&with_box(attribute, 6), Content::All).contains("mill was sold"), "{attribute}");
    }
}

#[test]
fn hidden_copies_of_the_article_are_no_text_however_many_they_are() {
    let article = "<p>It rained all night on the hills, and the river stood over the road to the mill.</p>\
                   <p>By noon, the ferry had stopped, and the post waited on the other side for a week.</p>";
    let copy = format!("<div style=display:none>{}</div>", article.replace("</p><p>", " "));
    let page = format!("<body><article>{article}</article>{}", copy.repeat(3));
    assert_eq!(text(&page, Content::All).matches("river").count(), 1);
}

#[test]
fn the_headline_is_no_content_on_a_page_made_for_phones() {
    let page = |head: &str, sentences: usize| {
        let prose = "<p>It rained all night on the hills, and the river stood over the road to the mill.</p>";
        let title = "Ferry stops after the flood";
        let article = format!("<article><h1>{title}</h1>{}</article>", prose.repeat(sentences));
        format!("<head><title>{title}</title>{head}</head><body>{article}")
    };
    let phones = "<meta name=Viewport content='width=device-width'>";
    for (head, sentences, has_headline) in
        [(phones, 20, false), (phones, 2, true), ("<meta name=x>", 20, true)]
    {
        let found = text(&page(head, sentences), Content::Main);
        assert!(found.contains("river") && found.contains("Ferry") == has_headline, "{head}: {found}");
    }
}

#[test]
fn hidden_text_inside_a_line_ends_with_its_element_or_its_box() {
    check("<p>one <span hidden>two <span>three</span></span>four</p>", "one four");
    check("<p>one<i style='display:none'> two</p><p>three</p>", "one three");
    check("<p>one <a class=sr-only href=x>two</a>three <b>four</b></p>", "one three four");
    check("<span hidden>one <div>two</div></span>three", "three");
}

/// Comments below an article, as blogs print them, without names that say what they are.
fn comments() -> String {
    let comment = |(name, words): (&str, &str)| {
        format!(
            "<li><div class=x><b>{name}</b> on May 3, 2026 at 10:12 <a href=#r>Reply</a><p>{words}</p></div>"
        )
    };
    let said = [
        ("Tom", "I walked over it with my children and it was worth the wait, whatever it cost in the end."),
        ("Ida", "Nobody asked us. The ferry was cheaper, and it never closed for a year because of mud."),
        ("Rolf", "My father worked on the first pillar, so thank you for writing about it at last, Mara."),
    ];
    format!("<h3>3 comments</h3><ol class=comments>{}</ol>", said.map(comment).concat())
}

#[test]
fn comments_and_lists_of_other_articles_are_no_main_content() {
    let teaser = |n: u32| {
        format!(
            "<div class=card><a href=/{n}><h4>Town {n} plans a bridge</h4></a><p>The council of town {n} met on Friday.</p></div>"
        )
    };
    let teasers = (1..7).map(teaser).collect::<String>();
    let article = PARAGRAPHS.map(|paragraph| format!("<p>{paragraph}</p>")).concat();
    let html = news(&article).replace(
        "<div class=related>",
        &format!(
            "{}<section class=related><h3>You may also like</h3>{teasers}</section><div class=related>",
            comments()
        ),
    );
    let main = text(&html, Content::Main);
    assert!(PARAGRAPHS.iter().all(|paragraph| main.contains(paragraph)), "{main}");
    for other in ["My father", "Nobody asked", "May 3", "plans a bridge", "met on Friday"] {
        assert!(!main.contains(other) && text(&html, Content::All).contains(other), "{other}: {main}");
    }
}
