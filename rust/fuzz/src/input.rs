//! Bytes as orders and content: what stands before the first line feed says what to do, what
//! stands behind it is what it is done to. So a corpus file can be read, and written by hand.

/// The bytes of one run.
pub struct Input<'a> {
    orders: &'a [u8],
    next: usize,
    /// What stands behind the first line feed.
    pub content: &'a [u8],
}

impl<'a> Input<'a> {
    /// Splits the bytes.
    pub fn new(data: &'a [u8]) -> Self {
        let end = data.iter().position(|b| *b == b'\n').unwrap_or(data.len());
        Self {
            orders: &data[..end],
            next: 0,
            content: data.get(end + 1..).unwrap_or_default(),
        }
    }

    /// The next order; 0 when there is none.
    pub fn byte(&mut self) -> u8 {
        let byte = self.orders.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        byte
    }

    /// Whether orders are left.
    pub fn has_more(&self) -> bool {
        self.next < self.orders.len()
    }

    /// The next two orders as a number of at most `most`.
    pub fn number(&mut self, most: usize) -> usize {
        let number = usize::from(self.byte()) << 8 | usize::from(self.byte());
        // Small contents are reached evenly, and large ones all over.
        if most < 1 << 16 {
            number % (most + 1)
        } else {
            most / 65_535 * number
        }
    }
}
