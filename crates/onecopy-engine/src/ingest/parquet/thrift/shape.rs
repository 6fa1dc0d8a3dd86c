//! The structures of a Parquet file that are read: the numbers of their fields, and what is in each.
//!
//! From the definition of the format. Fields that are not here may hold anything.

/// The fields of a structure, by number.
pub(super) type Shape = &'static [(i16, Kind)];

/// What a field holds.
pub(super) enum Kind {
    Bool,
    Byte,
    Short,
    Int,
    Long,
    Double,
    Bytes,
    List(&'static Kind),
    Structure(Shape),
    /// A number of bytes that a page unpacks to.
    PageBytes,
    /// A number of bytes that a page takes in the file.
    PackedBytes,
}

impl Kind {
    /// Whether Thrift's number for a kind of value is that of this one.
    pub(super) fn is(&self, number: u8) -> bool {
        match self {
            Kind::Bool => matches!(number, 1 | 2),
            Kind::Byte => number == 3,
            Kind::Short => number == 4,
            Kind::Int | Kind::PageBytes | Kind::PackedBytes => number == 5,
            Kind::Long => number == 6,
            Kind::Double => number == 7,
            Kind::Bytes => number == 8,
            Kind::List(_) => number == 9,
            Kind::Structure(_) => number == 12,
        }
    }
}

use Kind::{Bool, Byte, Bytes, Double, Int, List, Long, PackedBytes, PageBytes, Short, Structure};

/// The metadata at the end of a file.
pub(super) const FILE: Shape = &[
    (1, Int),
    (2, List(&Structure(COLUMN_SCHEMA))),
    (3, Long),
    (4, List(&Structure(ROW_GROUP))),
    (5, List(&Structure(KEY_VALUE))),
    (6, Bytes),
    (7, List(&Structure(COLUMN_ORDER))),
];

/// The head of a page.
pub(super) const PAGE: Shape = &[
    (1, Int),
    (2, PageBytes),
    (3, PackedBytes),
    (4, Int),
    (5, Structure(DATA_PAGE)),
    (6, Structure(&[])),
    (7, Structure(&[(1, Int), (2, Int), (3, Bool)])),
    (8, Structure(DATA_PAGE_2)),
];

const DATA_PAGE: Shape = &[(1, Int), (2, Int), (3, Int), (4, Int), (5, Structure(STATISTICS))];
const DATA_PAGE_2: Shape =
    &[(1, Int), (2, Int), (3, Int), (4, Int), (5, Int), (6, Int), (7, Bool), (8, Structure(STATISTICS))];

const STATISTICS: Shape =
    &[(1, Bytes), (2, Bytes), (3, Long), (4, Long), (5, Bytes), (6, Bytes), (7, Bool), (8, Bool)];

const COLUMN_SCHEMA: Shape = &[
    (1, Int),
    (2, Int),
    (3, Int),
    (4, Bytes),
    (5, Int),
    (6, Int),
    (7, Int),
    (8, Int),
    (9, Int),
    (10, Structure(LOGICAL_TYPE)),
];

const LOGICAL_TYPE: Shape = &[
    (1, Structure(&[])),
    (2, Structure(&[])),
    (3, Structure(&[])),
    (4, Structure(&[])),
    (5, Structure(&[(1, Int), (2, Int)])),
    (6, Structure(&[])),
    (7, Structure(TIME)),
    (8, Structure(TIME)),
    (10, Structure(&[(1, Byte), (2, Bool)])),
    (11, Structure(&[])),
    (12, Structure(&[])),
    (13, Structure(&[])),
    (14, Structure(&[])),
    (15, Structure(&[])),
    (16, Structure(&[(1, Byte)])),
    (17, Structure(&[(1, Bytes)])),
    (18, Structure(&[(1, Bytes), (2, Int)])),
];

/// Whether it is in universal time, and its unit.
const TIME: Shape =
    &[(1, Bool), (2, Structure(&[(1, Structure(&[])), (2, Structure(&[])), (3, Structure(&[]))]))];

const KEY_VALUE: Shape = &[(1, Bytes), (2, Bytes)];
const COLUMN_ORDER: Shape = &[(1, Structure(&[])), (2, Structure(&[]))];

const ROW_GROUP: Shape = &[
    (1, List(&Structure(COLUMN_CHUNK))),
    (2, Long),
    (3, Long),
    (4, List(&Structure(&[(1, Int), (2, Bool), (3, Bool)]))),
    (5, Long),
    (6, Long),
    (7, Short),
];

const COLUMN_CHUNK: Shape =
    &[(1, Bytes), (2, Long), (3, Structure(COLUMN)), (4, Long), (5, Int), (6, Long), (7, Int)];

const COLUMN: Shape = &[
    (1, Int),
    (2, List(&Int)),
    (3, List(&Bytes)),
    (4, Int),
    (5, Long),
    (6, Long),
    (7, Long),
    (8, List(&Structure(KEY_VALUE))),
    (9, Long),
    (10, Long),
    (11, Long),
    (12, Structure(STATISTICS)),
    (13, List(&Structure(&[(1, Int), (2, Int), (3, Int)]))),
    (14, Long),
    (15, Int),
    (16, Structure(&[(1, Long), (2, List(&Long)), (3, List(&Long))])),
    (17, Structure(&[(1, Structure(BOX)), (2, List(&Int))])),
];

/// The least and the largest of up to four coordinates.
const BOX: Shape =
    &[(1, Double), (2, Double), (3, Double), (4, Double), (5, Double), (6, Double), (7, Double), (8, Double)];
