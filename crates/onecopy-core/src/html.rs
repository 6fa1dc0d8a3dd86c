//! HTML → text.

mod attribute;
mod block;
mod entity;
mod feature;
mod hint;
mod lines;
mod scan;
mod sums;
mod tag;
mod tree;
mod visible;
mod words;

/// Dump for experiments.
#[doc(hidden)]
pub fn dump(html: &str, mut visit: impl FnMut(&str, &[i32])) {
    let tree = tree::grow(html);
    feature::describe(&tree, |index, features| visit(&tree.text[tree.blocks[index].text.clone()], features));
}

/// All text.
#[doc(hidden)]
pub fn all_text(html: &str, out: &mut String) {
    use scan::Token;
    for token in visible::Visible::new(html) {
        match token {
            Token::Text(text) => lines::push_text(text, out),
            Token::Open(open) if open.tag.is_inline() || open.tag == tag::Tag::Raw => {}
            Token::Close(tag) if tag.is_inline() || tag == tag::Tag::Raw => {}
            _ => lines::end_line(out),
        }
    }
}
#[doc(hidden)]
pub fn grow_only(html: &str) -> usize {
    tree::grow(html).text.len()
}
