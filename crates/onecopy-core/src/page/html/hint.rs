//! Hints from the names that authors give to boxes: `class`, `id` and `role`.

use super::markup::tag::Tag;

/// A role that a box may have. A box can have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Hint {
    Navigation,
    Foot,
    Head,
    Side,
    Advertisement,
    Social,
    Related,
    Comment,
    Byline,
    Popup,
    Article,
    Text,
    Primary,
    Hidden,
    Login,
    Media,
    NavTag,
    HeaderTag,
    FooterTag,
    AsideTag,
    FormTag,
    ListTag,
    ItemTag,
    TableTag,
    CellTag,
    ArticleTag,
    MainTag,
    SectionTag,
    QuoteTag,
    FigureTag,
    ControlTag,
    HeadingTag,
    Unseen,
}

/// How many hints there are.
pub const HINTS: usize = Hint::Unseen as usize + 1;

/// A set of hints, one bit each.
pub type Hints = u64;

impl Hint {
    pub fn bit(self) -> Hints {
        1 << self as u64
    }
}

/// The hint that the element itself gives.
pub fn of_tag(tag: Tag) -> Hints {
    let hint = match tag {
        Tag::Nav => Hint::NavTag,
        Tag::Header => Hint::HeaderTag,
        Tag::Footer => Hint::FooterTag,
        Tag::Aside => Hint::AsideTag,
        Tag::Form | Tag::Fieldset => Hint::FormTag,
        Tag::Ul | Tag::Ol => Hint::ListTag,
        Tag::Li => Hint::ItemTag,
        Tag::Table => Hint::TableTag,
        Tag::Td | Tag::Th => Hint::CellTag,
        Tag::Article => Hint::ArticleTag,
        Tag::Main => Hint::MainTag,
        Tag::Section => Hint::SectionTag,
        Tag::Blockquote | Tag::Pre => Hint::QuoteTag,
        Tag::Figure | Tag::Figcaption | Tag::Caption => Hint::FigureTag,
        Tag::Button | Tag::Label | Tag::Option | Tag::Select | Tag::Textarea => Hint::ControlTag,
        Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => Hint::HeadingTag,
        _ => return 0,
    };
    hint.bit()
}

/// The hints in the words of a class or id. `articleBody` and `article-body` both are the words `article` and
/// `body`.
pub fn of_name(value: &[u8]) -> Hints {
    let mut hints = 0;
    let mut word = Word::default();
    for &byte in value {
        if byte.is_ascii_uppercase() && word.last_is_lower() || !byte.is_ascii_alphabetic() {
            hints |= of_word(word.take());
        }
        if byte.is_ascii_alphabetic() {
            word.push(byte);
        }
    }
    hints | of_word(word.take())
}

/// A word being read, in lower case. Words that do not fit give no hint.
#[derive(Default)]
struct Word {
    bytes: [u8; 16],
    length: usize,
    lower: bool,
}

impl Word {
    fn push(&mut self, byte: u8) {
        if let Some(slot) = self.bytes.get_mut(self.length) {
            *slot = byte.to_ascii_lowercase();
        }
        self.length += 1;
        self.lower = byte.is_ascii_lowercase();
    }

    fn last_is_lower(&self) -> bool {
        self.lower && self.length > 0
    }

    fn take(&mut self) -> &[u8] {
        let length = std::mem::take(&mut self.length);
        self.bytes.get(..length).unwrap_or_default()
    }
}

