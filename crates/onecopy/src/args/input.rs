//! Arguments about records: the names of their fields, and their limits.

use clap::Args as ClapArgs;
use onecopy_engine::{Fields, Limits};

use crate::size::Size;

#[derive(ClapArgs)]
#[command(next_help_heading = "Fields of a record (default: the usual names)")]
pub struct FieldArgs {
    /// The field with the page's text or HTML; `data.text` is the field `text` of the object `data`, for all fields
    #[arg(long, value_name = "NAME")]
    pub text_field: Option<String>,
    /// The field with the page's id
    #[arg(long, value_name = "NAME")]
    pub id_field: Option<String>,
    /// The field with the page's address
    #[arg(long, value_name = "NAME")]
    pub url_field: Option<String>,
    /// The field with the time of the page
    #[arg(long, value_name = "NAME")]
    pub time_field: Option<String>,
    /// The field with the page's popularity, a number; higher is better
    #[arg(long, value_name = "NAME")]
    pub popularity_field: Option<String>,
    /// The field with the address that the page redirects to
    #[arg(long, value_name = "NAME")]
    pub redirect_field: Option<String>,
    /// The field with the page's canonical address (rel=canonical)
    #[arg(long, value_name = "NAME")]
    pub canonical_field: Option<String>,
}

#[derive(ClapArgs)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Reject records and files longer than this
    #[arg(long, value_name = "SIZE", default_value_t = Size(Limits::default().page_bytes as u64))]
    pub max_page: Size,
    /// Stop reading a compressed file that expands more than this many times
    #[arg(long, value_name = "N", default_value_t = Limits::default().expansion)]
    pub max_expansion: u64,
}

impl FieldArgs {
    /// The fields from the command line.
    pub fn fields(&self) -> Fields {
        Fields {
            text: self.text_field.clone(),
            id: self.id_field.clone(),
            url: self.url_field.clone(),
            time: self.time_field.clone(),
            popularity: self.popularity_field.clone(),
            redirect: self.redirect_field.clone(),
            canonical: self.canonical_field.clone(),
            links: None,
        }
    }
}

impl LimitArgs {
    /// The limits from the command line.
    pub fn limits(&self) -> Limits {
        Limits { page_bytes: self.max_page.0 as usize, expansion: self.max_expansion }
    }
}
