//! Takes numbers and bytes from the front of an input, and zeros after its end.

/// The rest of an input.
pub struct Draw<'a>(&'a [u8]);

impl<'a> Draw<'a> {
    pub fn new(data: &'a [u8]) -> Draw<'a> {
        Draw(data)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        self.bytes(1).first().copied().unwrap_or(0)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    /// True for one value of a byte in sixteen.
    pub fn rarely(&mut self) -> bool {
        self.byte() & 15 == 15
    }

    pub fn long(&mut self) -> u64 {
        let mut bytes = [0; 8];
        bytes.iter_mut().zip(self.bytes(8)).for_each(|(to, from)| *to = *from);
        u64::from_le_bytes(bytes)
    }

    /// Up to `length` bytes.
    pub fn bytes(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        taken
    }

    pub fn rest(&mut self) -> &'a [u8] {
        self.bytes(usize::MAX)
    }
}
