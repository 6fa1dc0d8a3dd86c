//! The boxes of a page: how much is in them, and where they stand among the others.

use crate::page::html::main::alike::Alike;
use crate::page::html::main::article::Article;
use crate::page::html::main::sums::{Amount, Sums, share};
use crate::page::html::markup::tag::Tag;
use crate::page::html::tree::{HtmlBox, Tree};

/// Facts about each box, found from the outside in.
pub struct Boxes {
    /// The amount of text in it.
    pub amount: Vec<Amount>,
    /// The outermost box around it, or itself, that holds less than a quarter of the prose of the page.
    pub branch: Vec<u32>,
    /// The innermost box around it, or itself, that is in a row of at least three like boxes.
    pub item: Vec<u32>,
    /// The length of the row of like boxes that it is in, and the amount of text in that row.
    pub row: Vec<(u32, Amount)>,
    /// The same for the innermost row of boxes of one tag around it, whatever their names.
    pub tagged: Vec<(u32, Amount)>,
    /// Where it stands to the box that most likely holds the article.
    pub article: Article,
    /// The amounts of text in the boxes that are made like it.
    pub alike: Alike,
    /// The paragraphs, list items and form controls in it.
    pub parts: Vec<[u32; 3]>,
}

impl Boxes {
    pub fn new(tree: &Tree, sums: &Sums) -> Boxes {
        let nodes = &tree.nodes;
        let amount: Vec<Amount> = nodes.iter().map(|node| sums.of(&node.blocks)).collect();
        let (row_of, mut row) =
            rows(tree, &amount, |one, other| one.name == other.name && one.tag == other.tag);
        let tagged = tagged(tree, &amount);
        let mut branch = vec![0; nodes.len()];
        let mut item = vec![0; nodes.len()];
        let enough = amount[0].prose / 4;
        for (index, node) in nodes.iter().enumerate().skip(1) {
            let parent = node.parent as usize;
            let outer = branch[parent] as usize;
            branch[index] = if amount[outer].prose >= enough { index as u32 } else { outer as u32 };
            let in_row = row[row_of[index] as usize].0 >= 3;
            item[index] = if in_row { index as u32 } else { item[parent] };
        }
        for index in 0..nodes.len() {
            row[index] = row[row_of[index] as usize];
        }
        let article = Article::new(tree, &amount);
        let alike = Alike::new(tree, &amount);
        let parts = parts(tree);
        Boxes { amount, branch, item, row, tagged, article, alike, parts }
    }

    /// The innermost box that holds at least `part` thousandths of the `prose` of the page.
    pub fn holder(&self, tree: &Tree, prose: u32, part: i32) -> u32 {
        let holds = |node: &usize| share(self.amount[*node].prose, prose) >= part;
        let deepest = (0..tree.nodes.len()).filter(holds).max_by_key(|node| tree.nodes[*node].depth);
        deepest.unwrap_or(0) as u32
    }
}

/// For each box, the first of its row of like boxes. For each first box, the length of the row and the amount in it.
fn rows(
    tree: &Tree,
    amount: &[Amount],
    are_like: impl Fn(&HtmlBox, &HtmlBox) -> bool,
) -> (Vec<u32>, Vec<(u32, Amount)>) {
    let mut first: Vec<u32> = (0..tree.nodes.len() as u32).collect();
    let mut row = vec![(0, Amount::default()); tree.nodes.len()];
    for (index, node) in tree.nodes.iter().enumerate() {
        let before = &tree.nodes[node.before as usize];
        if node.before as usize != index && are_like(before, node) {
            first[index] = first[node.before as usize];
        }
        let (length, sum) = &mut row[first[index] as usize];
        *length += 1;
        sum.words += amount[index].words;
        sum.linked += amount[index].linked;
    }
    (first, row)
}

/// For each box, the innermost row of at least three boxes of one tag that are not paragraphs: lists of teasers often
/// give each entry a name of its own.
fn tagged(tree: &Tree, amount: &[Amount]) -> Vec<(u32, Amount)> {
    let (first, row) = rows(tree, amount, |one, other| one.tag == other.tag && one.tag != Tag::P);
    let mut tagged = vec![(0, Amount::default()); tree.nodes.len()];
    for (index, node) in tree.nodes.iter().enumerate().skip(1) {
        let own = row[first[index] as usize];
        tagged[index] = if own.0 >= 3 { own } else { tagged[node.parent as usize] };
    }
    tagged
}

/// How many paragraphs, list items and form controls are in each box.
fn parts(tree: &Tree) -> Vec<[u32; 3]> {
    let mut parts = vec![[0; 3]; tree.nodes.len()];
    for (index, node) in tree.nodes.iter().enumerate().rev() {
        match node.tag {
            Tag::P => parts[index][0] += 1,
            Tag::Li => parts[index][1] += 1,
            Tag::Button | Tag::Label | Tag::Option | Tag::Select | Tag::Textarea => parts[index][2] += 1,
            _ => {}
        }
        if index > 0 {
            let own = parts[index];
            let parent = &mut parts[node.parent as usize];
            parent.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        }
    }
    parts
}
