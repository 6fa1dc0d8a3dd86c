//! The elements that matter for text, by name.

/// An element. Elements that no rule mentions are [`Tag::Other`]: boxes, like custom elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Tag {
    #[default]
    Other,
    A,
    Address,
    Article,
    Aside,
    Blockquote,
    Body,
    Br,
    Button,
    Caption,
    Dd,
    Details,
    Div,
    Dl,
    Dt,
    Fieldset,
    Figcaption,
    Figure,
    Footer,
    Form,
    H1,
    H2,
    H3,
    H4,
    H5,
    H6,
    Head,
    Header,
    Hr,
    Html,
    Inline,
    Label,
    Li,
    Main,
    Nav,
    Object,
    Ol,
    Option,
    P,
    Pre,
    /// The contents are not markup and not shown.
    Raw,
    Section,
    Select,
    Span,
    Svg,
    Table,
    Tbody,
    Td,
    Template,
    Textarea,
    Th,
    Title,
    Tr,
    Ul,
    Void,
}

/// How many tags there are.
pub const TAGS: usize = Tag::Void as usize + 1;

impl Tag {
    /// The tag called `name`, in lower case.
    pub fn named(name: &[u8]) -> Tag {
        match name {
            b"a" => Tag::A,
            b"div" => Tag::Div,
            b"span" => Tag::Span,
            b"p" => Tag::P,
            b"li" => Tag::Li,
            b"br" => Tag::Br,
            b"td" => Tag::Td,
            b"tr" => Tag::Tr,
            b"ul" => Tag::Ul,
            b"script" | b"style" | b"noscript" | b"iframe" | b"noembed" | b"noframes" => Tag::Raw,
            b"abbr" | b"b" | b"bdi" | b"bdo" | b"cite" | b"code" | b"data" | b"dfn" | b"em" | b"font"
            | b"i" | b"kbd" | b"mark" | b"q" | b"s" | b"samp" | b"small" | b"strong" | b"sub" | b"sup"
            | b"time" | b"tt" | b"u" | b"var" | b"wbr" | b"acronym" | b"big" | b"del" | b"ins" | b"nobr"
            | b"strike" | b"text" => Tag::Inline,
            b"img" | b"input" | b"link" | b"meta" | b"area" | b"base" | b"col" | b"embed" | b"param"
            | b"source" | b"track" | b"frame" | b"keygen" => Tag::Void,
            _ => Tag::rarely(name),
        }
    }

    fn rarely(name: &[u8]) -> Tag {
        match name {
            b"address" => Tag::Address,
            b"article" => Tag::Article,
            b"aside" => Tag::Aside,
            b"blockquote" => Tag::Blockquote,
            b"body" => Tag::Body,
            b"button" => Tag::Button,
            b"caption" => Tag::Caption,
            b"dd" => Tag::Dd,
            b"details" => Tag::Details,
            b"dl" => Tag::Dl,
            b"dt" => Tag::Dt,
            b"fieldset" => Tag::Fieldset,
            b"figcaption" => Tag::Figcaption,
            b"figure" => Tag::Figure,
            b"footer" => Tag::Footer,
            b"form" => Tag::Form,
            b"h1" => Tag::H1,
            b"h2" => Tag::H2,
            b"h3" => Tag::H3,
            b"h4" => Tag::H4,
            b"h5" => Tag::H5,
            b"h6" => Tag::H6,
            b"head" => Tag::Head,
            b"header" => Tag::Header,
            b"hr" => Tag::Hr,
            b"html" => Tag::Html,
            b"label" => Tag::Label,
            b"main" => Tag::Main,
            b"nav" => Tag::Nav,
            b"object" => Tag::Object,
            b"ol" => Tag::Ol,
            b"option" => Tag::Option,
            b"pre" => Tag::Pre,
            b"section" => Tag::Section,
            b"select" => Tag::Select,
            b"svg" => Tag::Svg,
            b"table" => Tag::Table,
            b"tbody" | b"thead" | b"tfoot" => Tag::Tbody,
            b"template" => Tag::Template,
            b"textarea" => Tag::Textarea,
            b"th" => Tag::Th,
            b"title" => Tag::Title,
            _ => Tag::Other,
        }
    }

    /// Whether it stands inside a line of text: `<b>bo</b>ld` is one word, `<td>a</td><td>b</td>` is two.
    pub fn is_inline(self) -> bool {
        matches!(self, Tag::A | Tag::Span | Tag::Inline)
    }

    /// Whether the contents are never shown, although they are markup.
    pub fn is_hidden(self) -> bool {
        matches!(self, Tag::Svg | Tag::Template | Tag::Object)
    }
}