fn of_word(word: &[u8]) -> Hints {
    let hint = match word {
        b"nav" | b"navbar" | b"navigation" | b"menu" | b"menus" | b"submenu" | b"breadcrumb"
        | b"breadcrumbs" | b"crumb" | b"crumbs" | b"topnav" | b"subnav" | b"leftnav" | b"tabs" | b"tab"
        | b"pagination" | b"pager" | b"paging" | b"skip" | b"sitemap" | b"toc" | b"next" | b"prev"
        | b"previous" | b"links" | b"jump" | b"dropdown" | b"mainnav" => Hint::Navigation,
        b"footer" | b"foot" | b"bottom" | b"copyright" | b"colophon" | b"legal" | b"disclaimer" => Hint::Foot,
        b"header" | b"masthead" | b"banner" | b"top" | b"logo" | b"branding" | b"hd" | b"topbar" => {
            Hint::Head
        }
        b"sidebar" | b"side" | b"aside" | b"rail" | b"right" | b"left" | b"column" | b"col" | b"widget"
        | b"widgets" | b"gadget" | b"rightcol" | b"leftcol" | b"secondary" | b"tertiary"
        | b"complementary" => Hint::Side,
        b"ad" | b"ads" | b"advert" | b"adverts" | b"advertisement" | b"advertising" | b"adsense"
        | b"sponsor" | b"sponsored" | b"sponsors" | b"promo" | b"promos" | b"promotion" | b"promoted"
        | b"dfp" | b"adslot" | b"adunit" | b"affiliate" | b"taboola" | b"outbrain" | b"partner"
        | b"partners" | b"shopping" | b"offer" | b"offers" | b"adv" | b"marketing" => Hint::Advertisement,
        b"share" | b"sharing" | b"shares" | b"social" | b"facebook" | b"twitter" | b"tweet" | b"follow"
        | b"like" | b"email" | b"print" | b"bookmark" | b"bookmarks" | b"addthis" | b"tools" | b"toolbar"
        | b"toolbox" | b"tool" | b"rss" | b"buttons" | b"actions" | b"utility" | b"digg" | b"rating"
        | b"ratings" | b"vote" | b"whatsapp" | b"linkedin" | b"pinterest" => Hint::Social,
        _ => return of_rarer_word(word),
    };
    hint.bit()
}

fn of_rarer_word(word: &[u8]) -> Hints {
    let hint = match word {
        b"related" | b"recommend" | b"recommended" | b"recommendations" | b"popular" | b"more"
        | b"trending" | b"latest" | b"also" | b"similar" | b"teaser" | b"teasers" | b"headlines"
        | b"most" | b"viewed" | b"recent" | b"carousel" | b"slider" | b"gallery" | b"see" | b"readmore"
        | b"outer" | b"archive" | b"list" | b"listing" | b"results" | b"index" | b"cards" | b"card"
        | b"recirc" | b"recirculation" | b"feed" | b"river" | b"tout" | b"touts" | b"stories" | b"topics"
        | b"tile" | b"tiles" | b"zergnet" | b"upnext" | b"readnext" => Hint::Related,
        b"comment" | b"comments" | b"disqus" | b"respond" | b"reply" | b"replies" | b"discussion"
        | b"discuss" | b"feedback" | b"reviews" | b"review" | b"commentlist" | b"livefyre" | b"talkback"
        | b"reader" | b"readers" | b"forum" | b"viafoura" | b"spotim" | b"openweb" | b"commenting" => {
            Hint::Comment
        }
        b"meta" | b"byline" | b"author" | b"date" | b"time" | b"timestamp" | b"published" | b"posted"
        | b"info" | b"tags" | b"tag" | b"category" | b"categories" | b"credit" | b"dateline" | b"source"
        | b"bio" | b"metadata" | b"publish" | b"updated" | b"pubdate" | b"taxonomy" => Hint::Byline,
        b"cookie" | b"cookies" | b"consent" | b"gdpr" | b"modal" | b"popup" | b"overlay" | b"dialog"
        | b"newsletter" | b"subscribe" | b"subscription" | b"alert" | b"notice" | b"notification"
        | b"poll" | b"survey" | b"paywall" | b"tooltip" | b"onetrust" | b"announcement" | b"drawer" => {
            Hint::Popup
        }
        b"article" | b"story" | b"post" | b"entry" | b"hentry" | b"blog" | b"news" | b"articles"
        | b"single" | b"storytext" | b"articlebody" => Hint::Article,
        b"body" | b"text" | b"content" | b"copy" | b"paragraph" | b"prose" | b"richtext" | b"wysiwyg"
        | b"markdown" | b"para" | b"bodytext" | b"maincontent" | b"contents" | b"rich" => Hint::Text,
        b"main" | b"primary" | b"page" | b"center" | b"centre" | b"container" | b"wrapper" | b"wrap"
        | b"middle" => Hint::Primary,
        b"hidden" | b"hide" | b"invisible" | b"sr" | b"noprint" | b"noscript" | b"collapsed"
        | b"offscreen" => Hint::Hidden,
        b"login" | b"signin" | b"signup" | b"register" | b"search" | b"form" | b"account" | b"user"
        | b"profile" | b"cart" | b"language" | b"lang" | b"locale" | b"country" => Hint::Login,
        b"caption" | b"image" | b"images" | b"img" | b"photo" | b"photos" | b"picture" | b"video"
        | b"media" | b"figure" | b"thumb" | b"thumbnail" | b"player" | b"slideshow" | b"embed"
        | b"pullquote" => Hint::Media,
        _ => return 0,
    };
    hint.bit()
}
